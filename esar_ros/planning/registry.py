"""The registry of search methods: the package's own, and others' through entry points.

Another package adds a method by naming a factory in the entry-point group `esar_ros.planners`:
a callable that takes the method's parameters (a mapping, from config/planners.yaml and the
caller; the shared report policy under `reporting`, and `model` for a factory whose attribute
`asks_model` is true) and returns a `Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, TypeVar, cast

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.plugins import load_plugin, plugins, refuse_taken
from esar_ros.planning.method import Method
from esar_ros.planning.method_check import make_method, told
from esar_ros.planning.methods.patterns.route import PlannedRoute, Route
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.planning.parameters import MODEL, SHARED, configured

GROUP = "esar_ros.planners"
_GUIDE = "a planner of your own has an entry point: docs/how-to/your-planner.md"

Factory = Callable[[Mapping[str, Any]], Method]
_Decorated = TypeVar("_Decorated", bound=Factory)

_OWN = (
    "methods.models.aoa",
    "methods.models.apex",
    "belief.brief_model",
    "belief.search",
    "methods.models.clip_h",
    "methods.patterns.concentric",
    "methods.maps.fbe",
    "methods.patterns.report_spam",
    "methods.patterns.greedy",
    "methods.patterns.hedac",
    "methods.models.mllm",
    "methods.models.navgpt",
    "methods.models.pure_mllm",
    "methods.patterns.random_walk",
    "methods.maps.semexp",
    "methods.models.spf",
    "methods.patterns.spiral",
    "methods.patterns.stay",
    "methods.patterns.tigris",
    "methods.maps.unigoal",
    "methods.maps.vlfm",
    "methods.patterns.zigzag",
)  # modules of this package that register a method when imported
# Further sections of config/planners.yaml: of a plan's way, of this package's suites, of what is asked about missions.
_SECTIONS = (Route.name, "llm_yolo", "mcq", "oracle", "oracle_prior")
_FACTORIES: dict[str, Factory] = {}


def register(name: str) -> Callable[[_Decorated], _Decorated]:
    """Decorator: make a factory (a method's class, as a rule) known under a name."""

    def add(factory: _Decorated) -> _Decorated:
        if name in _FACTORIES:
            raise ValueError(f"two planners are named '{name}'")
        _FACTORIES[name] = factory
        return factory

    return add


def names() -> tuple[str, ...]:
    """Names of all methods, sorted."""
    _import_own()
    return tuple(sorted({*_FACTORIES, *plugins(GROUP)}))


def references() -> frozenset[str]:
    """Names of the package's reference rows: trivial policies that show each metric's floor and are not ranked."""
    _import_own()
    return frozenset(name for name, factory in _FACTORIES.items() if getattr(factory, "reference", False))


def create(name: str, parameters: Mapping[str, Any] | None = None, path: Path | None = None) -> Method:
    """A method by name: its section of config/planners.yaml (or path), overlaid by parameters.

    "name@variant" is a method with a part of it switched off or replaced: its factory's `variants` has them, and
    "@scripted" is one of every method that asks a model. "route:FILE" flies the waypoints of a plan of QGroundControl,
    and is none of names(), since no brief holds a way. Raises UsageError on an unknown name, a bad parameter, a
    package that does not load, an object that is no whole method, and when settings make it a variant that it is not
    named after.
    """
    own, _, plan = name.partition(":")
    if own == Route.name and plan:
        return PlannedRoute(Path(plan))
    own = name.partition("@")[0]
    settings = parameters_of(name, parameters, path)
    factory = _factory(own)
    method: Method = make_method(factory, settings, _called(own))
    made = method.name
    if not parameters and made != name and made.partition("@")[0] == own:
        named = f"fly {made}, or " if made.partition("@")[2] in _variants(factory) else ""
        raise UsageError(f"planner {name} is {made} with these settings", f"{named}take them back")
    return method


def parameters_of(name: str, parameters: Mapping[str, Any] | None = None, path: Path | None = None) -> dict[str, Any]:
    """Returns the parameters with which `create` calls a factory. Raises UsageError on an unknown name or variant."""
    known = names()
    own, _, variant = name.partition("@")
    if own not in known:
        cure = f"install the package that names it ({_GUIDE})" if _is_code(own) else suggest(own, known)
        raise UsageError(f"unknown planner '{name}'", cure)
    factory = _factory(own)
    overlay = {**_variant(name, own, variant, factory), **(parameters or {})}
    return configured(own, overlay, path, (SHARED, MODEL) if _asks(factory) else (SHARED,), (*known, *_SECTIONS))


def _is_code(name: str) -> bool:
    """Returns whether a name is that of a file or of an object in a module, which no method is named by."""
    return name.endswith(".py") or "/" in name or ":" in name


def asks_model(name: str) -> bool:
    """Returns whether a method asks a language model; it is one of names()."""
    _import_own()
    return _asks(_factory(name))


def _called(own: str) -> str:
    """Returns how errors name a method: another package's with its entry point."""
    point = None if own in _FACTORIES else plugins(GROUP).get(own)
    return f"planner '{own}'" if point is None else f"planner '{own}' ({point.value})"


def _factory(own: str) -> Factory:
    """Returns a method's factory. Raises UsageError where another package has taken the name of one of this package."""
    refuse_taken(own, GROUP, _FACTORIES, "planner")
    return _FACTORIES.get(own) or _load(plugins(GROUP)[own])


def _asks(factory: Factory) -> bool:
    return bool(getattr(factory, "asks_model", False))


def _variants(factory: Factory) -> Mapping[str, Mapping[str, Any]]:
    """Parameters of a method's variants by their names."""
    variants: Mapping[str, Mapping[str, Any]] = getattr(factory, "variants", {})
    return {**variants, SCRIPTED: {MODEL: {"preset": SCRIPTED}}} if _asks(factory) else variants


def _variant(name: str, own: str, variant: str, factory: Factory) -> Mapping[str, Any]:
    """Parameters of the variant that is named, if one is."""
    if own == name:
        return {}
    variants = _variants(factory)
    if variant not in variants:
        cure = suggest(name, [f"{own}@{other}" for other in variants]) if variants else f"name {own} alone"
        raise UsageError(f"unknown variant '{name}'", cure)
    return variants[variant]


def _import_own() -> None:
    for module in _OWN:
        import_module(f"esar_ros.planning.{module}")


def _load(point: EntryPoint) -> Factory:
    factory = load_plugin(point, "planner", told)
    if not callable(factory):
        raise UsageError(f"{_called(point.name)} is not callable", "name a factory")
    return cast(Factory, factory)
