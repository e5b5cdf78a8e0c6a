"""Whether annotators err together on an item more than chance makes them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.pairs import add_correlated_errors
from blindfuse.kernels.threads import map_threads
from blindfuse.model.model import Model
from blindfuse.model.posteriors import LEAST_ITEMS
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

NEVER = 1e-3
"""Nobody is taken to err less often, or to be right less often: one answer would decide."""


@dataclass(frozen=True)
class CorrelatedErrors:
    """The score of a model of independent annotators against contested items.

    T = Σ_n T_n with T_n = Σ_k P(k | n) Σ_{i<j} r_ik r_jk over pairs of an item's annotators, where
    r_ik = (1[f_i ≠ k] − (1 − Γ_i(k, k))) / √(Γ_i(k, k) (1 − Γ_i(k, k))) says by how much i erred
    more than it does on average if k is the class. Its mean is zero where annotators are
    independent given the class, and it rises first, of all that can be seen, where some items are
    harder for everybody (Neyman's C(α) test of a common shift). ``z`` is T / √Σ_n T_n².
    """

    z: float

    def __str__(self) -> str:
        return f"{self.z:+.1f} standard errors"


def score_correlated_errors(
    responses: Responses, model: Model, posteriors: Floats, threads: int | None = None
) -> CorrelatedErrors:
    """The score under a model of the same annotators and its posteriors ``[item, class]``."""
    right = np.clip(np.einsum("mkk->mk", model.confusions), NEVER, 1 - NEVER)
    if_right, if_wrong = -np.sqrt((1 - right) / right), np.sqrt(right / (1 - right))

    def add_piece(begin: int, end: int) -> Any:
        tables = posteriors, if_right, if_wrong
        return add_correlated_errors(*responses.by_item, begin, end, *tables)

    total, squares = np.sum(map_threads(add_piece, responses.n_items, threads, LEAST_ITEMS), axis=0)
    return CorrelatedErrors(float(total / np.sqrt(squares)) if squares > 0 else 0.0)
