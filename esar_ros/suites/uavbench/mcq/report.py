"""Tables of runs: accuracy with intervals, balance over styles, cost, and beside them what needs no understanding.

Runs share a table only where they were asked the same questions by the same protocol in as many orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from itertools import combinations
from pathlib import Path

from esar_ros.benchmark.report.tables import FORMATS, Cell, Table
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.scoring.result import write_atomically
from esar_ros.scoring.statistics import holm
from esar_ros.suites.uavbench.mcq.baselines import BLIND, CHANCE, REFERENCES, reference_rows
from esar_ros.suites.uavbench.mcq.item import CLUSTERS, STYLES, Item
from esar_ros.suites.uavbench.mcq.measures import Measures, Share, mcnemar, measure
from esar_ros.suites.uavbench.mcq.protocol import Outcome
from esar_ros.suites.uavbench.mcq.run import IMPORTED, Run, RunSettings

_NOTE = "Per cent, with 95 % intervals: Wilson's of shares, else of a bootstrap over missions within styles."
_DASH = Cell("–")


def make_report(runs: Sequence[Run], prices: ModelSettings) -> list[Table]:
    """Returns the tables of runs, a group of them for each kind. prices: money per million tokens."""
    groups: dict[RunSettings, list[Run]] = {}
    for run in runs:
        if not run.answers:
            raise UsageError(f"{run.folder} holds no answers", "run it first")
        groups.setdefault(_kind(run.settings), []).append(run)
    tables: list[Table] = []
    for number, (kind, own) in enumerate(groups.items(), 1):
        suffix = f"_{number}" if len(groups) > 1 else ""
        tables += [replace(table, name=f"{table.name}{suffix}") for table in _group(kind, own, prices)]
    return tables


def write_tables(tables: Sequence[Table], out: Path) -> list[Path]:
    """Writes every table as Markdown, LaTeX and CSV; returns the files. Raises UsageError."""
    paths = []
    for table in tables:
        for suffix, text in FORMATS.items():
            paths.append(out / f"{table.name}.{suffix}")
            write_atomically(paths[-1], text(table))
    return paths


def _kind(settings: RunSettings) -> RunSettings:
    """Settings that runs of one table share."""
    return replace(settings, model="", request="")


def _group(kind: RunSettings, runs: Sequence[Run], prices: ModelSettings) -> list[Table]:
    items = runs[0].items
    references = reference_rows(items, kind.orders)
    named = _names(runs)
    rows = {**references, **{name: run.scores for name, run in named.items()}}
    measured = measure(items, rows, BLIND)
    order = [*references, *sorted(named, key=lambda name: -measured[name][0].accuracy.value)]
    rules = (len(references),)
    title = f"protocol {kind.protocol}, {kind.max_tokens} tokens, {kind.orders} order{'s' * (kind.orders > 1)}"
    title += ", answers imported" if kind.prompt == IMPORTED else ""
    tables = [_overall(title, items, order, named, measured, prices, rules)]
    for cluster, styles in CLUSTERS.items():
        cells = tuple(
            (Cell(name), *(_share(measured[name][0].styles.get(style), name != CHANCE) for style in styles))
            for name in order
        )
        heads = ("model", *(f"{style} {STYLES[style].removesuffix(' Reasoning')}" for style in styles))
        tables.append(Table(f"mcq_{cluster}", f"{cluster.capitalize()}: {title}", (), heads, cells, rules, (_NOTE,)))
    if len(named) > 1:
        tables.append(_pairs(title, named))
    return tables


def _names(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their models, with the folder where two are alike."""
    models = [run.settings.model for run in runs]
    names = [
        model if models.count(model) == 1 else f"{model} ({run.folder})"
        for model, run in zip(models, runs, strict=True)
    ]
    if len(set(names)) < len(names):
        raise UsageError("a run is given twice", "name each folder once")
    return dict(zip(names, runs, strict=True))


def _overall(
    title: str,
    items: Sequence[Item],
    order: Sequence[str],
    named: dict[str, Run],
    measured: dict[str, tuple[Measures, Share]],
    prices: ModelSettings,
    rules: tuple[int, ...],
) -> Table:
    heads = ("model", "asked", "answered", "accuracy", "of answered", "mean", "sigma", "BSS", f"gain over {BLIND}")
    rows = []
    for name in order:
        found, gain = measured[name]
        run = named.get(name)
        spans = (_span(found.mean), _span(found.sigma), _span(found.bss, 1.0, 3))
        gained = _DASH if name == BLIND else _signed(gain)
        cells = [str(found.accuracy.n), "–", "–"]
        of_answered = _DASH
        if run is not None:
            answered = run.count(Outcome.ANSWERED)
            correct = sum(answer["correct"] for answer in run.answers)
            cells[1] = f"{100.0 * answered / len(run.answers):.1f}"
            of_answered = Cell(f"{100.0 * correct / answered:.1f}") if answered else _DASH
        rows.append(
            (Cell(name), Cell(cells[0]), Cell(cells[1]), _share(found.accuracy, name != CHANCE), of_answered, *spans, gained,
             *_cost(run, prices))
        )  # fmt: skip
    notes = [
        _NOTE,
        f"{len(items)} questions. Answered: a letter was read; what was not counts as wrong. BSS from 0 to 1; a dash "
        "where a style has no questions.",
        *(f"{name}: {about}." for name, about in REFERENCES.items()),
    ]
    for name, run in named.items():
        notes += _remarks(name, run)
    return Table(
        "mcq_overall",
        f"Questions: {title}",
        (),
        (*heads, "tokens read", "written", "money", "s an answer"),
        tuple(rows),
        rules,
        tuple(notes),
    )


def _remarks(name: str, run: Run) -> list[str]:
    """Returns what a reader must know of a run before comparing it."""
    notes = []
    asked = len({answer["item"] for answer in run.answers})
    if asked < len(run.items):
        notes.append(f"{name}: {asked} of {len(run.items)} questions asked so far, the styles in turn.")
    truncated = run.count(Outcome.TRUNCATED)
    if truncated:
        share = 100.0 * truncated / len(run.answers)
        notes.append(f"{name}: {share:.1f} % of the answers were cut at {run.settings.max_tokens} tokens.")
    changes = sorted({change for answer in run.answers for change in answer.get("changes", ())})
    if changes:
        notes.append(f"{name}: its server did not take the protocol's request; changed: {', '.join(changes)}.")
    models = sorted({answer["model"] for answer in run.answers} - {"", run.settings.model})
    if models:
        notes.append(f"{name}: the server calls it {', '.join(models)}.")
    if any(answer["estimated"] for answer in run.answers):
        notes.append(f"{name}: tokens are estimated where the server does not count.")
    return notes


def _cost(run: Run | None, prices: ModelSettings) -> tuple[Cell, Cell, Cell, Cell]:
    if run is None or run.is_imported:
        return _DASH, _DASH, _DASH, _DASH
    read = sum(answer["tokens_in"] for answer in run.answers)
    written = sum(answer["tokens_out"] for answer in run.answers)
    price_in, price_out = prices.prices.get(run.settings.model, (prices.price_in, prices.price_out))
    money = (read * price_in + written * price_out) * 1e-6
    seconds = sum(answer["timing"]["seconds"] for answer in run.answers) / len(run.answers)
    return (
        Cell(str(read)),
        Cell(str(written)),
        Cell(f"{money:.4f}") if price_in or price_out else _DASH,
        Cell(f"{seconds:.2f}"),
    )


def _pairs(title: str, named: dict[str, Run]) -> Table:
    """Every pair of models on the questions that both were asked in the original order, by McNemar's exact test."""
    first = {
        name: {answer["item"]: float(answer["correct"]) for answer in run.answers if answer["id"].endswith("/0")}
        for name, run in named.items()
    }
    found = [
        (a, b, len(first[a].keys() & first[b].keys()), *mcnemar(first[a], first[b])) for a, b in combinations(named, 2)
    ]
    corrected = holm([p for *_, p in found])
    rows = tuple(
        (Cell(f"{a} − {b}"), Cell(str(both)), Cell(str(only_a)), Cell(str(only_b)), Cell(f"{p:.4f}", best=p < 0.05))
        for (a, b, both, only_a, only_b, _), p in zip(found, corrected, strict=True)
    )
    heads = ("models", "questions", "first alone right", "second alone right", "p")
    notes = ("p: McNemar's exact test, Holm-corrected over the pairs; original order of the options.",)
    return Table("mcq_pairs", f"Models in pairs: {title}", (), heads, rows, (), notes)


def _share(found: Share | None, is_measured: bool = True) -> Cell:
    """A share with its interval; one that is known exactly, as chance is, has none."""
    if found is None:
        return _DASH
    value, low, high, _ = astuple(found)
    return Cell(f"{100.0 * value:.1f}", f"{100.0 * low:.1f}, {100.0 * high:.1f}" * is_measured)


def _signed(found: Share) -> Cell:
    value, low, high, _ = astuple(found)
    return Cell(f"{100.0 * value:+.1f}", f"{100.0 * low:+.1f}, {100.0 * high:+.1f}")


def _span(found: tuple[float, float, float] | None, scale: float = 100.0, decimals: int = 1) -> Cell:
    if found is None:
        return _DASH
    value, low, high = (f"{scale * number:.{decimals}f}" for number in found)
    return Cell(value, f"{low}, {high}")
