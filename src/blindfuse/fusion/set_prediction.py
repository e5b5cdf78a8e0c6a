"""Prediction of each response from the other responses to the same item, class by class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from blindfuse.responses.response_sets import ResponseSets

Floats = NDArray[np.float64]

EPSILON = 1e-9
"""Probabilities are kept this far from 0 and 1, so that log odds are finite."""
MAX_CELLS = 5_000_000
"""Responses times classes that are predicted; larger tables are sampled by item."""
MIN_ITEMS = 10
"""Minimum number of items for correlations over items."""


class LeaveOneOut:
    """Prediction of each response from the other responses to the same item.

    ``named[response, class]``, ``rates[response, class, true]`` are the probabilities of "yes" by
    its annotator, ``evidence[item, class]`` the log likelihood ratios of all responses, and
    ``rest[response, class]`` those of the others.
    """

    def __init__(self, table: ResponseSets, rates: Floats, prior: Floats) -> None:
        self.item = table.item_of_response()
        self.named = table.indicators()
        self.rates = rates[table.codes].clip(EPSILON, 1 - EPSILON)
        chances = np.where(self.named[:, :, None], self.rates, 1 - self.rates)
        ratios = np.log(chances[:, :, 1]) - np.log(chances[:, :, 0])
        sums = [np.bincount(self.item, column, table.n_items) for column in ratios.T]
        self.evidence: Floats = np.stack(sums, axis=1).astype(np.float64)
        self.rest = self.evidence[self.item] - ratios

    def predict(self, log_odds: Floats, rows: Any = slice(None)) -> Floats:
        """Probability of "yes" ``[response, class]``, given prior log odds of the classes."""
        applies = expit(self.rest[rows] + log_odds)
        return np.asarray(applies * self.rates[rows, :, 1] + (1 - applies) * self.rates[rows, :, 0])


def score_difficulty(table: ResponseSets, rates: Floats, prior: Floats) -> float:
    """Standard errors by which errors in different classes of the same item are correlated.

    The surprise of a response is the log of its predicted probability minus its expectation. The
    surprises of half of the classes, by half of the responses to an item, are compared with those
    of the other classes by the other responses. If no item is harder than others, they are
    uncorrelated.
    """
    if table.n_items < MIN_ITEMS or table.n_classes < 2:
        return 0.0
    table = table.sample_items(MAX_CELLS)
    held = LeaveOneOut(table, rates, prior)
    yes = held.predict(logit(prior.clip(EPSILON, 1 - EPSILON))).clip(EPSILON, 1 - EPSILON)
    entropy = -yes * np.log(yes) - (1 - yes) * np.log1p(-yes)
    surprise = np.where(held.named, np.log(yes), np.log1p(-yes)) + entropy
    first = np.zeros(table.n_classes, dtype=bool)
    first[np.lexsort((prior.round(9), -table.responses_per_class))[::2]] = True
    position = np.arange(table.n_responses) - table.starts[held.item]
    correlations = []
    for turn in (0, 1):
        halves = [
            np.bincount(held.item, surprise[:, chosen].sum(axis=1) * (position % 2 == side))
            for chosen, side in ((first, turn), (~first, 1 - turn))
        ]
        if min(half.std() for half in halves) > 0:
            correlations.append(float(np.corrcoef(halves[0], halves[1])[0, 1]))
    shared = int(np.count_nonzero(table.responses_per_item >= 2))
    return float(np.sum(correlations) * np.sqrt(shared / 2)) if correlations else 0.0
