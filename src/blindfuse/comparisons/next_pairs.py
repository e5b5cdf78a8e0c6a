"""`next_pairs`: which comparisons to ask for next, from which judges."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from blindfuse.comparisons.model import SLOPE, expected_information
from blindfuse.comparisons.ranking import Ranking
from blindfuse.parameters import instance_of, integer_at_least
from blindfuse.typing import Array, Flags, Floats

MAX_ITEMS, MAX_JUDGES = 500, 20
"""Items whose ranks are most uncertain, and judges with the largest slopes, that are considered."""


@dataclass(frozen=True, eq=False)
class PairRequests:
    """Comparisons to ask for, in this order.

    ``left[request]``, ``right[request]`` and ``annotators[request]`` are names; ``gains[request]``
    is the expected decrease of what is uncertain about the order of all pairs of items, in nats.
    """

    left: Array
    right: Array
    annotators: Array
    gains: Floats

    def __len__(self) -> int:
        return len(self.gains)


def next_pairs(ranking: Ranking, budget: int) -> PairRequests:
    """The ``budget`` comparisons that would narrow the ranking most, and by which judges.

    A comparison of i and j with the information w changes the covariance V of the strengths by
    −u uᵀ / (1/w + dᵀVd), where d = e_i − e_j and u = V d. It says ½ q² (d_ab·u)² / (1/w + dᵀVd)
    nats about the order of a and b, where q² = φ(z)² / (Φ(z) Φ(−z) s²) and z = m/s for the mean m
    and the standard deviation s of their difference. The comparisons with the largest sums over all
    pairs are taken one after the other, each as if the previous ones had been made.
    """
    instance_of(Ranking, description="a Ranking of fuse_pairs").check("ranking", ranking)
    integer_at_least(1).check("budget", budget)
    items = np.argsort(ranking.rank_low - ranking.rank_high, kind="stable")[:MAX_ITEMS]
    mean, groups = ranking.posterior.mean[items], ranking.groups[items]
    root = ranking.posterior.root[items]
    V = root @ root.T
    comparable = (groups[:, None] == groups) & ~np.eye(len(items), dtype=bool)
    effects = ranking.evidence.chosen.effects
    judges = np.argsort(-effects[:, SLOPE], kind="stable")[:MAX_JUDGES]
    difference = mean[:, None] - mean
    tie = ranking.evidence.chosen.tie
    information = np.stack([expected_information(difference, effects[k], tie) for k in judges])
    best, most = information.argmax(axis=0), information.max(axis=0)
    requests = []
    for _ in range(budget if comparable.any() else 0):
        L = _order_information(difference, V, comparable)
        gained = V @ (np.diag(L.sum(axis=1)) - L) @ V
        gain = _spreads(gained) / (1 / np.maximum(most, 1e-12) + _spreads(V)) / 2 * comparable
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        requests.append((i, j, judges[best[i, j]], gain[i, j]))
        u = V[:, i] - V[:, j]
        V = V - np.outer(u, u) / (1 / most[i, j] + u[i] - u[j])
    rows = np.array(requests, dtype=float).reshape(-1, 4)
    i, j, k = rows[:, :3].T.astype(np.intp)
    names, annotators = ranking.items[items], ranking.comparisons.annotators
    return PairRequests(names[i], names[j], annotators[k], rows[:, 3])


def _spreads(covariance: Floats) -> Floats:
    """Return the variance of the difference of each pair of items."""
    variances = np.diag(covariance)
    return np.asarray(variances[:, None] + variances - 2 * covariance)


def _order_information(difference: Floats, V: Floats, comparable: Flags) -> Floats:
    """Return q² of each pair."""
    variances = np.where(comparable, np.maximum(_spreads(V), 1e-12), 1.0)
    z = difference / np.sqrt(variances)
    density = np.exp(-(z**2)) / (2 * np.pi)
    return np.asarray(comparable * density / np.maximum(ndtr(z) * ndtr(-z), 1e-12) / variances)
