"""Simulated multi-label responses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class MultiLabel(NamedTuple):
    """``truth[item, class]``, and responses by row: ``items``, ``annotators``, ``sets``."""

    truth: NDArray[np.bool_]
    items: NDArray[np.intp]
    annotators: NDArray[np.intp]
    members: NDArray[np.bool_]

    @property
    def sets(self) -> list[list[int]]:
        return [np.flatnonzero(row).tolist() for row in self.members]

    def majority(self) -> NDArray[np.bool_]:
        """Whether more than half of the responses contain each class ``[item, class]``."""
        counts = np.bincount(self.items)
        columns = [np.bincount(self.items, column) / counts for column in self.members.T]
        return np.stack(columns, axis=1) > 0.5


def simulate_sets(
    n_items: int = 500, n_annotators: int = 25, n_classes: int = 20, seed: int = 0
) -> MultiLabel:
    """Draw sets of 0 to 4 classes in correlated pairs, and five responses per item.

    Two classes of a pair occur together in 70 % of the cases. Annotators have a sensitivity and a
    false positive rate of their own, which vary a little from class to class.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros((n_items, n_classes), dtype=bool)
    for row in truth:
        for pair in rng.choice(n_classes // 2, rng.integers(0, 3), replace=False):
            kind = rng.random()
            row[2 * pair] = kind < 0.85
            row[2 * pair + 1] = kind < 0.7 or kind >= 0.85
    shape = n_annotators, n_classes
    hits = rng.beta(6, 3, (n_annotators, 1)) + rng.normal(0, 0.08, shape)
    alarms = rng.beta(1.2, 14, (n_annotators, 1)) + rng.normal(0, 0.02, shape)
    items = np.repeat(np.arange(n_items), 5)
    annotators = np.concatenate(
        [rng.choice(n_annotators, 5, replace=False) for _ in range(n_items)]
    )
    rates = np.where(
        truth[items], hits.clip(0.05, 0.98)[annotators], alarms.clip(0.005)[annotators]
    )
    return MultiLabel(truth, items, annotators, rng.random(rates.shape) < rates)


def mean_f1(predicted: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the mean over classes of F1."""
    hits = (predicted & truth).sum(axis=0)
    return float(np.mean(2 * hits / np.maximum(predicted.sum(axis=0) + truth.sum(axis=0), 1)))
