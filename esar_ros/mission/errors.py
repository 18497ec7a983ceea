"""UsageError, the one error raised on a user's bad input: what is wrong, where, and how to correct it."""

from __future__ import annotations


class UsageError(Exception):
    """Bad usage or input. The command line prints it as one line and exits with 2.

    The text names what is wrong and where; `cure` says how to correct it.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        text = " ".join(f"{what}: {cure}".split()) if cure else " ".join(what.split())
        super().__init__(text)


def first_line(error: BaseException) -> str:
    """Returns the first line of a library exception's text, at most 160 characters; its type's name when the text is
    empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
