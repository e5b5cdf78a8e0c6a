"""Simulated comparisons, and a slow twin of the model that the tests compare with."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Simulated comparisons in columns, with the strengths that they were drawn from."""

    strengths: Floats
    left: NDArray[Any]
    right: NDArray[Any]
    winner: Floats
    judge: NDArray[Any]

    @property
    def columns(self) -> tuple[Any, ...]:
        return self.left, self.right, self.winner, self.judge

    def truth(self, items: NDArray[Any]) -> Floats:
        """The strengths of these items, relative to their mean."""
        return np.asarray(self.strengths[items.astype(int)] - self.strengths.mean())


def simulate_pairs(
    seed: int,
    n_items: int = 12,
    slopes: Any = (1, 1, 1),
    positions: Any = 0.0,
    tie: float = -np.inf,
    per_judge: int = 200,
    spread: float = 0.8,
) -> Pairs:
    """Draw comparisons of random pairs by judges with these slopes and position biases."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, spread, n_items)
    n = len(slopes) * per_judge
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    judge = np.repeat(np.arange(len(slopes)), per_judge)
    eta = np.asarray(slopes)[judge] * (strengths[left] - strengths[right])
    eta = eta + np.broadcast_to(positions, len(slopes))[judge]
    odds = np.stack([np.exp(eta / 2), np.full(n, np.exp(tie)), np.exp(-eta / 2)], axis=1)
    cumulated = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    outcome = (rng.random(n)[:, None] > cumulated[:, :2]).sum(axis=1)
    return Pairs(strengths, left, right, 1 - outcome / 2, judge)


def slow_davidson(pairs: Pairs, ridge: float) -> tuple[Floats, float]:
    """Strengths and τ by a general optimiser, from one row per comparison."""
    n_items, has_ties = len(pairs.strengths), bool(np.any(pairs.winner == 0.5))

    def loss(x: Floats) -> float:
        total = (ridge * (x**2).sum()) / 2
        for left, right, winner in zip(pairs.left, pairs.right, pairs.winner, strict=True):
            half = (x[left] - x[right]) / 2
            logits = [half, -half, x[-1]] if has_ties else [half, -half]
            chosen = {1.0: half, 0.0: -half, 0.5: x[-1]}[float(winner)]
            total += np.logaddexp.reduce(logits) - chosen
        return float(total)

    found = minimize(loss, np.zeros(n_items + 1), method="BFGS", options={"gtol": 1e-7})
    return found.x[:-1] - found.x[:-1].mean(), float(found.x[-1])
