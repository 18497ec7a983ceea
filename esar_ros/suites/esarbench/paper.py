"""Tables 2 and 3 of the ESARBench paper, per cent. Another world than this one: shown beside, never mixed."""

from __future__ import annotations

from esar_ros.benchmark.report.table import PaperRows
from esar_ros.mission.task import TIERS

_COLUMNS = (*TIERS, "overall")

# (SR, TSR) in the order of _COLUMNS; table 2.
_VICTIMS = {
    "Random": ((4.68, 4.44), (4.24, 3.87), (1.04, 0.98), (0.00, 0.00), (2.65, 2.47)),
    "FBE": ((13.33, 5.64), (5.83, 0.86), (10.52, 1.54), (2.31, 0.00), (8.19, 2.05)),
    "Pure-MLLM": ((13.21, 6.57), (0.00, 0.00), (1.04, 0.83), (0.00, 0.00), (3.45, 1.80)),
    "SemExp": ((3.23, 0.00), (9.70, 0.55), (8.33, 3.01), (5.56, 1.27), (6.83, 1.21)),
    "VLFM": ((12.10, 3.98), (10.51, 1.69), (6.35, 2.53), (6.96, 5.12), (9.12, 3.17)),
    "NavGPT": ((3.23, 1.87), (4.65, 1.78), (6.35, 1.45), (10.56, 0.00), (5.92, 1.36)),
    "UniGoal": ((8.06, 1.75), (1.82, 0.00), (8.96, 1.02), (7.50, 0.10), (6.47, 0.74)),
    "SPF": ((17.33, 1.21), (4.85, 0.96), (7.50, 0.93), (5.49, 0.59), (8.84, 0.94)),
    "APEX": ((27.83, 1.43), (10.91, 0.99), (6.20, 0.46), (10.83, 0.54), (13.89, 0.87)),
}

# (CDS, RS) in the order of _COLUMNS; table 3.
_CLUES = {
    "Random": ((1.25, 9.55), (3.49, 13.08), (1.04, 7.48), (0.00, 8.75), (1.51, 9.81)),
    "FBE": ((3.65, 13.42), (5.71, 10.43), (3.61, 9.39), (0.27, 6.16), (3.40, 9.97)),
    "Pure-MLLM": ((5.21, 11.78), (2.28, 8.20), (1.82, 6.11), (0.00, 7.08), (2.39, 8.26)),
    "SemExp": ((2.14, 7.72), (5.50, 11.85), (1.80, 8.32), (0.00, 7.88), (2.47, 9.05)),
    "VLFM": ((4.01, 12.44), (4.24, 12.09), (1.36, 7.13), (1.96, 10.30), (2.92, 10.50)),
    "NavGPT": ((4.14, 10.47), (2.93, 11.21), (1.69, 9.72), (4.86, 12.54), (3.30, 10.89)),
    "UniGoal": ((4.71, 10.76), (1.83, 8.92), (3.68, 9.10), (1.13, 8.03), (2.94, 9.27)),
    "SPF": ((5.89, 16.94), (2.22, 12.35), (2.94, 11.54), (3.08, 11.49), (3.53, 13.12)),
    "APEX": ((7.35, 18.65), (4.06, 13.46), (1.36, 9.59), (3.96, 12.10), (4.14, 13.45)),
}

CAVEAT = (
    "The paper's numbers were measured in Unreal Engine 5 with real models and a zero-shot detector; the others in the "
    "embedded simulator, with a detector trained on it and task files of this project's own. They are two worlds: "
    "compare methods within one table, never across."
)


def _row(method: str) -> dict[tuple[str, str], float]:
    row: dict[tuple[str, str], float] = {}
    for table, scores in ((_VICTIMS, ("sr", "tsr")), (_CLUES, ("cds", "rs"))):
        for tier, values in zip(_COLUMNS, table[method], strict=True):
            row |= {(tier, score): value for score, value in zip(scores, values, strict=True)}
    return row


PAPER = PaperRows("ESARBench, tables 2 and 3", {method: _row(method) for method in _VICTIMS}, CAVEAT)
