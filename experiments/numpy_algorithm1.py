"""Algorithm 1 as printed in the paper, in NumPy: explicit moments and no acceleration.

It is written from the paper alone. The library's solver is timed and tested against it.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import Model, Responses

Floats = NDArray[np.float64]

ADMM_ITERATIONS = 10
"""ADMM iterations per block (Appendix A)."""


class NumpyAlgorithm1:
    """Algorithm 1, then MAP labels (Algorithm 2), for complete responses.

    Starts at the majority vote and stops when the relative change of the estimates in a sweep is
    less than ``tolerance``, as the library does.
    """

    def __init__(self, tolerance: float = 1e-6, max_sweeps: int = 1000) -> None:
        self.tolerance, self.max_sweeps = tolerance, max_sweeps

    def fit(self, responses: Responses) -> "NumpyAlgorithm1":
        """Estimate the confusion matrices and the prior, and label the items."""
        matrix, K = responses.matrix().astype(np.int64), responses.n_classes
        moments = [_moments(matrix, K, order) for order in (1, 2, 3)]
        confusions, prior = _initial_estimates(matrix, K)
        duals, prior_dual = np.zeros_like(confusions), np.zeros(K)
        for sweep in range(self.max_sweeps):
            before = np.append(confusions, prior)
            for m in range(len(confusions)):
                gram, target = _block(m, moments, confusions, prior)
                confusions[m], duals[m] = _admm(gram, target, confusions[m], duals[m])
            gram, target = _prior_block(moments, confusions)
            prior, prior_dual = _admm(gram, target[None], prior[None], prior_dual[None])
            prior, prior_dual = prior[0], prior_dual[0]
            after = np.append(confusions, prior)
            self.sweeps_ = sweep + 1
            if np.linalg.norm(after - before) < self.tolerance * np.linalg.norm(after):
                break
        self.model_ = Model(confusions, prior, responses.annotators, responses.classes)
        self.posteriors_ = self.model_.posteriors(responses)
        return self


Moments = dict[tuple[int, ...], Floats]


def _moments(matrix: NDArray[Any], K: int, order: int) -> Moments:
    """Return the relative frequencies of joint labels per annotator, pair or triple, (17)–(19)."""
    moments = {}
    for group in combinations(range(matrix.shape[1]), order):
        codes = np.ravel_multi_index(tuple(matrix[:, list(group)].T), [K] * order)
        counts = np.bincount(codes, minlength=K**order)
        moments[group] = counts.reshape([K] * order) / len(matrix)
    return moments


def _initial_estimates(matrix: NDArray[Any], K: int) -> tuple[Floats, Floats]:
    """Estimate Γ and π as if the majority vote were the truth, with one pseudo-count per column."""
    votes = np.stack([(matrix == k).sum(axis=1) for k in range(K)], axis=1).argmax(axis=1)
    counts = np.stack(
        [np.bincount(labels * K + votes, minlength=K * K).reshape(K, K) for labels in matrix.T]
    )
    smoothed = counts + 1 / K
    sizes = np.bincount(votes, minlength=K) + 1 / K
    return smoothed / smoothed.sum(axis=1, keepdims=True), sizes / sizes.sum()


def _block(
    m: int, moments: list[Moments], confusions: Floats, prior: Floats
) -> tuple[Floats, Floats]:
    """Return the Gram matrix and right-hand side of the least squares (23) for Γ_m, (35)–(36)."""
    first, second, third = moments
    row = prior[None]
    gram, target = row.T @ row, first[m,][:, None] * row
    for pair, moment in second.items():
        if m in pair:
            other = confusions[pair[1] if pair[0] == m else pair[0]] * prior
            gram += other.T @ other
            target += (moment if pair[0] == m else moment.T) @ other
    for triple, moment in third.items():
        if m in triple:
            left, right = (other for other in triple if other != m)
            khatri_rao = np.einsum("bk,ck->bck", confusions[left], confusions[right])
            both = khatri_rao.reshape(-1, len(prior)) * prior
            gram += both.T @ both
            unfolded = np.moveaxis(moment, triple.index(m), 0).reshape(len(prior), -1)
            target += unfolded @ both
    return gram, target


def _prior_block(moments: list[Moments], confusions: Floats) -> tuple[Floats, Floats]:
    """Return the Gram matrix and right-hand side of the least squares (22) for π, (30)–(31)."""
    K = confusions.shape[1]
    gram, target = np.zeros((K, K)), np.zeros(K)
    for order in moments:
        for group, moment in order.items():
            khatri_rao = confusions[group[0]]
            for other in group[1:]:
                khatri_rao = np.einsum("xk,bk->xbk", khatri_rao, confusions[other]).reshape(-1, K)
            gram += khatri_rao.T @ khatri_rao
            target += khatri_rao.T @ moment.ravel()
    return gram, target


def _admm(gram: Floats, target: Floats, block: Floats, dual: Floats) -> tuple[Floats, Floats]:
    """Update a block ``[reported, true]`` with columns on the simplex, or π', (31)–(33), (36)–(38).

    λ = tr(G)/K; the proximal weight ν is 1e-6 λ.
    """
    K = len(gram)
    penalty = np.trace(gram) / K
    inverse = np.linalg.inv(gram + (1 + 1e-6) * penalty * np.eye(K))
    proximal_target = target + 1e-6 * penalty * block
    is_prior = len(block) == 1
    for _ in range(ADMM_ITERATIONS):
        free = (proximal_target + penalty * (block + dual)) @ inverse
        shifted = free - dual
        block = (
            np.stack([_project(row) for row in shifted]) if is_prior else _project_columns(shifted)
        )
        dual = dual + block - free
    return block, dual


def _project_columns(matrix: Floats) -> Floats:
    return np.stack([_project(column) for column in matrix.T], axis=1)


def _project(vector: Floats) -> Floats:
    """Return the Euclidean projection on the probability simplex."""
    descending = np.sort(vector)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(vector) + 1)
    return np.asarray(np.maximum(vector - excess[descending > excess][-1], 0.0))
