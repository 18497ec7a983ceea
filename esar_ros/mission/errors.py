"""UsageError, the error raised on a user's bad input: what is wrong, where, and how to correct it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import metadata

SEED_MAX = 2**31 - 1
LIKENESS = 0.6  # of two words (difflib) from which one is taken for the other, misspelt


class UsageError(Exception):
    """Bad usage or input. The command line prints it as one line and exits with 2.

    The text names what is wrong and where; `cure` says how to correct it.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        text = " ".join(f"{what}: {cure}".split()) if cure else " ".join(what.split())
        super().__init__(text)


def nearest(name: str, known: Iterable[str], likeness: float = LIKENESS) -> str | None:
    """Returns the known name that a misspelt one is taken for, None where none is like it; case does not matter."""
    by_case = {other.casefold(): other for other in known}
    found = get_close_matches(name.casefold(), by_case, 1, likeness)
    return by_case[found[0]] if found else None


def suggest(name: str, known: Iterable[str], shown: str | None = None) -> str:
    """Returns the cure of a name that is not known: the one that it is taken for, and those that there are.

    shown: what to say of them where they are too many, or not all; by default their names.
    """
    names = tuple(known)
    meant = nearest(name, names)
    return f"did you mean {meant}? " * (meant is not None) + f"known: {', '.join(names) if shown is None else shown}"


def install(extra: str) -> str:
    """Returns the cure of packages that are not installed: the command that installs an extra of this package.

    What colcon installs has metadata without extras, of which pip would only say that all is there: their packages are
    then installed by the checkout's ranges, into the environment that runs.
    """
    try:
        extras = metadata.metadata("esar_ros").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:  # on PYTHONPATH alone
        extras = []
    if extra in extras:
        return f"./esar exec pip install 'esar_ros[{extra}]'"
    return (
        f"in the checkout of esar_ros, python3 requirements/ranges.py {extra} > {extra}.txt && "
        f"{sys.executable} -m pip install -r {extra}.txt -c config/constraints-$ROS_DISTRO.txt"
    )


class UsageErrors(UsageError):
    """All faults of one input, which the command line prints a line each before it exits with 2."""

    def __init__(self, faults: Iterable[UsageError]) -> None:
        self.faults = tuple(faults)
        Exception.__init__(self, "\n".join(map(str, self.faults)))


def one_line(text: str) -> str:
    """Returns text in one line that every file and terminal takes: half surrogates, as of a cut emoji, are escaped."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def first_line(error: BaseException) -> str:
    """Returns the first line of a library exception's text, at most 160 characters; its type's name when the text is
    empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def seed_number(words: str) -> int:
    """Returns an option's seed, one that every generator takes. Raises argparse.ArgumentTypeError."""
    if not words.isdecimal() or int(words) > SEED_MAX:
        raise argparse.ArgumentTypeError(f"'{words[:40]}' is not a seed in 0..{SEED_MAX}")
    return int(words)
