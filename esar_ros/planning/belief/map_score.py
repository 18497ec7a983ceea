"""The rank that a probability map gives the cell where somebody was found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def map_score(probability: NDArray[np.float64], found: float) -> float:
    """Returns the MapScore of a map: 1 where no other cell is as likely as that of the find, 0 by chance, -1 at worst.

    probability: of the N cells that are searched; found: that of the cell of the find, one of them. With n cells that
    are likelier and m at least as likely, R = (0.5 - r) / 0.5 of r = (n + m) / 2N. Sava, Twardy, Koester and Sonwalkar
    (*Evaluating Lost Person Behavior Models*, Transactions in GIS, 2016).
    """
    above, least = np.count_nonzero(probability > found), np.count_nonzero(probability >= found)
    return (0.5 - (above + least) / (2.0 * probability.size)) / 0.5
