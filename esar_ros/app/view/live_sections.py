"""Sections and lists by name, of which each reader is sent only what has changed since it last asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Cursor = dict[str, int]  # what a reader has: serial per section, number of items per list


class Sections:
    """Values by name, each with a serial number that grows when it changes, and lists that grow."""

    def __init__(self, lists: Iterable[str]) -> None:
        """lists: names of the lists, which begin empty."""
        self.lists: dict[str, list[Any]] = {name: [] for name in lists}
        self._serial = 0
        self._sections: dict[str, tuple[int, Any]] = {}

    def changes(self, cursor: Cursor) -> dict[str, Any]:
        """Sections that differ from what the cursor says its owner has, which is then moved on.

        A list comes as {"from": index of the first item sent, "items": [...]}.
        """
        changed: dict[str, Any] = {}
        for name, (serial, value) in self._sections.items():
            if cursor.get(name) != serial:
                cursor[name] = serial
                changed[name] = value
        for name, items in self.lists.items():
            have = cursor.get(name, 0)
            if have < len(items):
                cursor[name] = len(items)
                changed[name] = {"from": have, "items": items[have:]}
        return changed

    def put(self, section: str, value: Any) -> None:
        """Set a section; the same value again is no change."""
        if section in self._sections and self._sections[section][1] == value:
            return
        self._serial += 1
        self._sections[section] = self._serial, value

    def get(self, section: str) -> Any:
        """Newest value of a section, None before there is one."""
        return self._sections.get(section, (0, None))[1]
