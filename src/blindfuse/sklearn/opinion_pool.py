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
from scipy.special import log_softmax

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
    """Weighted probabilities of classifiers, or a vote without weights, and why."""

    vote: Vote
    weights: Floats | None
    why: str

    @property
    def name(self) -> str:
        """The name of the method that labels items."""
        return self.vote if self.weights is None else "OpinionPool"

    def posteriors(self, probabilities: Floats) -> Floats:
        """Posteriors ``[item, class]`` of ``probabilities[item, classifier, class]``."""
        if self.weights is None:
            return vote_shares(probabilities, self.vote)
        return np.exp(_log_posteriors(_logs(probabilities, self.vote), self.weights))


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
    votes: tuple[Vote, Vote] = ("SoftVote", "MajorityVote")
    wrong = [np.mean(vote_shares(probabilities, v).argmax(axis=1) != truth) for v in votes]
    vote = votes[int(np.argmin(wrong))]
    n_items, n_classifiers, n_classes = probabilities.shape
    measured = (
        f"Out of fold, the {'soft' if vote == 'SoftVote' else 'majority'} vote mislabels "
        f"{min(wrong):.1%} of {n_items:,} training items, the fewest of hard and soft votes"
    )
    # Two million probabilities tell as much about the weights as more would.
    used = np.random.default_rng(0).permutation(n_items)
    used = used[: max(1, 2_000_000 // (n_classifiers * n_classes))]
    if len(used) < 2 * FOLDS:
        return OpinionPool(vote, None, f"{measured}.")
    logs, labels = _logs(probabilities[used], vote), truth[used]
    ridge, gain = _cross_validate(logs, labels)
    error = gain.std() / np.sqrt(len(gain))
    compared = (
        f"{measured}; weighted probabilities reduce its log-loss by {gain.mean():.4f} "
        f"(standard error {error:.4f})"
    )
    if gain.mean() > max(SIGNIFICANT_Z * error, 1e-4):  # less is rounding of the optimiser
        weights = _fit_weights(logs, labels, ridge, np.eye(1 + n_classifiers)[0])
        return OpinionPool(vote, weights, f"{compared}.")
    return OpinionPool(vote, None, f"{compared}, less than {SIGNIFICANT_Z:g} standard errors.")


def _logs(probabilities: Floats, vote: Vote) -> Floats:
    """Logarithms of the vote and of the probabilities, ``[item, 1 + classifier, class]``."""
    first = vote_shares(probabilities, vote)[:, None]
    return np.asarray(np.log(np.maximum(np.concatenate([first, probabilities], axis=1), FLOOR)))


def _log_posteriors(logs: Floats, weights: Floats) -> Floats:
    return np.asarray(log_softmax(np.einsum("nmk,m->nk", logs, weights), axis=1))


def _cross_validate(logs: Floats, labels: Codes) -> tuple[float, Floats]:
    """Return the best ridge, and how much its pool reduces each item's log-loss, ``[item]``.

    The pool is compared with the vote, whose weight is learned, too.
    """
    gains = np.empty((len(RIDGES), len(labels)))
    fold_of = np.arange(len(labels)) % FOLDS
    for fold in range(FOLDS):
        out = np.flatnonzero(fold_of == fold)
        weights, scores = np.eye(logs.shape[1])[0], []
        for ridge in (np.inf, *RIDGES):
            weights = _fit_weights(logs[fold_of != fold], labels[fold_of != fold], ridge, weights)
            scores.append(_log_posteriors(logs[out], weights)[np.arange(len(out)), labels[out]])
        gains[:, out] = np.array(scores[1:]) - scores[0]
    best = int(np.argmax(gains.mean(axis=1)))
    return RIDGES[best], gains[best]


def _fit_weights(logs: Floats, labels: Codes, ridge: float, start: Floats) -> Floats:
    """Weights w ≥ 0 that minimise the log-loss + ½ ridge Σ_m w_m², from ``start``.

    With an infinite ridge, only the weight of the vote is learned.
    """
    vote = np.eye(len(start))[0]
    only_vote = np.isinf(ridge)
    # The weight of the vote is drawn towards 1, which bounds it if all labels are right.
    ridges = np.where(vote > 0, 1e-3, 0.0 if only_vote else ridge)
    rows = np.arange(len(labels))
    of_label = logs[rows, :, labels].sum(axis=0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        posteriors = _log_posteriors(logs, weights)
        away = weights - vote
        slope = np.einsum("nmk,nk->m", logs, np.exp(posteriors)) - of_label
        value = 0.5 * np.sum(ridges * away**2) - posteriors[rows, labels].sum()
        return value, slope + ridges * away

    bounds = [(0.0, 0.0 if only_vote and not m else None) for m in vote]
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
