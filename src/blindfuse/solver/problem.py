"""The optimisation problem (21) in its two forms, with one interface: ``sweep(factors)``."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.sweeps import CACHE_LINE, sweep_labels, sweep_moments
from blindfuse.moments import Moments
from blindfuse.responses import Responses
from blindfuse.solver.factors import Factors
from blindfuse.solver.patterns import answer_patterns, panels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How a sweep is done: ``proximal`` is ν/λ, ``inner`` the ADMM iterations of a block."""

    proximal: float = 1e-6
    inner: int = 10
    fixed_prior: bool = False


class Problem(Protocol):
    """Anything that can improve factors by one sweep of Algorithm 1."""

    def sweep(self, factors: Factors, settings: Settings) -> float:
        """Improve the factors in place (steps 4–9) and return the objective."""
        ...


class MomentProblem:
    """(21) from explicit moments: a sweep costs O(M³K⁴), whatever the number of items."""

    def __init__(self, moments: Moments, weights: str) -> None:
        M, K = moments.means.shape
        first, second, third = moments.weights(weights)
        self.first = first[:, None] * moments.means
        self.weights = (first, *_unfold_weights(M, second, third))
        self.second, self.third = _unfold(
            M, K, second[:, None, None] * moments.cross, third[:, None, None, None] * moments.third
        )
        self.constant = 0.5 * float(
            (self.first * moments.means).sum()
            + second @ (moments.cross**2).sum(axis=(1, 2))
            + third @ (moments.third**2).sum(axis=(1, 2, 3))
        )

    def sweep(self, factors: Factors, settings: Settings) -> float:
        return self.constant + float(
            sweep_moments(
                self.first,
                self.second,
                self.third,
                *self.weights,
                *_state(factors, settings),
            )
        )


class LabelProblem:
    """(21) weighted by numbers of co-labelled items, straight from labels: O(labels · K²) a sweep.

    The constant ½Σw‖moments‖² is not known, because no moment is ever formed: the objective is
    h_N less that constant.
    """

    def __init__(self, responses: Responses) -> None:
        K = responses.n_classes
        self.n_items = responses.n_items
        self.patterns = answer_patterns(responses)
        self.panels = panels(responses)
        self.room = (
            _on_cache_lines(len(self.patterns), 2, K),
            _on_cache_lines(len(self.panels), 2, K * (K + 1) // 2),
        )

    def sweep(self, factors: Factors, settings: Settings) -> float:
        return float(
            sweep_labels(
                *self.patterns.by_pattern,
                *self.patterns.by_annotator,
                self.patterns.sizes,
                *self.panels.by_pattern,
                *self.panels.by_annotator,
                self.panels.sizes,
                self.n_items,
                *self.room,
                *_state(factors, settings),
            )
        )


def _state(factors: Factors, settings: Settings) -> tuple[Floats | bool | float, ...]:
    """The last arguments of both kernels: what a sweep changes in place, and how."""
    return (
        factors.confusions,
        factors.prior,
        factors.duals,
        factors.prior_dual,
        settings.fixed_prior,
        settings.proximal,
        settings.inner,
    )


def _on_cache_lines(*shape: int) -> Floats:
    """Room for an array that begins where a cache line does, so that its rows touch few lines."""
    size = int(np.prod(shape))
    room = np.empty(size + CACHE_LINE // 8)
    skip = -room.ctypes.data % CACHE_LINE // 8
    return room[skip : skip + size].reshape(shape)


def _unfold_weights(M: int, second: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Weights of pairs as ``[m, m']`` and of triples as ``[m, pair of the others]``."""
    pairs = np.zeros((M, M))
    for weight, (m, m2) in zip(second, combinations(range(M), 2), strict=True):
        pairs[m, m2] = pairs[m2, m] = weight
    triples = np.empty((M, (M - 1) * (M - 2) // 2))
    for m, position, triple, _ in _triples_of_each(M):
        triples[m, position] = third[triple]
    return pairs, triples


def _unfold(M: int, K: int, cross: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Pairs as ``[m, a, (m', b)]`` and triples as ``[m, a, (pair of the others, b, c)]``."""
    second = np.zeros((M, K, M, K))
    for table, (m, m2) in zip(cross, combinations(range(M), 2), strict=True):
        second[m, :, m2], second[m2, :, m] = table, table.T
    unfolded = np.empty((M, K, (M - 1) * (M - 2) // 2, K, K))
    for m, position, triple, axis in _triples_of_each(M):
        unfolded[m, :, position] = np.moveaxis(third[triple], axis, 0)
    return second.reshape(M, K, M * K), unfolded.reshape(M, K, -1)


def _triples_of_each(M: int) -> Iterator[tuple[int, int, int, int]]:
    """For each annotator m: the pairs of others, the triple each makes with m, and m's axis."""
    triple_at = {tuple(triple): at for at, triple in enumerate(combinations(range(M), 3))}
    for m in range(M):
        others = [other for other in range(M) if other != m]
        for position, pair in enumerate(combinations(others, 2)):
            triple = tuple(sorted((m, *pair)))
            yield m, position, triple_at[triple], triple.index(m)
