"""Annotators who report the same symbols far more often than their accuracy explains: copies."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.dependence import (
    MAX_NAMED_GROUPS,
    connected_groups,
    group_weights,
    name_groups,
)
from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, Pairs, count_pairs
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.one_per_group import OnePerGroupPosteriors, busiest_first, one_per_group
from blindfuse.fusion.repetition import MIN_REPEATED
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.implied import implied_model
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MIN_COPIED = 0.5
"""Share of the items on which a model expects two annotators to differ that copies agree on."""


@dataclass(frozen=True, eq=False)
class Copies:
    """Groups of annotators who repeat each other, busiest first, and each group's mean excess."""

    groups: tuple[tuple[int, ...], ...]
    excess: tuple[float, ...]

    def describe(self, names: NDArray[Any]) -> str:
        """Who repeats whom, and what follows, in a sentence."""
        named = name_groups(self.groups, names)
        more = "; …" if len(self.groups) > MAX_NAMED_GROUPS else ""
        return f"Annotators repeat each other, and each group counts as one: {named}{more}."

    def merge(self, responses: Responses) -> Responses:
        """Return the responses with one annotator per group."""
        return one_per_group(responses, self.groups)


def find_copies(responses: Responses, model: Model) -> Copies:
    """Find annotators whose symbols agree beyond chance (κ) and beyond what the model expects.

    Accuracy explains that two annotators report the same class, but not the same score for each
    item of a class.
    """
    pairs = count_pairs(responses).compare_with(model).with_common_items(MIN_COMMON_ITEMS)
    excess = _relative_excess(pairs.agreement, pairs.expected_agreement)
    kappa = _relative_excess(pairs.agreement, _chance_agreement(pairs, responses))
    copied = (excess >= MIN_COPIED) & (kappa >= MIN_REPEATED)
    found = connected_groups(pairs.i[copied], pairs.j[copied], pairs.annotators)
    groups = busiest_first(responses, found)
    first = pairs.annotators[pairs.i]
    inside = (excess[copied & np.isin(first, group)] for group in groups)
    return Copies(groups, tuple(float(one.mean()) for one in inside))


def with_all_annotators(choice: Choice, copies: Copies, context: FuseContext) -> Choice:
    """The choice for merged responses, as one for those of all annotators."""
    responses = context.responses
    model = implied_model(responses, choice.posteriors, context.threads)
    weights = group_weights(copies.groups, copies.excess, responses.n_annotators)
    weighted = replace(model, weights=weights)
    return replace(
        choice,
        why=f"{copies.describe(responses.annotators)} {choice.why}",
        model=weighted,
        posteriors_of=OnePerGroupPosteriors(
            copies.groups, choice.posteriors_of or choice.model.posteriors
        ),
        groups=copies.groups,
    )


def _relative_excess(agreement: Floats, expected: Floats) -> Floats:
    return np.asarray((agreement - expected) / np.maximum(1 - expected, 1e-9))


def _chance_agreement(pairs: Pairs, responses: Responses) -> Floats:
    """How often two annotators would agree if they reported symbols independently, ``[pair]``."""
    counts = symbol_counts(responses)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    own = shares[pairs.annotators]
    return np.asarray(np.einsum("pr,pr->p", own[pairs.i], own[pairs.j]))
