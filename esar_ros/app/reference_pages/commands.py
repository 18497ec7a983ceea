"""Every verb of `esar` with its arguments, from the parsers themselves."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any, NoReturn
from unittest.mock import patch

from esar_ros.app.cli import LAUNCHER_VERBS, VERBS
from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.app.suites.serve import RESCUEBENCH
from esar_ros.suites import suite_names

_OTHER_SUITES = {  # than the one whose arguments a verb has where none is named
    "bench": suite_names()[1:],
    "serve": (RESCUEBENCH,),
}


class _Parsing(Exception):
    """A verb has built its parser."""


def commands_page() -> str:
    """Verbs and their arguments."""
    lines = ["# Commands", "", MADE, "", "`./esar VERB`, or `esar VERB` where the package is installed. Exit codes: 0"]
    lines += ["done, 1 mission, check or an episode of a benchmark failed, 2 bad usage or input, 130 interrupted.", ""]
    for verb, (about, module) in VERBS.items():
        lines += [f"## esar {verb}", "", f"{about[0].upper()}{about[1:]}.", ""]
        parser = parser_of(module)
        lines += _arguments(f"esar {verb}", parser)
        for suite in _OTHER_SUITES.get(verb, ()):
            lines += _of_suite(f"esar {verb} --suite {suite}", parser, parser_of(module, "--suite", suite))
    lines += table("verb of `./esar` only|what", [(f"`{verb}`", about) for verb, about in LAUNCHER_VERBS.items()])
    return "\n".join(lines).rstrip() + "\n"


def parser_of(module: str, *given: str) -> argparse.ArgumentParser:
    """The parser that a verb builds before it does anything; given: arguments by which it is built."""
    found: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        found.append(parser)
        raise _Parsing

    with patch.object(argparse.ArgumentParser, "parse_args", stop):
        try:
            import_module(module).main(list(given))
        except _Parsing:
            return found[0]
    raise TypeError(f"{module}.main takes its arguments without an argparse parser")


def _of_suite(title: str, usual: argparse.ArgumentParser, parser: argparse.ArgumentParser) -> list[str]:
    """Table of the arguments that a verb has, or has otherwise, with another suite than the usual one."""
    rows, known = _rows(parser), _rows(usual)
    lacking = usual._option_string_actions.keys() - parser._option_string_actions.keys()
    without = f", and without {', '.join(f'`{flag}`' for flag in sorted(lacking))}" if lacking else ""
    other = table("argument|what", [row for row in rows if row not in known])
    return [f"### {title}", "", f"As above, but for these{without}.", "", *other]


def _arguments(title: str, parser: argparse.ArgumentParser) -> list[str]:
    """Table of a parser's arguments, then those of its commands."""
    rows = _rows(parser)
    commands: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            abouts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                commands += [f"### {title} {name}", "", cell(abouts.get(name, "")), ""]
                commands += _arguments(f"{title} {name}", command)
    return (table("argument|what", rows) if rows else []) + commands


def _rows(parser: argparse.ArgumentParser) -> list[tuple[str, ...]]:
    """Each argument of a parser as it is typed, and what it is."""
    return [
        (_written(action), _about(action))
        for action in parser._actions
        if not isinstance(action, (argparse._SubParsersAction, argparse._HelpAction))
        if action.help is not argparse.SUPPRESS
    ]


def _written(action: argparse.Action) -> str:
    """The argument as it is typed."""
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"`{value}`"
    flag = ", ".join(action.option_strings)
    return f"`{flag}`" if action.nargs == 0 else f"`{flag} {value}`"


def _about(action: argparse.Action) -> str:
    """Its help, with the default where the help leaves that to argparse."""
    text = (action.help or "").replace("%%", "%")
    default = f"{action.default:g}" if isinstance(action.default, float) else str(action.default)
    return cell(text.replace("%(default)s", default).replace("%(default)g", default))
