"""Errors of the system that are nobody's defect - a full or broken disk, a machine without room - in one line."""

from __future__ import annotations

import errno

from esar_ros.mission.errors import UsageError

# What helps.
_SYSTEM = {
    errno.ENOSPC: "free some space, or choose another folder",
    errno.EDQUOT: "free some space, or choose another folder",
    errno.EFBIG: "choose a folder on another file system",
    errno.EROFS: "choose a folder you may write to",
    errno.EIO: "check the disk",
    errno.EMFILE: "raise ulimit -n",
    errno.ENFILE: "end other programs",
    errno.ENOMEM: "end other programs",
    errno.EAGAIN: "end other programs, or raise ulimit -u",
}


def system_error(error: OSError, what: str = "") -> UsageError | None:
    """Returns the error of a full or broken disk, or of a machine without room for more, in one line.

    what: what could not be done; without it the file's name says it. None: another error, such as a defect's.
    """
    if error.errno not in _SYSTEM:
        return None
    doing = what or (f"cannot use {error.filename}" if error.filename else "the system refuses")
    return UsageError(f"{doing}: {error.strerror}", _SYSTEM[error.errno])
