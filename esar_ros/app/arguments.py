"""Command-line arguments whose errors are reported in one line."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any, NoReturn

from esar_ros.mission.errors import UsageError, nearest, suggest

ON_OFF = ("on", "off")


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of printing its whole usage and exiting.

    Flags are given in full: a part of one (`--vehicle` for `--vehicles`) is an unknown flag, for which the nearest is
    told.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **options})
        # What begins with a minus is a value where it is a number or a coordinate: --start -33.95,151.2.
        self._negative_number_matcher = re.compile(r"-\d*\.?\d+(?:,-?\d*\.?\d+)*")

    def _parsers(self) -> list[argparse.ArgumentParser]:
        """Returns this parser and those of its commands."""
        commands = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return [self, *(parser for action in commands for parser in action.choices.values())]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raises ArgumentError for a value that is none of an argument's choices."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"unknown choice '{value}': {suggest(str(value), known)}")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with what is wrong with the arguments, and where to read about them."""
        cure = f"see {self.prog} --help"
        if message.startswith("unrecognized arguments: -"):
            typed = message.split()[2].partition("=")[0]
            flags = {flag for parser in self._parsers() for flag in parser._option_string_actions} - {typed}
            if meant := nearest(typed, sorted(flags)):  # another verb's flag of that name is not meant
                cure = f"did you mean {meant}? {cure}"
        raise UsageError(message, cure)


def on_off(word: str) -> str:
    """Returns "on" or "off" for a switch's word, also for those of a launch file (true, false); any other as it is."""
    from esar_ros.nodes.graph.launch_arguments import SWITCH

    return ON_OFF[not SWITCH[word.lower()]] if word.lower() in SWITCH else word


def shown(path: Path, given: str) -> str:
    """Returns a path as a person would write it who has given an argument: absolute where that is, else from here."""
    return str(path) if Path(given).is_absolute() else os.path.relpath(path)
