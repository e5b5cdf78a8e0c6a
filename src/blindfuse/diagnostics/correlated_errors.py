"""A score test of whether annotators' errors on the same item are correlated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.kernels.pairs import add_correlated_errors
from blindfuse.kernels.threads import map_threads
from blindfuse.model.incidence import incidence
from blindfuse.model.model import Model
from blindfuse.model.posteriors import MIN_ITEMS_PER_THREAD
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MIN_PROBABILITY = 1e-3
"""Recalls are kept this far from 0 and 1; otherwise a single response could decide the test."""


@dataclass(frozen=True)
class CorrelatedErrors:
    """The score of a model of conditionally independent annotators against correlated errors.

    T = Σ_n T_n with T_n = Σ_k P(k | n) Σ_{i<j} r_ik r_jk over pairs of an item's annotators. The
    standardized residual r_ik = (1[f_i ≠ k] − (1 − Γ_i(k, k))) / √(Γ_i(k, k) (1 − Γ_i(k, k)))
    compares the error of i, if k is the class, with its mean. The mean of T is zero where
    annotators are conditionally independent, and positive where some items are harder for everyone
    (Neyman's C(α) test against a common shift). ``z`` is T / √Σ_n T_n².
    """

    z: float

    def __str__(self) -> str:
        return f"z = {round(self.z, 1) + 0.0:+.1f}"


def score_correlated_errors(
    responses: Responses, model: Model, posteriors: Floats, threads: int | None = None
) -> CorrelatedErrors:
    """Score a model of the same annotators and its posteriors ``[item, class]``."""
    recall = np.clip(np.einsum("mkk->mk", model.confusions), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    if_right, if_wrong = -np.sqrt((1 - recall) / recall), np.sqrt(recall / (1 - recall))
    if responses.n_responses < MIN_COMPILED:
        residuals = np.repeat(if_wrong[:, None, :], responses.n_symbols, axis=1)
        K = if_right.shape[1]
        residuals[:, np.arange(K), np.arange(K)] = if_right
        return _score_residuals(responses, posteriors, residuals)

    def add_block(begin: int, end: int) -> Any:
        tables = posteriors, if_right, if_wrong
        return add_correlated_errors(*responses.by_item, begin, end, *tables)

    blocks = map_threads(add_block, responses.n_items, threads, MIN_ITEMS_PER_THREAD)
    total, squares = np.sum(blocks, axis=0)
    return _standardized(float(total), float(squares))


def score_correlated_symbols(
    responses: Responses, model: Model, posteriors: Floats
) -> CorrelatedErrors:
    """The same score for symbols that are not classes, which say more than right or wrong.

    The residual of a symbol r, if k is the class, is its log-likelihood ratio
    log Γ_i(r, k) − log Σ_{l≠k} Γ_i(r, l), standardized under Γ_i(·, k): how much less than usual i
    reports for the class. Errors that two annotators share make both small.
    """
    confusions = np.maximum(model.confusions, MIN_PROBABILITY)
    others = confusions.sum(axis=2, keepdims=True) - confusions
    ratios = np.log(confusions) - np.log(others)
    centred = ratios - (model.confusions * ratios).sum(axis=1, keepdims=True)
    variance = (model.confusions * centred**2).sum(axis=1, keepdims=True)
    residuals = centred / np.sqrt(np.maximum(variance, MIN_PROBABILITY))
    return _score_residuals(responses, posteriors, residuals)


def _score_residuals(
    responses: Responses, posteriors: Floats, residuals: Floats
) -> CorrelatedErrors:
    """The score of ``residuals[annotator, symbol, class]``, without a kernel."""
    by_symbol = residuals.reshape(-1, residuals.shape[2])
    sums, own = incidence(responses) @ by_symbol, incidence(responses) @ by_symbol**2
    scores = (posteriors * (sums**2 - own)).sum(axis=1) / 2
    return _standardized(float(scores.sum()), float((scores**2).sum()))


def _standardized(total: float, squares: float) -> CorrelatedErrors:
    return CorrelatedErrors(total / float(np.sqrt(squares)) if squares > 0 else 0.0)
