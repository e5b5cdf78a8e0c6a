"""How many items each annotator labels, how many of them others label too, and with conflicts."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.pairs import MAX_ITEMS, sample_items
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.typing import Flags, Floats


@dataclass(frozen=True, eq=False)
class Coverage:
    """Shares of all items, as the ``LFAnalysis`` of snorkel shows them.

    ``coverage``, ``overlap`` and ``conflict`` are those of items ``[annotator]`` that the annotator
    responds to, that others respond to as well, and that others respond to differently. ``single``
    and ``disputed`` are those of items with one response, and with responses that differ.
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
    responses = sample_items(responses, MAX_ITEMS)
    M, N = responses.n_annotators, max(responses.n_items, 1)
    votes, items = weighted_votes(responses), responses.item_of_response()
    totals, most = votes.sum(axis=1), votes.max(axis=1)
    annotators, reported = responses.by_item.codes, responses.by_item.symbols

    def share(which: Flags) -> Floats:
        return np.bincount(annotators[which], minlength=M) / N

    return Coverage(
        coverage=responses.responses_per_annotator / N,
        overlap=share((totals > 1)[items]),
        conflict=share(totals[items] > votes[items, reported]),
        responses_per_item=responses.n_responses / N,
        single=float(np.mean(totals == 1)),
        disputed=float(np.mean(totals > most)),
    )
