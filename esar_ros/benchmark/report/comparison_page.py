"""The comparison as files: tables in three formats, figures, every episode, and one self-contained page of it all."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from esar_ros.benchmark.report import comparison_figures
from esar_ros.benchmark.report.comparison import Report
from esar_ros.benchmark.report.comparison_tables import FORMATS, all_tables, episodes_csv
from esar_ros.benchmark.report.comparison_template import PAGE
from esar_ros.benchmark.report.formatting import ENDINGS, plain
from esar_ros.scoring.result import write_atomically
from esar_ros.scoring.truth import End

PAGE_NAME = "report.html"


def write_report(report: Report, out: Path) -> tuple[Path, ...]:
    """Write everything into a folder; the page comes first in what is returned. Raises UsageError."""
    written: dict[str, str | bytes] = {}
    for table in all_tables(report):
        for suffix, form in FORMATS.items():
            written[f"{table.name}.{suffix}"] = form(table)
    written["episodes.csv"] = episodes_csv(report)
    written["figure5.svg"] = safety = comparison_figures.svg(comparison_figures.safety_figure(report))
    written["tiers.svg"] = tiers = comparison_figures.svg(comparison_figures.tier_figure(report))
    gallery = comparison_figures.gallery_figure(report)
    image = comparison_figures.jpeg(gallery) if gallery is not None else None
    if image is not None:
        written["tracks.jpg"] = image
    written[PAGE_NAME] = render_page(report, safety, tiers, image)
    for name, content in written.items():
        write_atomically(out / name, content)
    return (out / PAGE_NAME, *(out / name for name in written if name != PAGE_NAME))


def render_page(report: Report, safety: str, tiers: str, gallery: bytes | None) -> str:
    """The page. safety, tiers: SVG text; gallery: a JPEG image."""
    episodes = report.bench.episodes
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(PAGE)
    ends = [end for end in End if any(episode.end is end for episode in episodes)]
    return page.render(
        title="Methods compared",
        lead=_lead(report),
        facts=_facts(report),
        notes=report.notes,
        tables={table.name: table for table in all_tables(report)},
        safety=Markup(safety),
        tiers=Markup(tiers),
        gallery=Markup("data:image/jpeg;base64," + base64.b64encode(gallery).decode()) if gallery else None,
        ends=[ENDINGS[end] for end in ends],
        endings=[
            (method.name, [Counter(e.end for e in method.episodes)[end] for end in ends]) for method in report.methods
        ],
        failures=[
            (f"{method.name}, {e.unit.task}, seed {e.seed}", e.reason or "no reason given")
            for method in report.methods
            for e in method.episodes
            if e.status != "ok"
        ],
        thresholds=[(plain(name), _formatted(value)) for name, value in report.bench.thresholds.items()],
        run=_run(report),
    )


def _lead(report: Report) -> str:
    rivals = [method for method in report.methods if method.competes]
    scored = [(cell.mean, m.name) for m in rivals if (cell := report.cell(m.name, "overall", "rs"))]
    if len(scored) < 2:
        return "Scores in per cent, higher is better."
    best, name = max(scored)
    sure = all(
        pair.p_holm < 0.05 and (pair.difference.mean > 0) == (pair.a == name)
        for pair in report.pairs["rs"]
        if name in (pair.a, pair.b)
    )
    asked = any(name in (pair.a, pair.b) for pair in report.pairs["rs"])
    verdict = "ahead of every other beyond chance" if sure and asked else "not ahead of every other beyond chance"
    return f"Highest rescue score: {name}, {100 * best:.2f} %, {verdict} (Holm-corrected, 5 %)."


def _facts(report: Report) -> list[tuple[str, str]]:
    episodes = report.bench.episodes
    seeds = sorted({method.seeds for method in report.methods})
    return [
        ("methods", str(len(report.methods))),
        ("tasks", str(len({e.unit for e in episodes}))),
        ("events", str(len({e.unit.event for e in episodes}))),
        ("maps", str(len({e.map for e in episodes}))),
        ("episodes", str(len(episodes))),
        ("seeds a task, at most", " – ".join(map(str, (seeds[0], seeds[-1])[: 1 + (seeds[0] != seeds[-1])]))),
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
