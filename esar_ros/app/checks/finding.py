"""One finding of `esar doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One finding. `needed`: without it no mission flies; `cure`: the remedy, empty when ok."""

    name: str
    ok: bool
    detail: str
    cure: str = ""
    needed: bool = True
