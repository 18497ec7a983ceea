"""The comparison as files: tables in three formats, figures, every episode, and one self-contained page of it all."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from esar_ros.benchmark.report.comparison import ARROWS, OVERALL, Report
from esar_ros.benchmark.report.formatting import PAGE_POLICY, plain
from esar_ros.benchmark.report.page import PAGES, fill
from esar_ros.benchmark.report.table import FORMATS, Drawing, Section
from esar_ros.benchmark.report.tables import episodes_csv
from esar_ros.benchmark.runner.job import OK
from esar_ros.scoring.result import write_atomically

PAGE_NAME = "report.html"


def write_report(
    report: Report, out: Path, first: Sequence[Section] = (), title: str = "Methods compared"
) -> tuple[Path, ...]:
    """Write everything into a folder; the page comes first in what is returned. Raises UsageError.

    first: what stands before the suite's own tables.
    """
    sections = [*first, *report.layout.sections(report)]
    told = f" ({report.unfinished.rstrip('.')})" if report.unfinished else ""  # a file is read without the page
    written = as_files([replace(section, title=section.title + told) for section in sections])
    written["episodes.csv"] = episodes_csv(report)
    written[PAGE_NAME] = render_page(report, sections, written, title)
    return write_files(written, out)


def as_files(sections: Sequence[Section]) -> dict[str, str | bytes]:
    """Returns by file name every table in all formats and every drawing that has something to draw."""
    made: dict[str, str | bytes] = {}
    for section in sections:
        if isinstance(section, Drawing):
            if (drawn := section.draw()) is not None:
                made[section.name] = drawn
        else:
            for suffix, form in FORMATS.items():
                made[f"{section.name}.{suffix}"] = form(section)
    return made


def write_files(files: Mapping[str, str | bytes], out: Path) -> tuple[Path, ...]:
    """Writes files into a folder and returns them, the page first. Raises UsageError."""
    for name, content in files.items():
        write_atomically(out / name, content)
    return (out / PAGE_NAME, *(out / name for name in files if name != PAGE_NAME))


def render_page(
    report: Report, sections: Sequence[Section], drawn: Mapping[str, str | bytes], title: str = "Methods compared"
) -> str:
    """Returns the page with these tables, and the drawings that were drawn, by their names."""
    return page_of(
        sections,
        drawn,
        title=title,
        eyebrow=report.layout.eyebrow,
        lead=_lead(report),
        facts=_facts(report),
        notes=[note for note in (report.unfinished, *report.notes) if note],
        failures=[
            (f"{method.name}, {e.unit.task}, seed {e.seed}", e.reason or "no reason given")
            for method in report.methods
            for e in method.episodes
            if e.status != OK
        ],
        thresholds=[(plain(name), _formatted(value)) for name, value in report.bench.thresholds.items()],
        run=_run(report),
    )


def page_of(
    sections: Sequence[Section],
    drawn: Mapping[str, str | bytes],
    *,
    title: str,
    eyebrow: str,
    lead: str,
    facts: Sequence[tuple[str, str]],
    notes: Sequence[str],
    run: Sequence[tuple[str, str]],
    failures: Sequence[tuple[str, str]] = (),
    thresholds: Sequence[tuple[str, str]] = (),
) -> str:
    """Returns one self-contained page. facts, failures, thresholds, run: (name, value) of its lists.

    drawn: by name what the drawings drew; those that are not there are left out.
    """
    return fill(
        PAGES / "comparison.html",
        policy=PAGE_POLICY,
        title=title,
        eyebrow=eyebrow,
        lead=lead,
        facts=facts,
        notes=notes,
        sections=[
            (section, _image(section.title, drawn[section.name]) if isinstance(section, Drawing) else None)
            for section in sections
            if not isinstance(section, Drawing) or section.name in drawn
        ],
        failures=failures,
        thresholds=thresholds,
        run=run,
    )


def _image(title: str, content: str | bytes) -> Markup:
    """Returns the element that shows an SVG text or a JPEG."""
    if isinstance(content, str):
        return Markup(content)
    data = "data:image/jpeg;base64," + base64.b64encode(content).decode()
    return Markup('<img alt="{}" src="{}">').format(title, data)


def _lead(report: Report) -> str:
    rivals = [method for method in report.methods if method.competes]
    score = report.layout.ranked_by
    scored = [(cell.mean, m.name) for m in rivals if (cell := report.cell(m.name, OVERALL, score))]
    if len(scored) < 2:
        return f"Scores in per cent. {ARROWS}"
    best, name = max(scored)
    beaten, tested = set(), set()
    for pair in report.pairs[score]:
        if name in (pair.a, pair.b):
            other = pair.b if name == pair.a else pair.a
            tested.add(other)
            if pair.p_holm < 0.05 and (pair.difference.mean > 0) == (pair.a == name):
                beaten.add(other)
    others = {other for _, other in scored} - {name}
    highest = f"Highest {report.layout.names[score]}: {name}, {100 * best:.2f} %"
    if not tested:
        return f"{highest}, not tested against any other."
    verdict = "ahead of every other beyond chance" if others <= beaten else "not ahead of every other beyond chance"
    if beaten and beaten >= others & tested and not others <= tested:
        verdict = f"ahead of {', '.join(sorted(beaten))} beyond chance; not tested against every other"
    return f"{highest}, {verdict} (Holm-corrected, 5 %)."


def _facts(report: Report) -> list[tuple[str, str]]:
    episodes = report.bench.episodes
    seeds = sorted({method.seeds for method in report.methods})
    return [
        ("methods", str(len(report.methods))),
        (report.layout.levels[2], str(len({e.unit for e in episodes}))),
        (report.layout.levels[0], str(len({e.unit.event for e in episodes}))),
        ("maps", str(len({e.map for e in episodes}))),
        ("episodes", str(len(episodes))),
        ("seeds each, at most", " – ".join(map(str, (seeds[0], seeds[-1])[: 1 + (seeds[0] != seeds[-1])]))),
    ]


def _run(report: Report) -> list[tuple[str, str]]:
    rows = [
        (plain(name), ", ".join(sorted({e.conditions.as_text[name] for e in report.bench.episodes})))
        for name in report.bench.episodes[0].conditions.as_text
    ]
    rows += [(name, ", ".join(found)) for name, found in report.bench.versions.items()]
    for folder, settings in report.bench.settings.items():
        brief = {key: value for key, value in settings.items() if key in ("planners", "seeds")}
        rows.append((Path(folder).name, json.dumps(brief, sort_keys=True)))
    return rows


def _formatted(value: Any) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, list | tuple) else f"{value:g}"
