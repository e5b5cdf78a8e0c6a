"""Items that belong to several classes in part: the vote's shares, made honest."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from blindfuse.estimators.base import TableEstimator, at_least, to_fit, warn_not_converged
from blindfuse.kernels.mixed_membership import mix_items
from blindfuse.kernels.threads import map_threads
from blindfuse.model.posteriors import LEAST_ITEMS, weighted_votes
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

STRENGTHS = 1e-2, 1e2
"""Below, every item is of one class; above, all items are alike."""


class MixedMembership(TableEstimator):
    """Every item is a mix of classes, and annotators who look at it draw their answers from it.

    Where Dawid–Skene gives an item one class, and takes agreement for proof of it, here an item n
    has shares q_n ~ Dirichlet(s π) of all classes. Annotator m looks with probability λ_m and then
    reports class a with probability q_n(a); else it reports by habit, b_m(a). The posterior of a
    class is its expected share: what one more annotator who looks would say. That is calibrated
    where annotators err on doubtful items together, and not each for itself.

    The strength s tells how doubtful items are (towards 0 every item is of one class) and is
    learned with λ and b by variational EM. Its bound takes doubtful items for an explanation
    sooner than habits, so that posteriors err on the modest side: exact EM finds planted λ and s
    (this one does not), but is as sure as Dawid–Skene on real crowds, and as wrong. π stays at the
    shares of all answers: learned, it can lose a rare class.

    Parameters
    ----------
    shrinkage
        answers with which each annotator's λ and b are pulled towards the crowd's.
    max_iter, tolerance
        iterations at most, and the rise of the bound per label at which they end.

    Attributes
    ----------
    attention_ ``[annotator]``, guess_probabilities_ ``[annotator, label]``
        λ, how often each annotator looks, and b, what it reports when it does not.
    concentration_, prior_ ``[class]``
        s and π.
    log_likelihoods_ ``[iteration]``
        the variational bound of the log-likelihood.
    """

    attention_: Floats
    guess_probabilities_: Floats
    concentration_: float
    prior_: Floats
    log_likelihoods_: Floats
    stopped_: str

    def __init__(
        self,
        *,
        shrinkage: float = DEFAULT_PSEUDO_COUNT,
        max_iter: int = 500,
        tolerance: float = 1e-5,
        threads: int | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        at_least("max_iter", self.max_iter, 1)
        for name in ("shrinkage", "tolerance"):
            at_least(name, getattr(self, name), 0)
        self.annotators_, self.classes_ = table.annotators, table.classes
        answers = weighted_votes(table).sum(axis=0) + 1 / table.n_classes
        self.prior_ = answers / answers.sum()
        self.attention_ = np.full(table.n_annotators, 0.8)
        self.guess_probabilities_ = np.tile(self.prior_, (table.n_annotators, 1))
        self.concentration_ = 1.0
        history: list[float] = []
        self.stopped_ = "max_iter"
        for _ in range(self.max_iter):
            mixed = self._mix(table)
            history.append(mixed.bound)
            if len(history) > 1 and history[-1] - history[-2] <= self.tolerance * table.n_responses:
                self.stopped_ = "converged"
                break
            self._learn(mixed, table)
        else:
            warn_not_converged(self, self.max_iter)
        self.log_likelihoods_ = np.array(history)
        self.posteriors_ = mixed.shares
        self.labels_ = self._named(self.posteriors_)
        return self

    def _learn(self, mixed: "_Mixed", responses: Responses) -> None:
        """λ, b and s from what was given by habit, and from how mixed the items are."""
        habit, labels = mixed.by_habit, responses.responses_per_annotator
        pull = max(self.shrinkage, 1e-9)
        crowd = habit.sum(axis=0) + 1 / habit.shape[1]
        rate = habit.sum() / responses.n_responses
        self.attention_ = 1 - (habit.sum(axis=1) + pull * rate) / (labels + pull)
        self.guess_probabilities_ = habit + pull * crowd / crowd.sum()
        self.guess_probabilities_ /= self.guess_probabilities_.sum(axis=1, keepdims=True)
        self.concentration_ = _likeliest_strength(self.prior_, mixed.mean_log)

    def _posteriors(self, responses: Responses) -> Floats:
        return self._mix(responses).shares

    def _mix(self, responses: Responses) -> "_Mixed":
        shape = responses.n_annotators, responses.n_classes
        mixes = np.empty((responses.n_items, responses.n_classes))
        model = self.attention_, self.guess_probabilities_, self.concentration_ * self.prior_

        def mix_piece(begin: int, end: int) -> tuple[float, Floats, Floats]:
            by_habit, log_sums = np.zeros(shape), np.zeros(shape[1])
            bound = mix_items(*responses.by_item, begin, end, *model, mixes, by_habit, log_sums)
            return bound, by_habit, log_sums

        parts = map_threads(mix_piece, responses.n_items, self.threads, LEAST_ITEMS)
        bounds, by_habit, log_sums = zip(*parts, strict=True)
        return _Mixed(
            mixes / mixes.sum(axis=1, keepdims=True),
            np.sum(by_habit, axis=0),
            np.sum(log_sums, axis=0) / max(responses.n_items, 1),
            float(sum(bounds)),
        )


class _Mixed(NamedTuple):
    """Expected ``shares[item, class]``, answers ``by_habit[annotator, label]``, the mean of E log q
    ``[class]`` over items, and the bound.
    """

    shares: Floats
    by_habit: Floats
    mean_log: Floats
    bound: float


def _likeliest_strength(prior: Floats, mean_log: Floats) -> float:
    """The s at which Dirichlet(s π) makes shares with this mean of logarithms most likely."""

    def cost(log_strength: float) -> float:
        pseudo = np.exp(log_strength) * prior
        fit = gammaln(pseudo.sum()) - gammaln(pseudo).sum() + (pseudo - 1) @ mean_log
        return -float(fit)

    return float(np.exp(minimize_scalar(cost, bounds=np.log(STRENGTHS), method="bounded").x))
