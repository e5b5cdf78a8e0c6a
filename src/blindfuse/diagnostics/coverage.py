"""How many items each annotator labels, how many of them others label too, and with conflicts."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.pairs import MAX_ITEMS
from blindfuse.diagnostics.sampling import evenly_spaced
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.typing import Flags, Floats


@dataclass(frozen=True, eq=False)
class Coverage:
    """Shares of all items per annotator, as the ``LFAnalysis`` of snorkel shows them.

    Attributes
    ----------
    coverage ``[annotator]``
        share of the items that the annotator responds to.
    overlap ``[annotator]``
        share of the items that the annotator and at least one other respond to.
    conflict ``[annotator]``
        share of the items that the annotator and at least one other, who disagrees, respond to.
    responses_per_item
        mean number of responses per item.
    single, disputed
        share of the items with exactly one response, and with responses that differ.
    """

    coverage: Floats
    overlap: Floats
    conflict: Floats
    responses_per_item: float
    single: float
    disputed: float

    def summary(self) -> str:
        """Responses per item, and the share of items on which annotators disagree."""
        text = (
            f"{self.responses_per_item:.1f} responses per item; on {100 * self.disputed:.0f} % of "
            "the items annotators disagree"
        )
        if self.single >= 0.005:
            text += f", and {100 * self.single:.0f} % have only one response"
        return f"{text}."


def measure_coverage(responses: Responses) -> Coverage:
    """Count, for every annotator, the items that others respond to as well, and differently."""
    if responses.n_items > MAX_ITEMS:
        responses = responses.select_items(evenly_spaced(responses.n_items, MAX_ITEMS))
    M, N = responses.n_annotators, responses.n_items
    votes, items = weighted_votes(responses), responses.item_of_response()
    totals = votes.sum(axis=1)
    annotators, reported = responses.by_item.codes, responses.by_item.symbols
    agreeing = votes[items, reported]
    shared, differing = totals[items] > 1, totals[items] > agreeing

    def share(weights: Flags | None = None) -> Floats:
        return np.bincount(annotators, weights, minlength=M) / max(N, 1)

    return Coverage(
        coverage=share(),
        overlap=share(shared),
        conflict=share(differing),
        responses_per_item=responses.n_responses / max(N, 1),
        single=float(np.mean(totals == 1)),
        disputed=float(np.mean(totals > votes.max(axis=1))),
    )
