"""A digest of a record, written into its line: a figure that somebody changes afterwards is noticed.

It guards against slips and edits by hand, not against somebody who computes the digest anew.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from esar_ros.mission.errors import UsageError

SEAL = "sha256"
_CURE = "restore the file, or remove that line and run it again"


def sealed_line(record: dict[str, Any]) -> bytes:
    """The record as a line of JSON with its digest. Raises ValueError for NaN and infinity."""
    plain = json.loads(_text(record))  # as it will be read: keys are texts, tuples lists
    return _text({**plain, SEAL: _digest(plain)}).encode() + b"\n"


def take_seal(record: dict[str, Any], where: str, line: bytes, cure: str = _CURE) -> None:
    """Remove the digest from a record that was read. Raises UsageError where it has none, or another's.

    line: the bytes that it was read from. Those that stand as they were written are its content without writing anew.
    """
    digest = record.pop(SEAL, None)
    if digest is None:
        raise UsageError(f"{where}: the record holds no digest of its content ({SEAL})", cure)
    as_written = line.replace(f',"{SEAL}":"{digest}"'.encode(errors="replace"), b"", 1)
    if digest != hashlib.sha256(as_written).hexdigest() and digest != _digest_of_any(record):
        raise UsageError(
            f"{where}: the record's content was changed after it was written ({SEAL})",
            cure,
        )


def _digest_of_any(record: dict[str, Any]) -> str:
    """Returns the digest of what was read; empty of what is never written: NaN and infinity."""
    try:
        return _digest(record)
    except ValueError:
        return ""


def _digest(record: dict[str, Any]) -> str:
    return hashlib.sha256(_text(record).encode()).hexdigest()


def _text(record: dict[str, Any]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
