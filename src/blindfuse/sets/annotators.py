"""How well annotators name the classes of items: recall, precision and remarks."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from blindfuse.errors import list_names
from blindfuse.responses.notes import percent_range
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.typing import Array, Flags, Floats

FLAGS = {
    "nothing": "names no class in any response",
    "everything": "names every class in every response",
    "constant": "always names the same set",
    "unrelated": "names classes no more often where they apply than elsewhere",
}
"""Remarks, by the values of ``RatedSetAnnotators.flags``."""


@dataclass(frozen=True, eq=False)
class RatedSetAnnotators:
    """Estimates per annotator; NaN without responses.

    ``recall`` is the share of the classes that apply which the annotator names, with its 95 %
    interval; ``precision`` the share of the named classes that apply, NaN for annotators who name
    none; ``false_alarms`` the share of the classes that do not apply which the annotator names.
    ``mean_size`` is the mean number of classes per response. ``flags`` are keys of FLAGS, or "".
    """

    names: Array
    n_responses: Array
    mean_size: Floats
    recall: Floats
    recall_low: Floats
    recall_high: Floats
    precision: Floats
    false_alarms: Floats
    flags: tuple[str, ...]

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall; 0 for annotators who name no class."""
        total = self.precision + self.recall
        with np.errstate(invalid="ignore"):
            f1 = np.where(total > 0, 2 * self.precision * self.recall / total, 0.0)
        return np.where(self.n_responses > 0, f1, np.nan)

    def summary(self) -> str:
        """Typical recall and precision, and who has a remark."""
        shares = np.stack([self.recall, self.precision])[:, self.n_responses > 0]
        if np.isnan(shares).all(axis=1).any():
            return "No class is named or none applies, so recall and precision are not known."
        recall, precision = np.nanquantile(shares, [0.25, 0.75], axis=1).T
        text = (
            f"They name {percent_range(*recall)} of the classes that apply (recall), "
            f"and {percent_range(*precision)} of those they name apply (precision), "
            "for half of the annotators (interquartile range)."
        )
        remarks = (
            f"{list_names(self.names[np.array(self.flags) == flag])} {FLAGS[flag]}."
            for flag in FLAGS
            if flag in self.flags
        )
        return " ".join([text, *remarks])


def rate_set_annotators(
    table: ResponseSets, posteriors: Floats, rates: Floats
) -> RatedSetAnnotators:
    """Rate annotators from posteriors ``[item, class]`` and ``rates[annotator, class, true]``.

    ``rates`` are the probabilities that an annotator names a class which does not apply, and one
    that does. Their means over classes are weighted by how often each case is expected among the
    items of the annotator.
    """
    n = table.responses_per_annotator
    item = table.item_of_response()
    columns = [np.bincount(table.codes, column[item], len(n)) for column in posteriors.T]
    expected = np.stack(columns, axis=1)
    others = n[:, None] - expected
    sizes = np.bincount(table.codes, table.members.sum(axis=1)[table.symbols], len(n))
    with np.errstate(invalid="ignore", divide="ignore"):
        hits = (expected * rates[:, :, 1]).sum(axis=1)
        alarms = (others * rates[:, :, 0]).sum(axis=1)
        n_true = expected.sum(axis=1)
        recall, false_alarms = hits / n_true, alarms / others.sum(axis=1)
        precision = np.where(sizes > 0, hits / (hits + alarms), np.nan)
        mean_size = sizes / n
    low, high = (
        np.where(n > 0, betaincinv(hits + 0.5, np.maximum(n_true - hits, 0) + 0.5, tail), np.nan)
        for tail in (0.025, 0.975)
    )
    unrelated = (n_true >= 10) & (low <= false_alarms)
    return RatedSetAnnotators(
        *(table.annotators, n, mean_size, recall, low, high, precision, false_alarms),
        flags=_flags(table, mean_size, unrelated),
    )


def _flags(table: ResponseSets, mean_size: Floats, unrelated: Flags) -> tuple[str, ...]:
    first, last = (np.full(table.n_annotators, bound) for bound in (len(table.members), -1))
    np.minimum.at(first, table.codes, table.symbols)
    np.maximum.at(last, table.codes, table.symbols)
    enough = table.responses_per_annotator >= 5
    cases = {
        "nothing": enough & (mean_size == 0),
        "everything": enough & (mean_size == table.n_classes) & (table.n_classes > 1),
        "constant": enough & (first == last),
        "unrelated": unrelated,
    }
    return tuple(np.select(list(cases.values()), list(cases), "").tolist())
