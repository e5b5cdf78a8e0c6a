"""Expectation maximisation: what Dawid–Skene and its relatives share."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.base import (
    ModelEstimator,
    at_least,
    known_prior,
    one_of,
    to_fit,
    warn_not_converged,
)
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.estimators.spectral import Spectral
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_posteriors,
    count_votes,
    expected_counts,
    safe_log,
    weighted_votes,
)
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Begin = Literal["mv", "shares"] | Model
EMStart = Begin | Literal["spectral", "blind"]


class Parameters(NamedTuple):
    """What an M-step finds: the model, and what the next E-step multiplies instead, if not it.

    ``credit`` is the logarithm of what was thought of this model beforehand, up to a constant: what
    an M-step with pseudo-labels maximises beside the likelihood.
    """

    confusions: Floats
    prior: Floats
    evidence: tuple[Floats, Floats]
    log_prior: float = 0.0


class EMResult(NamedTuple):
    """Where EM ended and the sums that led there, log-likelihoods on the way, why it stopped."""

    parameters: Parameters
    sums: ExpectedCounts
    history: Floats
    stopped: str


NEARLY = 1000.0
"""EM has nearly ended when the likelihood rises by so many times the tolerance."""

EStep = Callable[[Parameters], ExpectedCounts]
MStep = Callable[[ExpectedCounts], Parameters]


def run_em(
    e_step: EStep,
    m_step: MStep,
    sums: ExpectedCounts,
    n_responses: float,
    max_iter: int,
    tolerance: float,
) -> EMResult:
    """Alternate M- and E-steps from these sums until likelihood and credit no longer rise.

    ``tolerance`` is the rise per label. Where the answers are is the E-step's business alone.
    """
    parameters = m_step(sums)
    history: list[float] = []
    log_posterior = -np.inf
    for _ in range(max_iter):
        sums = e_step(parameters)
        history.append(sums.likelihood)
        last, log_posterior = log_posterior, sums.likelihood + parameters.log_prior
        if log_posterior - last <= tolerance * n_responses:
            return EMResult(parameters, sums, np.array(history), "converged")
        parameters = m_step(sums)
    return EMResult(parameters, sums, np.array(history), "max_iter")


def make_e_step(
    responses: Responses,
    threads: int | None = None,
    fixed: ExpectedCounts | None = None,
    sizes: Floats | None = None,
) -> EStep:
    """The E-step over answers in memory.

    ``fixed`` are the sums of gold items beside them, ``sizes[item]`` how often each item counts.
    """

    def e_step(parameters: Parameters) -> ExpectedCounts:
        found = expected_counts(responses, *parameters.evidence, threads, sizes)
        if fixed is None:
            return found
        return found + replace(fixed, likelihood=_gold_likelihood(fixed, parameters))

    return e_step


class EMEstimator(ModelEstimator):
    """EM, for methods that differ in their M-step only.

    Attributes
    ----------
    log_likelihoods_ ``[iteration]``
        Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k) before each M-step, gold items at their gold class.
    stopped_
        ``"converged"`` or ``"max_iter"``.
    """

    start: EMStart
    max_iter: int
    tolerance: float
    log_likelihoods_: Floats
    stopped_: str

    class_prior: Any = "estimated"
    weights: Floats | None = None

    def _prepare(
        self, annotators: NDArray[Any], classes: NDArray[Any], sums: ExpectedCounts
    ) -> None:
        """Check parameters, and find out what the M-step needs to know beforehand."""

    @property
    def _learns_again(self) -> bool:
        """Whether that depends on these sums, and is better known where EM has nearly ended."""
        return False

    @abstractmethod
    def _m_step(self, sums: ExpectedCounts) -> Parameters:
        """The parameters that fit the expected counts best."""

    def fit(self, responses: Any, gold: Mapping[Any, Any] | None = None) -> Self:
        """Alternate E- and M-steps from the start until the likelihood no longer rises.

        ``gold`` maps items to their known labels, which are held fixed.
        """
        table = to_fit(responses)
        free, fixed, is_gold, truth = _without_gold(table, gold or {}, self.threads)
        sums = self.first_sums(free, self.begin(table)) + fixed
        e_step = make_e_step(free, self.threads, fixed)
        model = self.estimate(e_step, sums, table.n_responses, table.annotators, table.classes)
        self._keep(model, table)
        self.posteriors_[is_gold] = np.eye(table.n_classes)[truth]
        self.labels_[is_gold] = table.classes[truth]
        return self

    def estimate(
        self,
        e_step: EStep,
        sums: ExpectedCounts,
        n_responses: float,
        annotators: NDArray[Any],
        classes: NDArray[Any],
        votes: ExpectedCounts | None = None,
    ) -> Model:
        """The model where EM ends that begins with these sums; how it went is kept.

        What the M-step must know beforehand is learned from the votes, if given, or else from the
        sums; and once more from where EM has nearly come, so that little depends on its start.
        """
        self._prepare(annotators, classes, votes or sums)
        before = np.empty(0)
        if self._learns_again:
            roughly = NEARLY * self.tolerance
            nearly = run_em(e_step, self._m_step, sums, n_responses, self.max_iter, roughly)
            sums, before = nearly.sums, nearly.history
            self._prepare(annotators, classes, sums)
        rounds = self.max_iter - len(before)
        found = run_em(e_step, self._m_step, sums, n_responses, rounds, self.tolerance)
        self.log_likelihoods_ = np.concatenate([before, found.history])
        self.stopped_ = found.stopped
        if found.stopped == "max_iter":
            warn_not_converged(self, self.max_iter)
        confusions, prior, *_ = found.parameters
        return Model(confusions, prior, annotators, classes, self.weights)

    def _shares(self, sums: ExpectedCounts) -> Floats:
        """π of an M-step: the expected shares of classes, unless ``class_prior`` is known."""
        known = known_prior("class_prior", self.class_prior, len(sums.totals))
        return np.asarray(sums.totals / sums.totals.sum()) if known is None else known

    def check(self) -> None:
        """Refuse parameters that no M-step could use."""
        if not isinstance(self.start, Model):
            one_of("start", self.start, ("mv", "shares", "spectral", "blind"))
        at_least("max_iter", self.max_iter, 1)
        at_least("tolerance", self.tolerance, 0)

    def begin(self, table: Responses, votes: ExpectedCounts | None = None) -> Begin:
        """Where to begin: votes, their shares, or a model that is fitted to these items.

        It is fitted to all items: where most are gold, the others may be too few. If these are a
        sample, ``votes`` are those of all.
        """
        self.check()
        if self.start == "spectral":
            return Spectral(threads=self.threads).fit(table).model_
        if self.start == "blind":
            return _blind_start(table, votes, self.threads)
        return self.start

    def first_sums(self, free: Responses, begin: Begin) -> ExpectedCounts:
        """Expected counts of these items where EM begins; those of other items can be added."""
        if begin == "mv":
            return count_votes(free, self.threads)
        if begin == "shares":
            votes = weighted_votes(free)
            total = votes.sum(axis=1, keepdims=True)
            shares = np.divide(votes, total, out=np.zeros_like(votes), where=total > 0)
            return count_posteriors(free, shares, self.threads)
        return begin.for_annotators(free.annotators, free.classes).sums(free, self.threads)


def _blind_start(responses: Responses, votes: ExpectedCounts | None, threads: int | None) -> Model:
    """BlindEnsemble's model (Remark 2), with the vote's columns for classes that it has lost.

    Under Assumption 2 most annotators report a class more often than any other where it is true.
    A column in which they do not belongs to a part of a common class that the solver has split,
    most often in place of a rare one; EM would stay there. So it would where a sample has missed a
    class that others have seen.
    """
    model = BlindEnsemble(threads=threads).learn(responses)
    told = model.confusions.argmax(axis=1) == np.arange(responses.n_classes)
    lost = told.mean(axis=0) < 0.5
    if votes is not None:
        lost |= (responses.responses_per_class == 0) & (votes.totals > 0)
    if not np.any(lost):
        return model
    votes = votes or count_votes(responses, threads)
    confusions, prior = model.confusions.copy(), model.prior.copy()
    confusions[:, :, lost] = vote_confusions(votes.counts)[:, :, lost]
    prior[lost] = votes.totals[lost] / votes.totals.sum()
    return Model(confusions, prior / prior.sum(), model.annotators, model.classes)


def _without_gold(
    responses: Responses, gold: Mapping[Any, Any], threads: int | None
) -> tuple[Responses, ExpectedCounts, NDArray[np.intp], NDArray[np.intp]]:
    """Items to learn about; sums of the gold ones; where those are, and their classes."""
    positions, truth = gold_codes(responses, gold)
    certain = np.eye(responses.n_classes)[truth]
    fixed = count_posteriors(responses.select_items(positions), certain, threads)
    if not len(positions):
        return responses, fixed, positions, truth
    free = np.ones(responses.n_items, dtype=bool)
    free[positions] = False
    return responses.select_items(free), fixed, positions, truth


def _gold_likelihood(fixed: ExpectedCounts, parameters: Parameters) -> float:
    confusions, prior = map(safe_log, parameters.evidence)
    return float(np.sum(fixed.counts * confusions) + fixed.totals @ prior)


def plain_parameters(confusions: Floats, prior: Floats) -> Parameters:
    """Parameters whose evidence is the model itself."""
    return Parameters(confusions, prior, (confusions, prior))
