"""`esar completion SHELL`: a script that completes verbs, flags and names in bash or zsh, made from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from esar_ros.app.arguments import Parser
from esar_ros.app.cli import LAUNCHER_VERBS, VERBS
from esar_ros.app.reference_pages.commands import parser_of

SHELLS = ("bash", "zsh")
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"  # zsh runs bash's completions by it
_SCRIPT = """_esar() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD-1]}} at=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{verbs}"
  else
    [ "$COMP_CWORD" -eq 2 ] || case "$at ${{COMP_WORDS[2]}}" in {commands}) at="$at ${{COMP_WORDS[2]}}" ;; esac
    case "$at $last" in
{values}
    *) case "$at" in
{flags}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _esar esar ./esar
"""


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar completion", description='In bash: eval "$(esar completion bash)"; in zsh with zsh.')
    parser.add_argument("shell", choices=SHELLS, help="whose script to print")
    shell = parser.parse_args(argv).shell
    print((_ZSH if shell == "zsh" else "") + script(), end="")
    return 0


def script() -> str:
    """Returns the script for bash. Where an argument is a file or a free word, names of files are completed."""
    parsers: dict[str, argparse.ArgumentParser] = {}
    for verb, (_, module) in VERBS.items():
        parsers[verb] = parser_of(module)
        for action in parsers[verb]._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers |= {f"{verb} {name}": command for name, command in action.choices.items()}
    names, values, flags = _names(), [], []
    for at, parser in parsers.items():
        words: list[str] = []
        for action in parser._actions:
            words += action.option_strings or map(str, action.choices or names.get(action.dest, ()))
            if action.option_strings and action.nargs != 0:
                known = " ".join(map(str, action.choices or names.get(action.dest, ())))
                pattern = "|".join(f'"{at} {flag}"' for flag in action.option_strings)
                values.append(f'    {pattern}) words="{known}" ;;')
        flags.append(f'      "{at}") words="{" ".join(words)}" ;;')
    return _SCRIPT.format(
        verbs=" ".join((*VERBS, *LAUNCHER_VERBS, "--help", "--version")),
        commands="|".join(f'"{at}"' for at in parsers if " " in at),
        values="\n".join(values),
        flags="\n".join(flags),
    )


def _names() -> dict[str, Sequence[str]]:
    """Returns what is known by name, by the arguments that take it."""
    from esar_ros.mission.map_files import known_maps
    from esar_ros.perception.detectors.backend import names as detectors
    from esar_ros.planning.registry import names as planners
    from esar_ros.suites import suite_names
    from esar_ros.suites.esarbench.tasks.sets import SETS, task_set

    tasks = (*task_set("demo"), *task_set("all"))
    known = {"planner": planners(), "detector": detectors(), "map": known_maps(), "maps": known_maps(), "task": tasks}
    return known | {"suite": suite_names(), "planners": planners(), "tasks": (*SETS, "demo", *tasks)}
