"""Groups of annotators with correlated errors, each merged into one annotator.

Two annotators that repeat each other look nearly perfect to EM, and would be followed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.dependence import Dependence, find_dependence, group_weights
from blindfuse.diagnostics.pairs import MIN_COMMON_ITEMS, PairCounts
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.groups import fit_groups
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.held_out import (
    HELD_OUT_TOLERANCE,
    HeldOut,
    LatentFit,
    fit_independent,
    fit_subtypes,
    sample_items,
)
from blindfuse.fusion.one_per_group import busiest_first, one_per_group
from blindfuse.fusion.repetition import Repetition, explain_by_repetition, is_clearly_a_group
from blindfuse.fusion.tempering import temper_misfit
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MERGED_GROUPS = "EM with merged groups"
"""The name of the method."""
MAX_ROUNDS = 6
"""Times that groups are searched for again under the model that the last search led to."""


@dataclass(frozen=True, eq=False)
class FoundGroups:
    """Dependent groups, the weight of a response ``[annotator]``, and EM with those weights."""

    dependence: Dependence
    weights: Floats
    fitted: DawidSkene


def merge_groups(
    context: FuseContext, pairs: PairCounts, significant_z: float, fits: bool
) -> Choice | Repetition | None:
    """EM with each dependent group merged, or None where that does not explain the correlation.

    It does if one annotator of each group, with all others, appears conditionally independent, and
    if EM without groups does not predict the annotators outside the groups better. A group that
    gives half of all responses is not a group but the crowd that others deviate from, and one that
    gives a third must agree far more than the others do. Where annotators who repeat each other
    explain a group as well, those are returned; ``fits`` says that EM explains pairwise agreement.
    """
    responses, threads = context.responses, context.threads
    found = _find_groups(context, pairs)
    groups = found.dependence.groups
    for group in groups:
        repetition = explain_by_repetition(responses, pairs, group, fits)
        if repetition is not None:
            return repetition
    sizes = [responses.responses_per_annotator[list(group)].sum() for group in groups]
    if not sizes or max(sizes) >= responses.n_responses / 2:
        return None
    if not all(is_clearly_a_group(responses, pairs, group) for group in groups):
        return None
    held_out = HeldOut(
        sample_items(one_per_group(responses, busiest_first(responses, groups)), context.seed)
    )
    one = held_out.predict(fit_independent(threads, shrinkage=DEFAULT_PSEUDO_COUNT))
    two = held_out.predict(fit_subtypes(2, threads))
    if held_out.is_better(two, one, significant_z):
        return None
    if _are_better_apart(context, found, significant_z):
        return None
    joint, posteriors, history = fit_groups(
        responses, groups, found.weights, found.fitted.posteriors_, threads
    )
    model = joint.annotators
    choice = Choice(
        MERGED_GROUPS,
        f"Annotators appear conditionally independent once {_count_as_one(groups)}.",
        model,
        posteriors,
        history,
        posteriors_of=joint.posteriors,
        groups=groups,
    )
    # The model accounts for correlation inside groups, so those pairs do not test its fit.
    return temper_misfit(choice, context, pairs.compare_with(model).outside_groups(groups))


def _count_as_one(groups: tuple[tuple[int, ...], ...]) -> str:
    """What is merged, as a clause; the diagnostics name the members."""
    total = sum(map(len, groups))
    if len(groups) == 1:
        return f"the {total:,} with correlated errors count as one"
    return f"{len(groups):,} groups with correlated errors, {total:,} in all, count as one each"


def _are_better_apart(context: FuseContext, found: FoundGroups, significant_z: float) -> bool:
    """Whether EM without groups predicts held-out responses outside the groups better.

    Copiers draw EM towards their own errors, which predict nobody else. Independent annotators of
    high skill agree as well, but others agree with them, and merging them loses what they know.
    """
    groups, weights, threads = found.dependence.groups, found.weights, context.threads
    outside = ~np.isin(np.arange(len(weights)), np.concatenate(groups))
    if not outside.any():
        return False

    def fit_merged(train: Responses) -> LatentFit:
        weighted = DawidSkene(weights=weights, tolerance=HELD_OUT_TOLERANCE, threads=threads)
        start = weighted.fit(train).posteriors_
        joint, posteriors, _ = fit_groups(
            train, groups, weights, start, threads, HELD_OUT_TOLERANCE
        )
        return LatentFit(posteriors, joint.annotators.confusions)

    held_out = HeldOut(context.sample, predicted=outside)
    merged = held_out.predict(fit_merged)
    return held_out.is_better(held_out.predict(fit_independent(threads)), merged, significant_z)


def _find_groups(context: FuseContext, pairs: PairCounts) -> FoundGroups:
    """Search near the vote first, then again with each member's weight reduced, until stable.

    Copiers draw EM towards themselves and then look independent.
    """
    n_annotators = context.responses.n_annotators
    fitted = context.fit_dawid_skene(max_iter=1, shrinkage=DEFAULT_PSEUDO_COUNT)
    weights = np.ones(n_annotators)
    groups: tuple[tuple[int, ...], ...] = ()
    for _ in range(MAX_ROUNDS):
        observed = pairs.compare_with(fitted.model_, MIN_COMMON_ITEMS)
        found = find_dependence(observed, context.responses.annotators)
        if found.groups == groups:
            break
        groups = found.groups
        inside = [np.isin(found.pairs, group).all(axis=1) for group in groups]
        excess = [float(found.excess[one].mean()) for one in inside]
        weights = group_weights(groups, excess, n_annotators)
        fitted = context.fit_dawid_skene(weights=weights)
    return FoundGroups(found, weights, fitted)
