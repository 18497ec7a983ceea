"""UsageError, the one error raised on a user's bad input: what is wrong, where, and how to correct it."""

from __future__ import annotations

import errno

# What the system says of a disk, or of what a process may have open, and what helps.
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


class UsageError(Exception):
    """Bad usage or input. The command line prints it as one line and exits with 2.

    The text names what is wrong and where; `cure` says how to correct it.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        text = " ".join(f"{what}: {cure}".split()) if cure else " ".join(what.split())
        super().__init__(text)


def system_error(error: OSError, what: str = "") -> UsageError | None:
    """Returns the error of a full or broken disk, or of a machine without room for more, in one line.

    what: what could not be done; without it the file's name says it. None: another error, such as a defect's.
    """
    if error.errno not in _SYSTEM:
        return None
    doing = what or (f"cannot use {error.filename}" if error.filename else "the system refuses")
    return UsageError(f"{doing}: {error.strerror}", _SYSTEM[error.errno])


def first_line(error: BaseException) -> str:
    """Returns the first line of a library exception's text, at most 160 characters; its type's name when the text is
    empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
