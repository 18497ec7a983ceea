"""`esar incident VERB`: a real search, from what was done to what is left."""

from __future__ import annotations

from esar_ros.app.arguments import Parser
from esar_ros.app.incident import add, debrief, fly, new, plan, rebuild

VERBS = {
    "new": new,
    "plan": plan,
    "fly": fly,
    "add": add,
    "debrief": debrief,
    "rebuild": rebuild,
}  # a module declares its arguments and runs them


def main(argv: list[str]) -> int:
    """Runs the command."""
    parser = Parser(prog="esar incident", description="A real search, kept in a folder that any GIS opens.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for module in VERBS.values():
        module.declare(verbs)
    arguments = parser.parse_args(argv)
    return VERBS[arguments.verb].run(arguments)
