"""Mixed membership: an item belongs to several classes in proportions of its own."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from blindfuse.estimators.base import Estimator, Iterations, NonNegative, Threads
from blindfuse.kernels.mixed_membership import membership_posteriors
from blindfuse.kernels.threads import map_threads
from blindfuse.model.posteriors import MIN_ITEMS_PER_THREAD, weighted_votes
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.patterns import group_identical_items
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

CONCENTRATION_BOUNDS = 1e-2, 1e2
"""At the lower bound every item has one class; at the upper all items have the same proportions."""
MIN_ATTENTION = 1e-12
"""The kernel divides by the probability of attending to an item."""


@dataclass(kw_only=True, eq=False, repr=False)
class MixedMembership(Estimator):
    """A mixed-membership model: each item has its own Dirichlet-distributed class proportions.

    Item n has proportions q_n ~ Dirichlet(s π). Annotator m attends to the item with probability
    λ_m and then reports class a with probability q_n(a); otherwise it guesses by b_m(a). The
    posterior of a class is its expected proportion: the probability that one more attentive
    annotator reports it. Unlike Dawid–Skene, the model does not take agreement as proof of one true
    class, so its posteriors stay calibrated where ambiguous items cause correlated errors.

    Fitted by variational EM, as in latent Dirichlet allocation (Blei, Ng and Jordan 2003, "Latent
    Dirichlet Allocation"). The variational bound prefers ambiguous items to guessing as an
    explanation, so posteriors tend to be underconfident. Exact EM recovers planted λ and s, which
    the variational algorithm does not, but on real crowds it is as overconfident as Dawid–Skene. π
    is fixed at the proportions of all responses, because estimating it can lose a rare class.

    Parameters
    ----------
    shrinkage
        pseudo-counts with which each annotator's λ and b are shrunk towards those of all.
    max_iter, tolerance
        maximum number of iterations, and the rise of the bound per response at which EM stops.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    attention_ ``[annotator]``, guess_probabilities_ ``[annotator, reported]``
        λ, the probability of attending to an item, and b, the probability of each class in a guess.
    concentration_, prior_ ``[class]``
        s, which is small if most items have one class, and π.
    log_likelihoods_ ``[iteration]``
        the variational bound of the log-likelihood.
    stopped_
        ``"converged"`` or ``"max_iter"``.
    """

    shrinkage: NonNegative = DEFAULT_PSEUDO_COUNT
    max_iter: Iterations = 500
    tolerance: NonNegative = 1e-5
    threads: Threads = None

    def _fit(self, table: Responses) -> None:
        self._remember_names(table)
        self._initialize(table)
        distinct, pattern_of = group_identical_items(table)
        sizes = np.bincount(pattern_of).astype(float)
        bounds: list[float] = []
        self.stopped_ = "max_iter"
        for _ in range(self.max_iter):
            # Every E-step begins at the votes, as in predict_proba: one that goes on from the last
            # memberships converges further, to memberships that are far too certain.
            expected = self._e_step(distinct, sizes)
            bounds.append(expected.bound)
            if len(bounds) > 1 and bounds[-1] - bounds[-2] <= self.tolerance * table.n_responses:
                self.stopped_ = "converged"
                break
            self._m_step(expected, table)
        self.log_likelihoods_ = np.array(bounds)
        self._store_posteriors(expected.proportions()[pattern_of])

    def _initialize(self, responses: Responses) -> None:
        votes = weighted_votes(responses).sum(axis=0) + 1 / responses.n_classes
        self.prior_ = votes / votes.sum()
        self.attention_ = np.full(responses.n_annotators, 0.8)
        self.guess_probabilities_ = np.tile(self.prior_, (responses.n_annotators, 1))
        self.concentration_ = 1.0

    def _m_step(self, expected: "_Expected", responses: Responses) -> None:
        """Update λ, b and s from the expected guesses and class proportions."""
        guesses, n_responses = expected.guesses, responses.responses_per_annotator
        pseudo_count = max(self.shrinkage, 1e-9)
        pooled = guesses.sum(axis=0) + 1 / guesses.shape[1]
        own = np.einsum("ma->m", guesses)  # a fifth of the time of a sum over a short axis
        guess_rate = own.sum() / responses.n_responses
        self.attention_ = 1 - (own + pseudo_count * guess_rate) / (n_responses + pseudo_count)
        self.guess_probabilities_ = guesses + pseudo_count * pooled / pooled.sum()
        self.guess_probabilities_ /= (own + pseudo_count)[:, None]
        self.concentration_ = _fit_concentration(self.prior_, expected.mean_log)

    def _posteriors(self, responses: Responses) -> Floats:
        return self._e_step(responses).proportions()

    def _e_step(self, responses: Responses, sizes: Floats | None = None) -> "_Expected":
        """The E-step; ``sizes[item]`` is the number of times that each item counts."""
        sizes = np.ones(responses.n_items) if sizes is None else sizes
        shape = responses.n_annotators, responses.n_classes
        alphas = np.empty((responses.n_items, responses.n_classes))
        looks = np.maximum(self.attention_, MIN_ATTENTION)
        odds = ((1 - looks) / looks)[:, None] * self.guess_probabilities_
        model = looks, odds, self.concentration_ * self.prior_

        def process(begin: int, end: int) -> tuple[float, Floats, Floats]:
            guesses, log_sums = np.zeros(shape), np.empty(shape[1])
            items = *responses.by_item, begin, end, sizes
            bound = membership_posteriors(*items, *model, alphas, guesses, log_sums)
            return bound, guesses, log_sums

        blocks = map_threads(process, responses.n_items, self.threads, MIN_ITEMS_PER_THREAD)
        bounds, guesses, log_sums = zip(*blocks, strict=True)
        return _Expected(
            alphas,
            np.sum(guesses, axis=0),
            np.sum(log_sums, axis=0) / max(float(sizes.sum()), 1.0),
            float(sum(bounds)),
        )


class _Expected(NamedTuple):
    """The result of an E-step.

    Dirichlet parameters ``memberships[item, class]``, expected numbers of
    ``guesses[annotator, reported]``, the mean over items of E[log q], ``mean_log[class]``, and the
    variational bound.
    """

    memberships: Floats
    guesses: Floats
    mean_log: Floats
    bound: float

    def proportions(self) -> Floats:
        """Expected class proportions ``[item, class]``."""
        return np.asarray(self.memberships / self.memberships.sum(axis=1, keepdims=True))


def _fit_concentration(prior: Floats, mean_log: Floats) -> float:
    """Return the s that maximises the likelihood of proportions ~ Dirichlet(s π).

    ``mean_log[class]`` is the mean of their logarithms over items.
    """

    def negative_log_density(log_concentration: float) -> float:
        alpha = np.exp(log_concentration) * prior
        return -float(gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ mean_log)

    bounds = np.log(CONCENTRATION_BOUNDS)
    return float(np.exp(minimize_scalar(negative_log_density, bounds=bounds, method="bounded").x))
