"""The optimisation problem (21) in its two forms, with one interface: ``sweep(factors)``."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.sweeps import CACHE_LINE, sweep_labels, sweep_moments
from blindfuse.moments.moments import Moments
from blindfuse.moments.tuples import all_tuples, rank, tables_of
from blindfuse.responses.patterns import panels, response_patterns
from blindfuse.responses.responses import Responses
from blindfuse.solver.factors import Factors

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How a sweep is done: ``proximal`` is ν/λ, ``inner`` the ADMM iterations of a block."""

    proximal: float = 1e-6
    inner: int = 10
    fixed_prior: bool = False


class Problem(Protocol):
    """Anything that can improve factors by one sweep of Algorithm 1; it knows how many items."""

    n_items: float

    def sweep(self, factors: Factors, settings: Settings) -> float:
        """Improve the factors in place (steps 4–9) and return the objective."""
        ...


class MomentProblem:
    """(21) from explicit moments: a sweep costs O(M³K⁴), whatever the number of items."""

    def __init__(self, moments: Moments, weights: str) -> None:
        self.n_items = moments.n_items
        first, second, third = moments.weights(weights)
        self.first = first[:, None] * moments.means
        self.second, seen_pairs = _unfold_pairs(second, moments)
        self.third, seen_triples = _unfold_triples(third, moments)
        self.weights = (first, seen_pairs, seen_triples)
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
        self.n_items: float = responses.n_items
        self.patterns = response_patterns(responses)
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


def _unfold_pairs(weights: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Weighted cross moments as ``[m, a, (m', b)]``, and their weights as ``[m, m']``."""
    M, K = moments.means.shape
    pairs = np.argwhere(~np.eye(M, dtype=bool))
    unfolded, seen = np.zeros((M, K, M, K)), np.zeros((M, M))
    weighted = weights[:, None, None] * moments.cross
    unfolded[pairs[:, 0], :, pairs[:, 1]] = tables_of(weighted, pairs, M)
    seen[pairs[:, 0], pairs[:, 1]] = weights[rank(pairs, M)]
    return unfolded.reshape(M, K, M * K), seen


def _unfold_triples(weights: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Third moments likewise as ``[m, a, (pair of the others, b, c)]`` and ``[m, pair]``."""
    M, K = moments.means.shape
    others = np.argwhere(~np.eye(M, dtype=bool))[:, 1].reshape(M, M - 1)
    pairs = others[:, all_tuples(M - 1, 2)]
    own = np.broadcast_to(np.arange(M)[:, None, None], (*pairs.shape[:2], 1))
    triples = np.concatenate([own, pairs], axis=2).reshape(-1, 3)
    weighted = tables_of(weights[:, None, None, None] * moments.third, triples, M)
    unfolded = weighted.reshape(M, -1, K, K, K).swapaxes(1, 2).reshape(M, K, -1)
    return unfolded, weights[rank(triples, M)].reshape(M, -1)


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
