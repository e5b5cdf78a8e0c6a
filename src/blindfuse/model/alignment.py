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
Alignment = Literal["majority", "hungarian", "common"]


def majority(confusions: Floats, prior: Floats) -> NDArray[np.intp]:
    """The permutation under which most annotators have their largest entries on the diagonal.

    Each annotator votes, for every column, for the row of its largest entry; the assignment with
    most votes wins, the larger trace of Σ_m Γ_m among equals. Assumption 2 is about how many
    annotators are better than random, not how much, so strong adversaries count no more than
    weak ones. Votes on a column weigh as much as its class is common: the column of a rare class
    is mostly noise, and must not take the place of one that is known well.
    """
    M, K, _ = confusions.shape
    largest = confusions.argmax(axis=1)
    votes = (largest[:, None, :] == np.arange(K)[None, :, None]).sum(axis=0)
    return _best_columns((votes + confusions.sum(axis=0) / (M * K + 1)) * prior)


def hungarian(confusions: Floats, _prior: Floats) -> NDArray[np.intp]:
    """The permutation with the largest trace of Σ_m Γ_m, however common the classes are."""
    return _best_columns(confusions.sum(axis=0))


def most_common(confusions: Floats, _prior: Floats) -> NDArray[np.intp]:
    """The paper's rule (Section III-D): each annotator's own best permutation; the commonest wins.

    Of equally common ones, the one with the larger trace of Σ_m Γ_m.
    """
    own = Counter(tuple(_best_columns(confusion).tolist()) for confusion in confusions)
    total = confusions.sum(axis=0)
    rows = np.arange(len(total))

    def rank(columns: tuple[int, ...]) -> tuple[int, float]:
        return own[columns], float(total[rows, list(columns)].sum())

    return np.array(max(own, key=rank), dtype=np.intp)


_RULES = {"majority": majority, "hungarian": hungarian, "common": most_common}


def aligned(confusions: Floats, prior: Floats, rule: Alignment = "majority") -> NDArray[np.intp]:
    """Which column of all confusion matrices, and entry of the prior, stands for each class."""
    return _RULES[rule](confusions, prior)


def _best_columns(matrix: Floats) -> NDArray[np.intp]:
    """Which column stands for each class: the assignment of largest sum, never by K! trials."""
    _, columns = linear_sum_assignment(matrix, maximize=True)
    return np.asarray(columns, dtype=np.intp)
