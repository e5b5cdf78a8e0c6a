"""The methods that an audit compares, and how uncertain they are together about each label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from blindfuse.errors import BlindfuseError
from blindfuse.estimators.base import Estimator, without_warnings
from blindfuse.estimators.held_out import sample_items
from blindfuse.estimators.registry import METHODS
from blindfuse.model.posteriors import most_likely, vote_posteriors, weighted_votes
from blindfuse.parameters import Constraint
from blindfuse.responses.coding import positions
from blindfuse.typing import Codes, Flags, Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


FUSION, VOTE = "fuse", "MajorityVote"
FITTED_METHODS = ("DawidSkene", "OneCoin", "MACE")
"""Methods beside the fusion and the vote: cheap, and different enough to disagree."""


IS_FUSION = Constraint(
    "the result of fuse(responses)", lambda value: getattr(value, "kind", None) == "labels"
)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The labels of all candidate methods of a ``fusion``, itself the first.

    Attributes
    ----------
    labels ``{method: [item]}``
        class codes.
    tied ``[item]``
        whether several classes have most votes, so that the vote is right in proportion.
    error_probability ``[item]``
        mean of the probabilities that the candidates give to other classes than the fused label;
        the vote counts with the share of responses that report another class.
    fitted
        the fitted methods by name.
    """

    fusion: "Fusion"
    labels: dict[str, Codes]
    tied: Flags
    error_probability: Floats
    fitted: dict[str, Estimator]

    @property
    def agree(self) -> Flags:
        """Whether all candidates give the same label, ``[item]``."""
        labels = np.stack(list(self.labels.values()))
        return np.asarray(~self.tied & (labels == labels[0]).all(axis=0))

    def differ(self, method: str, other: str) -> Flags:
        """Whether two methods give different labels, ``[item]``; a tied vote differs from all."""
        different = self.labels[method] != self.labels[other]
        return np.asarray(different | self.tied if VOTE in (method, other) else different)

    def losses(self, method: str, items: Codes, truth: Codes) -> Floats:
        """Whether the labels of these items are wrong, 0 or 1; a tied vote counts in proportion."""
        wrong = np.asarray(self.labels[method][items] != truth, dtype=float)
        if method == VOTE:
            tied = np.flatnonzero(self.tied[items])
            votes = vote_posteriors(self.fusion.responses.select_items(items[tied]))
            votes[votes.sum(axis=1) == 0] = 1 / self.fusion.responses.n_classes
            wrong[tied] = 1 - votes[np.arange(len(tied)), truth[tied]]
        return wrong


def fit_candidates(fusion: "Fusion", seed: int = 0) -> Candidates:
    """Fit the candidate methods to the responses of a fusion, without ground truth.

    Methods are fitted to a sample of the items if there are more than 200,000 responses. Gold
    labels of the fusion are the labels of every candidate. A method that cannot be fitted is left
    out.
    """
    responses, items = fusion.responses, np.arange(fusion.responses.n_items)
    label_codes = positions(fusion.labels, responses.classes)
    votes = weighted_votes(responses)
    most = votes.max(axis=1, keepdims=True)
    labels = {FUSION: label_codes, VOTE: most_likely(votes)}
    confidences = [
        fusion.posteriors[items, label_codes],
        votes[items, label_codes] / np.maximum(votes.sum(axis=1), 1),
    ]
    fitted = {}
    sample = sample_items(responses, seed)
    for name in FITTED_METHODS:
        try:
            with without_warnings():
                method = METHODS[name](threads=fusion.threads).fit(sample)
                posteriors = method.predict_proba(responses)
        except BlindfuseError:
            continue
        fitted[name] = method
        labels[name] = most_likely(posteriors)
        confidences.append(posteriors[items, label_codes])
    tied = (votes == most).sum(axis=1) > 1
    error_probability = np.clip(1 - np.mean(confidences, axis=0), 0.0, 1.0)
    gold = fusion.is_gold
    if gold is not None:
        tied[gold], error_probability[gold] = False, 0.0
        for codes in labels.values():
            codes[gold] = label_codes[gold]
    return Candidates(fusion, labels, tied, error_probability, fitted)
