"""The one error a person's input raises: what is wrong, where, and how to mend it."""

from __future__ import annotations


class UsageError(Exception):
    """Bad usage or input. The command line prints it as one line and exits with 2.

    The text names what is wrong and where; `cure` says how to mend it.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        text = " ".join(f"{what}: {cure}".split()) if cure else " ".join(what.split())
        super().__init__(text)


def first_line(error: BaseException) -> str:
    """Of what a library's exception says, at most 160 characters; its type's name where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
