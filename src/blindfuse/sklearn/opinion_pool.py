"""How much the probabilities of each classifier count, learned from out-of-fold predictions.

The score of class k is w_0 log v_k + Σ_m w_m log p_mk, a log-linear opinion pool (Genest and Zidek
1986, "Combining Probability Distributions: A Critique and an Annotated Bibliography"): p_m are the
probabilities of classifier m, and v the better of two votes, the majority vote and the mean
probability. Weights are not negative, and maximise the likelihood of the training labels. A ridge
penalty draws every w_m towards 0, and so the pool towards the vote; cross-validation chooses it.
The pool replaces the vote only if its cross-validated log-loss is smaller by two standard errors.

===========  ==============  ===================================================
symbol       variable        shape
===========  ==============  ===================================================
p            probabilities   ``[item, classifier, class]``
log v, log p logs            ``[item, 1 + classifier, class]``, the vote first
w            weights         ``[1 + classifier]``
===========  ==============  ===================================================
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.typing import Codes, Floats

Vote = Literal["MajorityVote", "SoftVote"]

FLOOR = 0.01
"""Smallest probability: trees and nearest neighbours say 0 where they have seen few items."""
RIDGES = (1000.0, 100.0, 10.0, 1.0)
"""Ridge penalties, from near the vote to scikit-learn's default for logistic regression."""
FOLDS = 5
"""Folds of the cross-validation, as in scikit-learn."""


@dataclass(frozen=True, eq=False)
class OpinionPool:
    """Votes or weighted probabilities of classifiers, and the reason for the choice."""

    vote: Vote
    weights: Floats
    is_weighted: bool
    why: str

    @property
    def name(self) -> str:
        """The name of the method that labels items."""
        return "OpinionPool" if self.is_weighted else self.vote

    def posteriors(self, probabilities: Floats) -> Floats:
        """Posteriors ``[item, class]`` of ``probabilities[item, classifier, class]``."""
        if not self.is_weighted:
            return vote_shares(probabilities, self.vote)
        return np.asarray(softmax(_scores(_logs(probabilities, self.vote), self.weights), axis=1))


def vote_shares(probabilities: Floats, vote: Vote) -> Floats:
    """Mean probabilities, or shares of the majority vote whose ties they break, ``[item, class]``.

    All probabilities together are worth one vote, so that they only break ties.
    """
    mean = probabilities.mean(axis=1)
    if vote == "SoftVote":
        return np.asarray(mean)
    M, K = probabilities.shape[1:]
    votes = np.eye(K)[probabilities.argmax(axis=2)].sum(axis=1)
    return np.asarray((votes + mean) / (M + 1))


def fit_opinion_pool(probabilities: Floats, truth: Codes) -> OpinionPool:
    """Learn the weights from out-of-fold ``probabilities[item, classifier, class]`` and labels."""
    vote, vote_error = _better_vote(probabilities, truth)
    n_items, n_classifiers, n_classes = probabilities.shape
    rng = np.random.default_rng(0)
    # Two million probabilities tell as much about the weights as more would.
    used = rng.permutation(n_items)[: max(1, 2_000_000 // (n_classifiers * n_classes))]
    logs, labels = _logs(probabilities[used], vote), truth[used]
    ridge, gain = _cross_validate(logs, labels)
    error = gain.std() / np.sqrt(len(gain)) if len(gain) else 0.0
    described = "majority vote" if vote == "MajorityVote" else "soft vote"
    measured = (
        f"Out of fold, the {described} mislabels {vote_error:.1%} of {n_items:,} training items, "
        "the fewest of hard and soft votes"
    )
    if not len(gain):
        return OpinionPool(vote, _vote_only(logs), False, f"{measured}.")
    compared = (
        f"weighted probabilities reduce its log-loss by {gain.mean():.4f} "
        f"(standard error {error:.4f})"
    )
    weights = _fit_weights(logs, labels, ridge, _vote_only(logs))
    if gain.mean() > max(SIGNIFICANT_Z * error, 1e-4):  # less is rounding of the optimiser
        return OpinionPool(vote, weights, True, f"{measured}; {compared}.")
    why = f"{measured}; {compared}, less than {SIGNIFICANT_Z:g} standard errors."
    return OpinionPool(vote, _vote_only(logs), False, why)


def _better_vote(probabilities: Floats, truth: Codes) -> tuple[Vote, float]:
    """The vote with fewer errors, and its error; the soft vote if both have as many."""
    errors: dict[Vote, float] = {
        vote: float(np.mean(vote_shares(probabilities, vote).argmax(axis=1) != truth))
        for vote in ("SoftVote", "MajorityVote")
    }
    best = min(errors, key=lambda vote: errors[vote])
    return best, errors[best]


def _logs(probabilities: Floats, vote: Vote) -> Floats:
    """Logarithms of the vote and of the probabilities, ``[item, 1 + classifier, class]``."""
    first = vote_shares(probabilities, vote)[:, None]
    return np.asarray(np.log(np.maximum(np.concatenate([first, probabilities], axis=1), FLOOR)))


def _scores(logs: Floats, weights: Floats) -> Floats:
    return np.asarray(np.einsum("nmk,m->nk", logs, weights))


def _vote_only(logs: Floats) -> Floats:
    return np.asarray(np.eye(logs.shape[1])[0])


def _cross_validate(logs: Floats, labels: Codes) -> tuple[float, Floats]:
    """Return the best ridge, and how much its pool reduces each item's log-loss, ``[item]``.

    The pool is compared with the vote, whose weight is learned, too. With fewer items than two per
    fold, there is nothing to compare.
    """
    n_items = len(labels)
    if n_items < 2 * FOLDS:
        return RIDGES[0], np.empty(0)
    losses = np.empty((1 + len(RIDGES), n_items))
    for fold in range(FOLDS):
        out = np.arange(n_items) % FOLDS == fold
        weights = _vote_only(logs)
        for row, ridge in enumerate((np.inf, *RIDGES)):
            weights = _fit_weights(logs[~out], labels[~out], ridge, weights)
            losses[row, out] = _log_losses(logs[out], labels[out], weights)
    best = 1 + int(np.argmin(losses[1:].mean(axis=1)))
    return RIDGES[best - 1], losses[0] - losses[best]


def _log_losses(logs: Floats, labels: Codes, weights: Floats) -> Floats:
    scores = log_softmax(_scores(logs, weights), axis=1)
    return np.asarray(-scores[np.arange(len(labels)), labels])


def _fit_weights(logs: Floats, labels: Codes, ridge: float, start: Floats) -> Floats:
    """Weights w ≥ 0 that minimise the log-loss + ½ ridge Σ_m w_m², from ``start``.

    With an infinite ridge, only the weight of the vote is learned.
    """
    only_vote = np.isinf(ridge)
    used = logs[:, :1] if only_vote else logs
    centre = np.eye(used.shape[1])[0]
    # The weight of the vote is drawn towards 1, which bounds it if all labels are right.
    ridges = np.where(centre > 0, 1e-3, 0.0 if only_vote else ridge)
    of_label = used[np.arange(len(labels)), :, labels]

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = _scores(used, weights)
        normalised = log_softmax(scores, axis=1)
        likelihood = normalised[np.arange(len(labels)), labels].sum()
        away = weights - centre
        slope = np.einsum("nmk,nk->m", used, np.exp(normalised)) - of_label.sum(axis=0)
        return 0.5 * np.sum(ridges * away**2) - likelihood, slope + ridges * away

    bounds = [(0.0, None)] * len(centre)
    found = minimize(loss, start[: len(centre)], jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.concatenate([found, np.zeros(len(start) - len(found))])
