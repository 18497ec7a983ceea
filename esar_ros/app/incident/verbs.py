"""`esar incident VERB`: a real search, from what was done to what is left."""

from __future__ import annotations

from importlib import import_module

from esar_ros.app.arguments import Parser

VERBS = ("new", "plan", "fly", "add", "debrief", "rebuild")  # each a module, which declares its arguments and runs them


def main(argv: list[str]) -> int:
    """Runs the command; of a verb that is known no other's module is loaded."""
    parser = Parser(prog="esar incident", description="A real search, kept in a folder that any GIS opens.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    named = argv[:1] if argv and argv[0] in VERBS else VERBS
    modules = {verb: import_module(f"esar_ros.app.incident.{verb}") for verb in named}
    for module in modules.values():
        module.declare(verbs)
    arguments = parser.parse_args(argv)
    return int(modules[arguments.verb].run(arguments))
