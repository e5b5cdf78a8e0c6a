"""GLAD: skill of annotators, difficulty of items (Whitehill et al. 2009)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import (
    TableEstimator,
    at_least,
    known_prior,
    to_fit,
    warn_not_converged,
)
from blindfuse.kernels.glad import glad_posteriors, glad_step
from blindfuse.kernels.threads import map_threads
from blindfuse.model.posteriors import LEAST_ITEMS, safe_log
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows

Floats = NDArray[np.float64]

TYPICAL = 1.0
"""Mean of the unit normal priors of α and of log β, Whitehill et al.'s choice."""


class GLAD(TableEstimator):
    """An answer is right with probability σ(α_m β_n), and else any of the other classes alike.

    α is an annotator's skill, below zero for an adversary; 1/β is an item's difficulty. EM, whose
    M-step is one scoring step of every α and log β under priors N(1, 1).

    Parameters
    ----------
    class_prior
        ``"uniform"``, as Whitehill et al. have it, ``"estimated"``, or known shares ``[class]``.
    max_iter, tolerance
        iterations at most, and the rise of the log-posterior per label at which they end.

    Attributes
    ----------
    skills_ ``[annotator]``, difficulties_ ``[item]``
        α and 1/β.
    log_posteriors_ ``[iteration]``
        of answers, skills and difficulties together; it never falls.
    stopped_
        ``"converged"`` or ``"max_iter"``.

    Beliefs about items, of ``fit`` or new, come from the skills alone: their difficulties are
    estimated again with the skills held.
    """

    prior_: Floats
    skills_: Floats
    difficulties_: Floats
    log_posteriors_: Floats
    stopped_: str

    def __init__(
        self,
        *,
        class_prior: Literal["estimated", "uniform"] | Sequence[float] | Floats = "uniform",
        max_iter: int = 1000,
        tolerance: float = 1e-6,
        threads: int | None = None,
    ) -> None:
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.threads = threads

    def fit(self, responses: Any, gold: Mapping[Any, Any] | None = None) -> Self:
        """Alternate beliefs with skills and difficulties until the posterior no longer rises.

        ``gold`` maps items to their known labels, which are held fixed.
        """
        table = to_fit(responses)
        at_least("max_iter", self.max_iter, 1)
        at_least("tolerance", self.tolerance, 0)
        prior = known_prior("class_prior", self.class_prior, table.n_classes)
        known = np.full(table.n_items, -1)
        positions, truth = gold_codes(table, gold or {})
        known[positions] = truth
        self.annotators_, self.classes_ = table.annotators, table.classes
        self.skills_ = np.full(table.n_annotators, TYPICAL)
        self.prior_ = np.full(table.n_classes, 1 / table.n_classes) if prior is None else prior
        learned = self._alternate(table, known, skills=True, shares=prior is None)
        self.log_posteriors_ = np.array(learned.history)
        self.stopped_ = "converged" if learned.converged else "max_iter"
        if not learned.converged:
            warn_not_converged(self, self.max_iter)
        given = self._alternate(table, known)
        self.posteriors_, self.difficulties_ = given.beliefs, np.exp(-given.log_clarities)
        self.labels_ = self._named(self.posteriors_)
        return self

    def _posteriors(self, responses: Responses) -> Floats:
        return self._alternate(responses, np.full(responses.n_items, -1)).beliefs

    def _alternate(
        self,
        responses: Responses,
        known: NDArray[np.intp],
        skills: bool = False,
        shares: bool = False,
    ) -> "_Found":
        """Beliefs and clarities by turns, and skills and class shares where they are to learn."""
        log_clarities = np.full(responses.n_items, TYPICAL)
        history: list[float] = []
        while True:
            beliefs, likelihood = self._e_step(responses, np.exp(log_clarities), known)
            history.append(likelihood + _log_density(log_clarities) + _log_density(self.skills_))
            rise = history[-1] - history[-2] if len(history) > 1 else np.inf
            converged = bool(rise <= self.tolerance * responses.n_responses)
            if converged or len(history) == self.max_iter:
                return _Found(beliefs, log_clarities, history, converged)
            if skills:
                self.skills_ = self._step(
                    responses.by_annotator, self.skills_, np.exp(log_clarities), beliefs, False
                )
            if shares:
                self.prior_ = beliefs.mean(axis=0)
            log_clarities = self._step(
                responses.by_item, log_clarities, self.skills_, beliefs, True
            )

    def _e_step(
        self, responses: Responses, clarities: Floats, known: NDArray[np.intp]
    ) -> tuple[Floats, float]:
        """Beliefs ``[item, class]``, and the log-likelihood of all answers."""
        beliefs = np.empty((responses.n_items, responses.n_classes))
        model = self.skills_, clarities, safe_log(self.prior_), known
        parts = map_threads(
            lambda begin, end: glad_posteriors(*responses.by_item, begin, end, *model, beliefs),
            responses.n_items,
            self.threads,
            LEAST_ITEMS,
        )
        return beliefs, float(sum(parts))

    def _step(
        self, rows: Rows, own: Floats, others: Floats, beliefs: Floats, of_items: bool
    ) -> Floats:
        """One scoring step of every annotator's α, or of every item's log β."""
        moved = np.empty_like(own)
        least = LEAST_ITEMS if of_items else 1
        map_threads(
            lambda begin, end: glad_step(
                *rows, begin, end, own, others, beliefs, of_items, TYPICAL, moved
            ),
            len(own),
            self.threads,
            least,
        )
        return moved


class _Found(NamedTuple):
    """Where the turns ended: ``beliefs[item, class]``, log β of every item, and how they went."""

    beliefs: Floats
    log_clarities: Floats
    history: list[float]
    converged: bool


def _log_density(values: Floats) -> float:
    """Of the prior N(1, 1), but for its constant."""
    return float(-0.5 * np.sum((values - TYPICAL) ** 2))
