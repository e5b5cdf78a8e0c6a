"""GLAD: skill of annotators and difficulty of items (Whitehill et al. 2009)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from blindfuse.estimators.base import (
    ClassPrior,
    Estimator,
    Iterations,
    NonNegative,
    Threads,
    fixed_prior,
)
from blindfuse.kernels.glad import glad_posteriors, glad_step
from blindfuse.kernels.threads import MIN_ITEMS_PER_THREAD, map_threads
from blindfuse.model.posteriors import safe_log
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Codes, Floats

PRIOR_MEAN = 1.0
"""Mean of the priors N(1, 1) of α and of log β, as in Whitehill et al."""


@dataclass(kw_only=True, eq=False, repr=False)
class GLAD(Estimator):
    """One skill per annotator and one difficulty per item, fitted by EM (Whitehill et al. 2009).

    A response is correct with probability σ(α_m β_n), and otherwise any of the other classes with
    equal probability. α_m is the annotator's skill, negative for an adversary; 1/β_n is the item's
    difficulty. The M-step is one scoring step of every α and log β under priors N(1, 1). Reference:
    Whitehill, Ruvolo, Wu, Bergsma and Movellan (2009), "Whose Vote Should Count More: Optimal
    Integration of Labels from Labelers of Unknown Expertise".

    Parameters
    ----------
    class_prior
        ``"uniform"``, as in the reference, ``"estimated"``, or known probabilities ``[class]``.
    max_iter, tolerance
        maximum number of iterations, and the rise of the log posterior per response at which EM
        stops.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    skills_ ``[annotator]``, difficulties_ ``[item]``
        α and 1/β.
    posteriors_ ``[item, class]``, labels_ ``[item]``
        computed from the skills alone, as for new items: difficulties are estimated again with the
        skills held fixed.
    log_posteriors_ ``[iteration]``
        of responses, skills and difficulties jointly; it never falls.
    stopped_
        ``"converged"`` or ``"max_iter"``.
    """

    class_prior: ClassPrior = "uniform"
    max_iter: Iterations = 1000
    tolerance: NonNegative = 1e-6
    threads: Threads = None

    def fit(  # type: ignore[override]  # gold labels come second, as users pass them
        self, responses: Any, gold: Mapping[Any, Any] | None = None, y: None = None
    ) -> Self:
        """Alternate E- and M-steps until the log posterior stops rising.

        ``gold`` maps items to their known labels, which are held fixed.
        """
        self._fit(self._check_input(responses, y), gold)
        self._warn_unless_converged()
        return self

    def _fit(self, table: Responses, gold: Mapping[Any, Any] | None = None) -> None:
        prior = fixed_prior("class_prior", self.class_prior, table.n_classes)
        known = np.full(table.n_items, -1)
        positions, truth = gold_codes(table, gold)
        known[positions] = truth
        self._remember_names(table)
        self.skills_ = np.full(table.n_annotators, PRIOR_MEAN)
        self.prior_ = np.full(table.n_classes, 1 / table.n_classes) if prior is None else prior
        result = self._run_em(table, known, fit_skills=True, fit_prior=prior is None)
        self.log_posteriors_ = np.array(result.log_posteriors)
        self.stopped_ = "converged" if result.converged else "max_iter"
        result = self._run_em(table, known)
        self.difficulties_ = np.exp(-result.log_clarities)
        self._store_posteriors(result.posteriors)

    def _posteriors(self, responses: Responses) -> Floats:
        return self._run_em(responses, np.full(responses.n_items, -1)).posteriors

    def _run_em(
        self,
        responses: Responses,
        known: Codes,
        fit_skills: bool = False,
        fit_prior: bool = False,
    ) -> "_EMResult":
        """Run EM over posteriors and log β, and over skills and class prior if these are fitted.

        ``known[item]`` is the class code of a gold item and −1 elsewhere.
        """
        log_clarities = np.full(responses.n_items, PRIOR_MEAN)
        history: list[float] = []
        while True:
            posteriors, log_likelihood = self._e_step(responses, np.exp(log_clarities), known)
            history.append(
                log_likelihood + _log_density(log_clarities) + _log_density(self.skills_)
            )
            rise = history[-1] - history[-2] if len(history) > 1 else np.inf
            converged = bool(rise <= self.tolerance * responses.n_responses)
            if converged or len(history) == self.max_iter:
                return _EMResult(posteriors, log_clarities, history, converged)
            if fit_skills:
                self.skills_ = self._scoring_step(
                    responses.by_annotator, self.skills_, np.exp(log_clarities), posteriors, False
                )
            if fit_prior:
                self.prior_ = posteriors.mean(axis=0)
            log_clarities = self._scoring_step(
                responses.by_item, log_clarities, self.skills_, posteriors, True
            )

    def _e_step(
        self, responses: Responses, clarities: Floats, known: Codes
    ) -> tuple[Floats, float]:
        """Return posteriors ``[item, class]`` and the log-likelihood of all responses."""
        posteriors = np.empty((responses.n_items, responses.n_classes))
        model = self.skills_, clarities, safe_log(self.prior_), known
        log_likelihoods = map_threads(
            lambda begin, end: glad_posteriors(*responses.by_item, begin, end, *model, posteriors),
            responses.n_items,
            self.threads,
        )
        return posteriors, float(sum(log_likelihoods))

    def _scoring_step(
        self, rows: Rows, values: Floats, others: Floats, posteriors: Floats, of_items: bool
    ) -> Floats:
        """Return the values after one scoring step of every annotator's α or every item's log β.

        ``others`` are the β of the items or the α of the annotators that the responses involve.
        """
        new = np.empty_like(values)
        map_threads(
            lambda begin, end: glad_step(
                *rows, begin, end, values, others, posteriors, of_items, PRIOR_MEAN, new
            ),
            len(values),
            self.threads,
            MIN_ITEMS_PER_THREAD if of_items else 1,
        )
        return new


class _EMResult(NamedTuple):
    """``posteriors[item, class]``, log β ``[item]``, log posteriors, and whether EM converged."""

    posteriors: Floats
    log_clarities: Floats
    log_posteriors: list[float]
    converged: bool


def _log_density(values: Floats) -> float:
    """Return the log density under the prior N(1, 1), up to a constant."""
    return float(-0.5 * np.sum((values - PRIOR_MEAN) ** 2))
