"""Which column of the estimated confusion matrices is which class (Assumption 2).

(21) does not change when the classes of all factors are permuted alike. Most annotators are
better than random, so the right permutation puts large entries on the diagonals. When adversaries
are in the majority no rule can know.
"""

from collections import Counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.float64]
Alignment = Literal["hungarian", "common"]


def hungarian(confusions: Floats) -> NDArray[np.intp]:
    """The permutation of columns with the largest trace of Σ_m Γ_m, by assignment, never by K!."""
    return _best_columns(confusions.sum(axis=0))


def most_common(confusions: Floats) -> NDArray[np.intp]:
    """The paper's rule (Section III-D): each annotator's own best permutation; the commonest wins.

    Of equally common ones, the one with the larger trace of Σ_m Γ_m.
    """
    own = Counter(tuple(_best_columns(confusion).tolist()) for confusion in confusions)
    total = confusions.sum(axis=0)
    rows = np.arange(len(total))

    def rank(columns: tuple[int, ...]) -> tuple[int, float]:
        return own[columns], float(total[rows, list(columns)].sum())

    return np.array(max(own, key=rank), dtype=np.intp)


def align(
    confusions: Floats, prior: Floats, rule: Alignment = "hungarian"
) -> tuple[Floats, Floats]:
    """Permute the columns of all confusion matrices, and the prior with them."""
    columns = hungarian(confusions) if rule == "hungarian" else most_common(confusions)
    return confusions[:, :, columns], prior[columns]


def _best_columns(matrix: Floats) -> NDArray[np.intp]:
    """Which column stands for each class: the assignment of columns to rows of largest sum."""
    _, columns = linear_sum_assignment(matrix, maximize=True)
    return np.asarray(columns, dtype=np.intp)
