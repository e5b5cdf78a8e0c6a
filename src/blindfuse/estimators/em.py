"""Expectation maximisation: the algorithm, its starts, and the base class of EM methods."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np

from blindfuse.estimators.base import (
    ClassPrior,
    Iterations,
    ModelEstimator,
    NonNegative,
    fixed_prior,
)
from blindfuse.estimators.baselines.spectral import Spectral
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.model.anchored_votes import MIN_RATIO, ScoreRule
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    count_posteriors,
    count_votes,
    expected_counts,
    safe_log,
    vote_posteriors,
    weighted_votes,
)
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.parameters import any_of, instance_of, one_of
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.responses import Responses
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Array, Codes, Floats

InitialState = Literal["mv", "shares"] | Model
"""The posteriors that EM starts from: hard votes, vote shares, or those of a model."""
EMStart = InitialState | Literal["spectral", "blind"]

ROUGH_TOLERANCE_FACTOR = 10_000.0
"""Pseudo-counts are learned again once EM has converged to this many times the tolerance."""
LEARNINGS = 4
"""How often they are learned again, an iteration apart; they hardly change from then on."""

START_SWEEPS = 200
"""Maximum number of sweeps of BlindEnsemble as a start of EM. Public crowds that need more of them
to converge reach the same maximum of EM from here."""


class EMParameters(NamedTuple):
    """The result of an M-step.

    ``evidence`` holds the confusion matrices and prior that the next E-step multiplies, which may
    differ from those of the model. ``log_prior`` is the log density of the model under the prior
    given by the pseudo-counts, up to a constant. ``weights`` are those of the model.
    """

    confusions: Floats
    prior: Floats
    evidence: tuple[Floats, Floats]
    log_prior: float = 0.0
    weights: Floats | None = None


class EMResult(NamedTuple):
    """The last parameters and expected counts, the log-likelihoods, and why EM stopped."""

    parameters: EMParameters
    expected: ExpectedCounts
    log_likelihoods: Floats
    stopped: str


EStep = Callable[[EMParameters], ExpectedCounts]
MStep = Callable[[ExpectedCounts], EMParameters]


def run_em(
    e_step: EStep,
    m_step: MStep,
    expected: ExpectedCounts,
    n_responses: float,
    max_iter: int,
    tolerance: float,
) -> EMResult:
    """Alternate M- and E-steps from these expected counts until the log posterior stops rising.

    The log posterior is the log-likelihood plus the parameters' log prior. EM stops when it rises
    by at most ``tolerance`` per response. Only the E-step reads the responses.
    """
    parameters = m_step(expected)
    log_likelihoods: list[float] = []
    log_posterior = -np.inf
    for _ in range(max_iter):
        expected = e_step(parameters)
        log_likelihoods.append(expected.log_likelihood)
        last, log_posterior = log_posterior, expected.log_likelihood + parameters.log_prior
        if log_posterior - last <= tolerance * n_responses:
            return EMResult(parameters, expected, np.array(log_likelihoods), "converged")
        parameters = m_step(expected)
    return EMResult(parameters, expected, np.array(log_likelihoods), "max_iter")


def make_e_step(
    responses: Responses,
    threads: int | None = None,
    gold: ExpectedCounts | None = None,
    sizes: Floats | None = None,
) -> EStep:
    """Return the E-step over responses in memory.

    ``gold`` are the counts of gold items, which are added to those of the responses.
    ``sizes[item]`` is the number of times that each item counts.
    """

    def e_step(parameters: EMParameters) -> ExpectedCounts:
        expected = expected_counts(responses, *parameters.evidence, threads, sizes)
        if gold is None:
            return expected
        return expected + replace(gold, log_likelihood=_gold_log_likelihood(gold, parameters))

    return e_step


def estimate_prior(totals: Floats, class_prior: ClassPrior) -> Floats:
    """Return π of an M-step: the proportions of ``totals[class]``, or the given prior."""
    fixed = fixed_prior("class_prior", class_prior, len(totals))
    return np.asarray(totals / totals.sum()) if fixed is None else fixed


def plain_parameters(confusions: Floats, prior: Floats) -> EMParameters:
    """Return parameters whose E-step uses the model itself."""
    return EMParameters(confusions, prior, (confusions, prior))


@dataclass(kw_only=True, eq=False, repr=False)
class EMEstimator(ModelEstimator):
    """The base class of EM methods, which differ in their M-step only.

    Attributes
    ----------
    log_likelihoods_ ``[iteration]``
        Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k) before each M-step; gold items count with their gold
        class only.
    stopped_
        ``"converged"`` or ``"max_iter"``.
    score_rule_
        the rule by which mean scores started EM; None if responses are not scores.
    """

    start: Annotated[
        EMStart,
        any_of(
            one_of("mv", "shares", "spectral", "blind"),
            instance_of(Model, description="a Model"),
        ),
    ] = "mv"
    max_iter: Iterations = 1000
    tolerance: NonNegative = 1e-7
    log_likelihoods_: Floats = field(init=False)
    stopped_: str = field(init=False)
    score_rule_: ScoreRule | None = field(init=False)

    def _initialize_m_step(
        self, annotators: Array, alphabet: Alphabet, expected: ExpectedCounts
    ) -> None:
        """Set what the M-step needs beside expected counts, such as pseudo-counts."""

    @property
    def _initializes_again(self) -> bool:
        """Whether ``_initialize_m_step`` is repeated with the counts near convergence."""
        return False

    @abstractmethod
    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """Return the parameters that fit the expected counts best."""

    def fit(  # type: ignore[override]  # gold labels come second, as users pass them
        self,
        responses: Any,
        gold: Mapping[Any, Any] | None = None,
        *,
        votes: ExpectedCounts | None = None,
        y: None = None,
    ) -> Self:
        """Alternate E- and M-steps from the start until the log posterior stops rising.

        ``gold`` maps items to their known labels, which are held fixed. ``votes`` are the
        :func:`~blindfuse.model.posteriors.count_votes` of the responses, if the caller has them.
        """
        self._fit(self._check_input(responses, y), gold, votes)
        self._warn_unless_converged()
        return self

    def _fit(
        self,
        table: Responses,
        gold: Mapping[Any, Any] | None = None,
        votes: ExpectedCounts | None = None,
    ) -> None:
        unlabelled, gold_counts, is_gold, truth = _split_gold(table, gold, self.threads)
        start = self._resolve_start(table)
        e_step = make_e_step(unlabelled, self.threads, gold_counts)
        names = table.annotators, table.alphabet

        def run(rule: ScoreRule | None) -> Model:
            if votes is not None and start == "mv" and rule is None and gold_counts is None:
                expected = votes
            else:
                expected = initial_counts(unlabelled, start, rule, self.threads)
            if gold_counts is not None:
                expected += gold_counts
            return self._run_em(e_step, expected, table.n_responses, *names)

        self._store(self._run_from_rules(run, self._score_rules(table, start)), table)
        self.posteriors_[is_gold] = np.eye(table.n_classes)[truth]
        self.labels_[is_gold] = table.classes[truth]

    def _score_rules(
        self, table: Responses, start: InitialState, rule: ScoreRule | None = None
    ) -> list[ScoreRule | None]:
        """Return the rules by which scores can start EM; one that is None elsewhere.

        ``rule`` is that of the whole table, if ``table`` is a sample.
        """
        if isinstance(start, Model) or table.anchor.kind != "order":
            return [None]
        first = rule or ScoreRule.of(table)
        second = first.for_unequal_classes(table)
        return [first] if second is None else [first, second]

    def _run_from_rules(
        self, run: Callable[[ScoreRule | None], Model], rules: list[ScoreRule | None]
    ) -> Model:
        """Run EM by each rule, and return the model of the first that is not clearly beaten.

        A later rule must raise the log-likelihood by more than chance, MIN_RATIO.
        """
        self.score_rule_, model = rules[0], run(rules[0])
        for rule in rules[1:]:
            history, stopped = self.log_likelihoods_, self.stopped_
            other = run(rule)
            if self.log_likelihoods_[-1] > history[-1] + MIN_RATIO:
                self.score_rule_, model = rule, other
            else:
                self.log_likelihoods_, self.stopped_ = history, stopped
        return model

    def _run_em(
        self,
        e_step: EStep,
        expected: ExpectedCounts,
        n_responses: float,
        annotators: Array,
        alphabet: Alphabet,
    ) -> Model:
        """Run EM from these expected counts, store its history, and return the model.

        The M-step is initialized from the expected counts. If it learns pseudo-counts, it is
        initialized again near convergence, so that the result depends little on the start. They are
        fixed from then on, so that the log posterior rises.
        """
        self._initialize_m_step(annotators, alphabet, expected)

        def run(max_iter: int, tolerance: float) -> EMResult:
            return run_em(e_step, self._m_step, expected, n_responses, max_iter, tolerance)

        history, left = [np.empty(0)], self.max_iter
        for learned in range(LEARNINGS if self._initializes_again else 0):
            rough = run(1 if learned else left, ROUGH_TOLERANCE_FACTOR * self.tolerance)
            expected, left = rough.expected, left - len(rough.log_likelihoods)
            history.append(rough.log_likelihoods)
            self._initialize_m_step(annotators, alphabet, expected)
            if not left:
                break
        result = run(left, self.tolerance)
        self.log_likelihoods_ = np.concatenate([*history, result.log_likelihoods])
        self.stopped_ = result.stopped
        confusions, prior, _, _, weights = result.parameters
        return Model(confusions, prior, annotators, alphabet.classes, weights, alphabet.symbols)

    def _resolve_start(self, table: Responses, votes: ExpectedCounts | None = None) -> InitialState:
        """Return the start, with ``"spectral"`` and ``"blind"`` replaced by a fitted model.

        The model is fitted to all items, gold ones included, because the others may be too few. If
        ``table`` is a sample, ``votes`` are the votes of all items.
        """
        if self.start == "spectral":
            method = Spectral(threads=self.threads)
            method._fit(table)
            return method.model_
        if self.start == "blind":
            return _fit_blind_start(table, votes, self.threads)
        return self.start


def initial_counts(
    responses: Responses,
    start: InitialState,
    rule: ScoreRule | None,
    threads: int | None,
    sizes: Floats | None = None,
) -> ExpectedCounts:
    """Return the expected counts that EM starts from; counts of other items can be added.

    A partition of scores needs the ``rule`` of the whole table. ``sizes[item]`` is the number of
    times that each item counts.
    """
    if isinstance(start, Model):
        names = responses.annotators, responses.classes, responses.symbols
        model = start.for_annotators(*names)
        return expected_counts(responses, model.weighted_confusions, model.prior, threads, sizes)
    if start == "mv" and sizes is None:
        return count_votes(responses, threads, rule)
    if start == "mv":
        posteriors = vote_posteriors(responses, threads, rule)
    else:
        votes = weighted_votes(responses, rule=rule)
        total = votes.sum(axis=1, keepdims=True)
        posteriors = np.divide(votes, total, out=np.zeros_like(votes), where=total > 0)
    if sizes is not None:
        posteriors = posteriors * sizes[:, None]
    return count_posteriors(responses, posteriors, threads)


def _fit_blind_start(
    responses: Responses, votes: ExpectedCounts | None, threads: int | None
) -> Model:
    """Return BlindEnsemble's model (Remark 2), with lost classes replaced by the majority vote's.

    Under Assumption 2, most annotators report the true class more often than any other. A column
    in which most do not describes a part of a common class that the solver has split, usually in
    place of a rare class, and EM would not recover from it. The same holds for a class that is
    missing from a sample of items but occurs among all items. Where symbols are not classes, no
    symbol stands for a class, and the model is taken as it is.
    """
    model = BlindEnsemble(max_sweeps=START_SWEEPS, threads=threads)._fit_model(responses)
    if not responses.is_plain:
        return model
    most_reported = model.confusions.argmax(axis=1)
    is_lost = (most_reported == np.arange(responses.n_classes)).mean(axis=0) < 0.5
    if votes is not None:
        is_lost |= (responses.responses_per_symbol == 0) & (votes.totals > 0)
    if not np.any(is_lost):
        return model
    votes = votes or count_votes(responses, threads)
    confusions, prior = model.confusions.copy(), model.prior.copy()
    confusions[:, :, is_lost] = vote_confusions(votes.counts)[:, :, is_lost]
    prior[is_lost] = votes.totals[is_lost] / votes.totals.sum()
    return Model(confusions, prior / prior.sum(), model.annotators, model.classes)


def _split_gold(
    responses: Responses, gold: Mapping[Any, Any] | None, threads: int | None
) -> tuple[Responses, ExpectedCounts | None, Codes, Codes]:
    """Return the items without gold, the counts of the others, their positions and classes."""
    positions, truth = gold_codes(responses, gold)
    if not len(positions):
        return responses, None, positions, truth
    one_hot = np.eye(responses.n_classes)[truth]
    gold_counts = count_posteriors(responses.select_items(positions), one_hot, threads)
    unlabelled = np.ones(responses.n_items, dtype=bool)
    unlabelled[positions] = False
    return responses.select_items(unlabelled), gold_counts, positions, truth


def _gold_log_likelihood(gold: ExpectedCounts, parameters: EMParameters) -> float:
    log_confusions, log_prior = map(safe_log, parameters.evidence)
    return float(np.sum(gold.counts * log_confusions) + gold.totals @ log_prior)
