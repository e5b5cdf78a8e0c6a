"""The optimisation problem (21) in two forms with one interface, ``sweep(factors, settings)``.

A sweep solves (23) for every Γ_m in turn and then (22) for π. Both are quadratic programs with a
Gram matrix and a right-hand side; the two forms differ only in how they compute these sums. The
solution by ADMM, (31)–(33) and (36)–(38), is in :mod:`blindfuse.kernels.admm`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blindfuse.kernels.sweeps import LANES, Groups, sweep_moments, sweep_responses
from blindfuse.kernels.vectors import aligned_empty, padded_length
from blindfuse.moments.moments import Moments, all_tuples, gather_tables, tuple_rank
from blindfuse.responses.canonical import group_identical_items, panels
from blindfuse.responses.responses import Responses
from blindfuse.solver.factors import Factors
from blindfuse.typing import Codes, Floats


@dataclass(frozen=True)
class Settings:
    """Settings of one sweep.

    Attributes
    ----------
    proximal
        ν/λ, the weight of the proximal terms in (22) and (23).
    inner
        I, the number of ADMM iterations per block.
    fixed_prior
        skip (22), as in Remark 4.
    """

    proximal: float = 1e-6
    inner: int = 10
    fixed_prior: bool = False


class Problem(Protocol):
    """A form of (21) that can make one sweep of Algorithm 1."""

    n_items: float

    def sweep(self, factors: Factors, settings: Settings) -> float:
        """Update the factors in place (steps 4–9 of Algorithm 1); return the objective."""
        ...


class MomentProblem:
    """(21) with explicit moments: O(M³R³K) per sweep, independent of the number of items."""

    def __init__(self, moments: Moments, weights: str) -> None:
        self.n_items = moments.n_items
        first, second, third = moments.weights(weights)
        self.first = first[:, None] * moments.first
        self.second, pair_weights = _unfold_pairs(second, moments)
        self.third, triple_weights = _unfold_triples(third, moments)
        self.weights = (first, pair_weights, triple_weights)
        self.constant = 0.5 * float(
            (self.first * moments.first).sum()
            + second @ (moments.second**2).sum(axis=(1, 2))
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


class ResponseProblem:
    """(21) weighted by numbers of items, directly from responses: O(responses · K²) per sweep.

    No moment is formed. The objective is therefore h_N without its constant ½Σw‖moments‖², and may
    be negative. `docs/method.md` derives the sums.
    """

    def __init__(self, responses: Responses) -> None:
        K = responses.n_classes
        self.n_items: float = responses.n_items
        counts = _count_symbols(responses)
        item_counts = counts.sum(axis=1, keepdims=True)
        self.patterns = _groups(*group_identical_items(responses), counts, K)
        self.panels = _groups(*panels(responses), item_counts, K * (K + 1) // 2)

    def sweep(self, factors: Factors, settings: Settings) -> float:
        state = _state(factors, settings)
        return float(sweep_responses(self.patterns, self.panels, self.n_items, *state))


def _groups(distinct: Responses, pattern_of: Codes, counts: Floats, length: int) -> Groups:
    """Return patterns or panels with rows of this length as the kernel takes them."""
    sizes, by_annotator = np.bincount(pattern_of), distinct.by_annotator
    weights = sizes.astype(by_annotator.starts.dtype)[by_annotator.codes]
    buffer = aligned_empty((len(sizes), 2, padded_length(length, LANES)))
    return Groups(distinct.by_item, by_annotator, sizes, weights, counts, buffer)


def _count_symbols(responses: Responses) -> Floats:
    """Return the number of items ``[annotator, symbol]`` to which each symbol was reported."""
    M, R = responses.n_annotators, responses.n_symbols
    _, annotators, symbols = responses.by_item
    cells = annotators.astype(np.intp) * R + symbols
    return np.bincount(cells, minlength=M * R).reshape(M, R).astype(np.float64)


def _unfold_pairs(weights: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Return weighted second moments ``[m, a, (m', b)]`` and their weights ``[m, m']``."""
    M, R = moments.first.shape
    pairs = np.argwhere(~np.eye(M, dtype=bool))
    unfolded, pair_weights = np.zeros((M, R, M, R)), np.zeros((M, M))
    weighted = weights[:, None, None] * moments.second
    unfolded[pairs[:, 0], :, pairs[:, 1]] = gather_tables(weighted, pairs, M)
    pair_weights[pairs[:, 0], pairs[:, 1]] = weights[tuple_rank(pairs, M)]
    return unfolded.reshape(M, R, M * R), pair_weights


def _unfold_triples(weights: Floats, moments: Moments) -> tuple[Floats, Floats]:
    """Return weighted third moments ``[m, a, (pair, b, c)]`` and their weights ``[m, pair]``.

    The pairs are those of the other annotators, in lexicographic order: T^(1) of (23) for each m.
    """
    M, R = moments.first.shape
    others = np.argwhere(~np.eye(M, dtype=bool))[:, 1].reshape(M, M - 1)
    pairs = others[:, all_tuples(M - 1, 2)]
    own = np.broadcast_to(np.arange(M)[:, None, None], (*pairs.shape[:2], 1))
    triples = np.concatenate([own, pairs], axis=2).reshape(-1, 3)
    weighted = gather_tables(weights[:, None, None, None] * moments.third, triples, M)
    unfolded = weighted.reshape(M, -1, R, R, R).swapaxes(1, 2).reshape(M, R, -1)
    return unfolded, weights[tuple_rank(triples, M)].reshape(M, -1)


def _state(factors: Factors, settings: Settings) -> tuple[Floats | bool | float, ...]:
    """Return the last arguments of both kernels: the arrays to update and the settings."""
    return (
        factors.confusions,
        factors.prior,
        factors.duals,
        factors.prior_dual,
        settings.fixed_prior,
        settings.proximal,
        settings.inner,
    )
