"""Tables and images of runs: accuracy, balance over styles, cost, and beside them what needs no understanding.

Runs share a table only where they were asked the same questions by the same protocol, with the same parts of them
shown, in as many orders; what a part or an order changes of one model's answers is a table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, astuple, replace
from itertools import combinations
from pathlib import Path

from matplotlib.figure import Figure

from esar_ros.benchmark.report.comparison_figures import svg
from esar_ros.benchmark.report.comparison_page import PAGE_NAME, as_files, page_of, write_files
from esar_ros.benchmark.report.table import Cell, Drawing, Section, Table
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.scoring.statistics import holm
from esar_ros.suites.uavbench.mcq.baselines import (
    BLIND,
    CHANCE,
    NEAREST,
    NEAREST_ABOUT,
    REFERENCES,
    Encode,
    nearest_row,
    reference_rows,
)
from esar_ros.suites.uavbench.mcq.figures import balance_figure, items_figure, radar_figure
from esar_ros.suites.uavbench.mcq.item import CLUSTERS, OPTIONS, STYLES, Item
from esar_ros.suites.uavbench.mcq.measures import Measures, Share, mcnemar, measure, share
from esar_ros.suites.uavbench.mcq.protocol import Outcome
from esar_ros.suites.uavbench.mcq.run import IMPORTED, Run, RunSettings, jobs_of

_NOTE = "Per cent, with 95 % intervals: Wilson's of shares, else of a bootstrap over missions within styles."
_DASH = Cell("–")
# Those that made UAVBench's scenarios (its paper, section III): its questions are no stranger's to them.
_MAKERS = (
    *("gpt-5-mini", "gpt-5-nano", "gpt-4o", "gemini-2.5-flash-lite", "mixtral-8x7b", "codestral-2508", "qwen-max"),
    *("phi-4-reasoning-plus", "grok-3-mini", "grok-code-fast-1", "llama-3.3-70b", "deepseek-v3.1"),
)


def make_report(runs: Sequence[Run], prices: ModelSettings, encode: Encode | None = None) -> list[Section]:
    """Returns the tables and drawings of runs, a group of them for each kind. prices: money per million tokens.

    encode: what embeds texts, for the row `nearest`; none without it. Raises UsageError.
    """
    groups: dict[RunSettings, list[Run]] = {}
    for run in runs:
        if not run.answers:
            raise UsageError(f"{run.folder} holds no answers", "run it first")
        groups.setdefault(_kind(run.settings), []).append(run)
    sections: list[Section] = []
    drawn: set[str] = set()  # sets of questions
    for number, (kind, own) in enumerate(groups.items(), 1):
        suffix = f"_{number}" if len(groups) > 1 else ""
        made = _group(kind, own, prices, encode)
        if kind.items not in drawn:
            drawn.add(kind.items)
            made.append(_items(own[0].items))
        for section in made:
            stem, dot, kind_of_file = section.name.partition(".")
            sections.append(replace(section, name=f"{stem}{suffix}{dot}{kind_of_file}"))
    return sections + _left_out(runs)


def write_report(runs: Sequence[Run], sections: Sequence[Section], out: Path) -> tuple[Path, ...]:
    """Writes every table as Markdown, LaTeX and CSV, every drawing, and one page of them all, which comes first.

    Raises UsageError.
    """
    files = as_files(sections)
    sets = {run.settings.items: run.items for run in runs}.values()
    files[PAGE_NAME] = page_of(
        sections,
        files,
        title="Questions about UAV missions",
        eyebrow="UAVBENCH",
        lead="Right answers of language models in per cent, beside rows that read no question and understand nothing.",
        facts=[
            ("models", str(len({run.settings.model for run in runs}))),
            ("runs", str(len(runs))),
            ("questions", str(sum(map(len, sets)))),
            ("missions", str(len({item.scenario for items in sets for item in items}))),
            ("answers", str(sum(len(run.answers) for run in runs))),
        ],
        notes=(),
        run=[(run.folder.name, _how(run.settings)) for run in runs],
    )
    return write_files(files, out)


def _how(settings: RunSettings) -> str:
    """Returns in words what decided a run's answers."""
    parts = {key: value for key, value in asdict(settings).items() if value not in ("", "{}")}
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in parts.items())


def _kind(settings: RunSettings) -> RunSettings:
    """Settings that runs of one table share."""
    return replace(settings, model="", request="")


def _group(kind: RunSettings, runs: Sequence[Run], prices: ModelSettings, encode: Encode | None) -> list[Section]:
    items = runs[0].items
    references = reference_rows(items, kind.orders)
    about = dict(REFERENCES)
    if encode is not None:
        references[NEAREST], about[NEAREST] = nearest_row(items, encode), NEAREST_ABOUT
    named = _names(runs)
    rows = {**references, **{name: run.scores for name, run in named.items()}}
    measured = measure(items, rows, BLIND)
    order = [*references, *sorted(named, key=lambda name: -measured[name][0].accuracy.value)]
    rules = (len(references),)
    title = f"protocol {kind.protocol}, {kind.max_tokens} tokens, {kind.orders} order{'s' * (kind.orders > 1)}"
    title += f", without {kind.without}" * bool(kind.without)
    title += ", answers imported" if kind.prompt == IMPORTED else ""
    shown = {name: measured[name][0] for name in order}
    tables: list[Section] = [
        _overall(title, items, order, named, measured, prices, rules, about),
        Drawing(
            "mcq_balance.svg",
            f"Balance over the styles: {title}",
            lambda: svg(balance_figure(shown, len(references))),
            f"Grey: what needs no understanding. {_NOTE} Resampling adds to the differences between styles, so an "
            "interval of sigma lies high, above the value itself where questions are few. A dash: some style was not "
            "asked.",
        ),
        Drawing(
            "mcq_styles.svg",
            f"Styles: {title}",
            lambda: _drawn(radar_figure(shown, len(references))),
            "Per cent right of each style that has questions; from the middle, 0, to the rim, 100. Intervals: 95 %, "
            "Wilson's. A line has a gap where none of a style's questions was asked.",
        ),
    ]
    for cluster, styles in CLUSTERS.items():
        cells = tuple(
            (Cell(name), *(_share(measured[name][0].styles.get(style), name != CHANCE) for style in styles))
            for name in order
        )
        heads = ("model", *(f"{style} {STYLES[style].removesuffix(' Reasoning')}" for style in styles))
        tables.append(Table(f"mcq_{cluster}", f"{cluster.capitalize()}: {title}", (), heads, cells, rules, (_NOTE,)))
    if len(named) > 1:
        tables.append(_pairs(title, named))
    if any(not answer["id"].endswith("/0") for run in runs for answer in run.answers):
        tables.append(_orders(title, named))
    return tables


def _names(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their models and what these were not shown, with the folder where two are alike."""
    models = [run.settings.model + f", without {run.settings.without}" * bool(run.settings.without) for run in runs]
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
    about: dict[str, str],
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
            (Cell(name), Cell(cells[0]), Cell(cells[1]), _share(found.accuracy, name != CHANCE), of_answered, *spans,
             gained, *_cost(run, prices))
        )  # fmt: skip
    notes = [
        _NOTE,
        f"{len(items)} questions. Answered: a letter was read; what was not counts as wrong. BSS from 0 to 1; a dash "
        "where a style has no questions.",
        *(f"{name}: {words}." for name, words in about.items()),
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
    words = run.settings.model.lower().rpartition("/")[2].partition(":")[0]
    maker = next((one for one in _MAKERS if re.fullmatch(rf"{re.escape(one)}(-instruct|-latest)?", words)), None)
    if maker is not None and any(item.solution is None for item in run.items):
        notes.append(f"{name}: {maker} is one of the models that wrote UAVBench's scenarios.")
    asked = len({answer["item"] for answer in run.answers})
    if asked < len(run.items):
        notes.append(f"{name}: {asked} of {len(run.items)} questions asked so far, the styles in turn.")
    elif not run.is_imported and len(run.answers) < (whole := len(jobs_of(run.items, run.settings.orders))):
        notes.append(f"{name}: {len(run.answers)} of {whole} answers so far: not every question in every order.")
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
    first = {name: _right(run) for name, run in named.items()}
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


def _right(run: Run, order: int = 0) -> dict[str, float]:
    """Returns by item whether its answer in this order was right."""
    return {answer["item"]: float(answer["correct"]) for answer in run.answers if answer["id"].endswith(f"/{order}")}


def _change(before: dict[str, float], after: dict[str, float]) -> tuple[Cell, ...]:
    """Returns the number of common items, the share of them that is right before and after."""
    both = sorted(before.keys() & after.keys())
    shares = (_share(share([one[name] for name in both]) if both else None) for one in (before, after))
    return Cell(str(len(both))), *shares


def _orders(title: str, named: dict[str, Run]) -> Table:
    """Original beside first shuffled order, and how often the original right letter is picked in shuffled ones."""
    rows = []
    for name, run in named.items():
        key = {item.id: item.key for item in run.items}
        picked = [
            float(answer["pick"] is not None and answer["order"].index(answer["pick"]) == key[answer["item"]])
            for answer in run.answers
            if not answer["id"].endswith("/0")
        ]
        if picked:
            original, shuffled = _right(run), _right(run, 1)
            *_, p = mcnemar(original, shuffled)
            changed = _change(original, shuffled)
            rows.append((Cell(name), *changed, Cell(f"{p:.4f}", best=p < 0.05), _share(share(picked))))
    heads = ("model", "questions", "original order", "first shuffled", "p", "original right letter")
    notes = (
        _NOTE,
        "p: McNemar's exact test. Original right letter: picked in shuffled orders, where another option stands under "
        "it: 14.3 % of guesses do, and more of the answers of a model that remembers the letters of a published set.",
    )
    return Table("mcq_orders", f"Original and shuffled orders: {title}", (), heads, tuple(rows), (), notes)


def _left_out(runs: Sequence[Run]) -> list[Section]:
    """Runs that were not shown a part of the questions, each beside the model's run that was shown all."""
    whole = {run.settings: run for run in runs if not run.settings.without}
    found = []
    for run in runs:
        other = whole.get(replace(run.settings, without="")) if run.settings.without else None
        if other is not None:
            before, after = _right(other), _right(run)
            *_, p = mcnemar(before, after)
            found.append((run.settings, _change(before, after), p))
    if not found:
        return []
    rows = tuple(
        (
            Cell(settings.model),
            Cell(settings.protocol),
            Cell(settings.without),
            *changed,
            Cell(f"{p:.4f}", best=p < 0.05),
        )
        for (settings, changed, _), p in zip(found, holm([p for *_, p in found]), strict=True)
    )
    heads = ("model", "protocol", "part", "questions", "shown", "left out", "p")
    notes = (_NOTE, "p: McNemar's exact test, Holm-corrected over the rows; original order of the options.")
    return [Table("mcq_left_out", "What is left out, and what it costs", (), heads, rows, (), notes)]


def _drawn(figure: Figure | None) -> str | None:
    return None if figure is None else svg(figure)


def _items(items: Sequence[Item]) -> Drawing:
    """The drawing of a set of questions."""
    missions = len({item.scenario for item in items})
    note = f"{len(items)} questions about {missions} missions, each with {OPTIONS} options."
    return Drawing("mcq_items.svg", "The questions", lambda: svg(items_figure(items)), note)


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
