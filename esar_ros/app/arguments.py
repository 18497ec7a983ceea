"""Command-line arguments whose errors are reported in one line."""

from __future__ import annotations

import argparse
from typing import NoReturn

from esar_ros.mission.errors import UsageError


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of printing its whole usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with what is wrong with the arguments, and where to read about them."""
        raise UsageError(message, f"see {self.prog} --help")
