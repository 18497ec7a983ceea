"""One finding of `esar doctor`."""

from __future__ import annotations

from dataclasses import dataclass

UNCHECKED = "not checked"  # how the detail of a finding begins that says nothing: its matter is not there


@dataclass(frozen=True)
class Check:
    """One finding. `needed`: without it no mission flies; `cure`: the remedy, empty when ok."""

    name: str
    ok: bool
    detail: str
    cure: str = ""
    needed: bool = True
