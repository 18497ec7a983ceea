"""A table as markdown, LaTeX and CSV, and what stands beside it on a page; it knows no comparison."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One number as text, and its interval, empty where there is none; note: why. best: the best of its column."""

    text: str
    interval: str = ""
    best: bool = False
    note: str = ""
    bad: bool = False  # of a row that must not be overlooked


@dataclass(frozen=True)
class Table:
    """heads: (text, columns that it spans) over the second line of heads. rules: rows before which a line is drawn."""

    name: str
    title: str
    groups: tuple[tuple[str, int], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    rules: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """An image of a page. draw: returns SVG or HTML text, or a JPEG's bytes; None where there is nothing to draw."""

    name: str  # of its file
    title: str
    draw: Callable[[], str | bytes | None]
    note: str = ""


Section = Table | Drawing


@dataclass(frozen=True)
class PaperRows:
    """Published scores of a suite's methods, shares per cent."""

    source: str  # of the paper: its name and its tables
    methods: Mapping[str, Mapping[tuple[str, str], float]]  # method -> (group or "overall", score) -> value
    caveat: str  # why they are not to be compared with what was flown here


def _heads(table: Table) -> list[str]:
    """One line of heads, for formats that have no more."""
    groups = [text for text, span in table.groups for _ in range(span)] or [""] * len(table.heads)
    return [f"{group} {head}".strip() for group, head in zip(groups, table.heads, strict=True)]


def markdown(table: Table) -> str:
    """GitHub's tables."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def text(cell: Cell) -> str:
        value = f"**{cell.text}**" if cell.best else plain(cell.text)
        beside = f" [{cell.interval}]" if cell.interval else f" ({cell.note})" if cell.note else ""
        return value + beside

    def plain(text: str) -> str:
        return text.replace("*", r"\*")  # the mark of references is neither a list's nor emphasis

    heads = _heads(table)
    lines = [f"## {table.title}", "", line(heads), line(["---", *["---:"] * (len(heads) - 1)])]
    lines += [line([text(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, "", *(f"{plain(note)}  " for note in table.notes), ""])


_TEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "$": r"\$", "–": "--", "−": "$-$",
        "†": r"$^\dagger$", "*": r"$^*$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
        "\\": r"\textbackslash{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}  # fmt: skip


def tex_text(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    return "".join(_TEX.get(character, character) for character in text)


def latex(table: Table) -> str:
    """A tabular with booktabs; needs \\usepackage{booktabs,graphicx}."""

    def text(cell: Cell) -> str:
        value = rf"\textbf{{{tex_text(cell.text)}}}" if cell.best else tex_text(cell.text)
        beside = f"[{cell.interval}]" if cell.interval else cell.note and f"({cell.note})"
        return rf"{value} {{\scriptsize {tex_text(beside)}}}" if beside else value

    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex_text(table.title)}. {tex_text(' '.join(table.notes))}}}",
    ]
    lines += [rf"\label{{tab:{table.name}}}", r"\resizebox{\linewidth}{!}{%"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}", r"\toprule"]
    if table.groups:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{tex_text(text)}}}" for text, span in table.groups]
        lines.append(" & ".join(spans) + r" \\")
        start = 1
        rules = []
        for title, span in table.groups:
            if title:
                rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
            start += span
        lines.append(" ".join(rules))
    lines += [" & ".join(tex_text(head) for head in table.heads) + r" \\", r"\midrule"]
    for i, row in enumerate(table.rows):
        if i in table.rules:
            lines.append(r"\midrule")
        lines.append(" & ".join(text(cell) for cell in row) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""]
    return "\n".join(lines)


def table_csv(table: Table) -> str:
    """The table as it is read, intervals in columns of their own."""
    wide = [any(row[i].interval for row in table.rows) for i in range(len(table.heads))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads: list[str] = []
    for head, has_interval in zip(_heads(table), wide, strict=True):
        heads += [head, f"{head} low", f"{head} high"] if has_interval else [head]
    writer.writerow(heads)
    for row in table.rows:
        line: list[str] = []
        for cell, has_interval in zip(row, wide, strict=True):
            low, _, high = cell.interval.partition(", ")
            line += [cell.text, low, high] if has_interval else [cell.text]
        writer.writerow(line)
    return out.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "csv": table_csv}
