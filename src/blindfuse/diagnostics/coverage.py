"""How many items each annotator labels, how many of them others label too, and with conflicts."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

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
    Annotators fall into ``n_groups`` that share no items.
    """

    coverage: Floats
    overlap: Floats
    conflict: Floats
    responses_per_item: float
    single: float
    disputed: float
    n_groups: int

    def summary(self) -> str:
        """Responses per item, and the share of items on which annotators disagree."""
        text = (
            f"{self.responses_per_item:.1f} responses per item; on {100 * self.disputed:.0f} % of "
            "the items annotators disagree"
        )
        if self.single >= 0.005:
            text += f", and {100 * self.single:.0f} % have only one response"
        if self.n_groups > 1:
            text += (
                f". Annotators fall into {self.n_groups:,} groups that share no items: compare "
                "accuracies only within a group"
            )
        return f"{text}."


def measure_coverage(responses: Responses) -> Coverage:
    """Count, for every annotator, the items that others respond to as well, and differently."""
    n_groups = count_groups(sample_items(responses))
    if n_groups > 1:  # what connects all annotators of a sample suffices
        n_groups = count_groups(responses)
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
        n_groups=n_groups,
    )


def count_groups(responses: Responses) -> int:
    """Return the number of groups of annotators, with responses, that no item links."""
    M, size = responses.n_annotators, responses.n_annotators + responses.n_items
    ends = responses.by_item.codes, responses.item_of_response() + M
    links = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    number, _ = connected_components(links, directed=False)
    alone = responses.responses_per_annotator, responses.responses_per_item
    return int(number - sum(np.count_nonzero(each == 0) for each in alone))
