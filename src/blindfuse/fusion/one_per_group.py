"""One response per group of dependent annotators and item, for models that know no groups."""

from dataclasses import dataclass

import numpy as np

from blindfuse.fusion.choice import Floats, PosteriorsOf
from blindfuse.responses.responses import Responses

Groups = tuple[tuple[int, ...], ...]
"""Positions of the annotators of each group."""


def busiest_first(responses: Responses, groups: Groups) -> Groups:
    """The groups with their members in the order of their number of responses."""
    number = responses.responses_per_annotator
    return tuple(tuple(sorted(group, key=lambda m: (-number[m], m))) for group in groups)


def one_per_group(responses: Responses, groups: Groups) -> Responses:
    """The responses with one annotator per group, its first member.

    Where that did not respond, the response of the next member counts.
    """
    head_of = np.arange(responses.n_annotators)
    rank = np.zeros(responses.n_annotators)
    for group in groups:
        members = list(group)
        head_of[members], rank[members] = members[0], np.arange(len(members))
    _, annotators, symbols = responses.by_item
    items, heads = responses.item_of_response(), head_of[annotators]
    order = np.lexsort((rank[annotators], heads, items))
    cells = np.column_stack([items, heads])[order]
    first = np.append(True, np.any(np.diff(cells, axis=0) != 0, axis=1))[: len(cells)]
    merged = Responses.from_codes(
        cells[first, 0],
        cells[first, 1],
        symbols[order][first],
        items=responses.items,
        annotators=responses.annotators,
        classes=responses.classes,
        symbols=responses.symbols,
        anchor=responses.anchor,
    )
    return merged.select_annotators(np.unique(head_of))


@dataclass(frozen=True, eq=False)
class OnePerGroupPosteriors:
    """Posteriors of new items by a method that was fitted to one response per group."""

    groups: Groups
    posteriors_of: PosteriorsOf

    def __call__(self, responses: Responses) -> Floats:
        return self.posteriors_of(one_per_group(responses, self.groups))
