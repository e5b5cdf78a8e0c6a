"""`plan_audit`: which items to check by hand, as a stratified random sample."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.diagnostics.items import CONFIDENT
from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.fusion.audit_candidates import Candidates, fit_candidates
from blindfuse.fusion.choice import check_fusion
from blindfuse.parameters import integer_at_least
from blindfuse.responses.coding import as_names, positions

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

CHECKS_PER_STRATUM, MAX_STRATA = 6, 10
"""Mean number of checks per stratum, and strata at most. These two, the next constant and the power
in ``stratified`` were compared in about twenty settings by coverage and width on the crowds of
benchmarks/audits.py; mean coverages were 93.7 to 97.7 %. Five other crowds confirm them."""
MIN_ERROR_PROBABILITY = 1 - CONFIDENT
"""A lower probability of an error is not trusted when the checks are allocated, so that items of
high confidence are checked often enough to find errors that no model expects. It is that of an item
that needs no other label."""
_STREAM = 0x6175646974
"""A random stream of its own: simulated responses may come from a generator of the same seed, and
the sample must not depend on them."""
MIN_CHECKS = 2
"""Checks in every stratum that has as many items, unless the budget is smaller."""


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """Items to check by hand: a stratified simple random sample without replacement.

    Attributes
    ----------
    items ``[check]``
        names of the items. Check them in this order; you can stop at any time.
    positions ``[check]``
        their positions among the items of the fusion.
    probability ``[check]``
        inclusion probabilities n_h/N_h.
    strata ``[check]``
        the stratum of each item, from 0 (all candidate methods agree with high confidence).
    sizes ``[stratum]``
        N_h: how many items of the fusion are in each stratum.
    seed
        the random seed of the sample.
    candidates
        the methods to compare.
    stratum_of_item ``[item]``
        −1 for gold items; None if a file of a plan matches no stratification of the fusion. Then
        the plan can be evaluated but not extended.
    """

    items: NDArray[Any]
    positions: Codes
    probability: Floats
    strata: Codes
    sizes: Floats
    seed: int
    candidates: Candidates = field(repr=False)
    stratum_of_item: Codes | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_left(self) -> int:
        """How many items could still be drawn."""
        return int(self.sizes.sum()) - len(self)

    def more(self, count: int) -> "AuditPlan":
        """Return the plan with ``count`` more items after those that it has.

        Strata and the random order within them stay the same, so the whole is again a stratified
        random sample, whose inclusion probabilities are larger.
        """
        integer_at_least(1).check("more", count)
        if self.stratum_of_item is None:
            raise BadLabels(
                "The plan was made for another fusion, so it cannot be extended. Pass the same "
                "responses and options as before, or make a new plan."
            )
        if count > self.n_left:
            raise BadParameter(
                f"more={count!r} is too large: {self.n_left:,} items are left to check."
            )
        return _extend(self, count)


def plan_audit(fusion: "Fusion", budget: int = 100, seed: int = 0) -> AuditPlan:
    """Choose ``budget`` items to check by hand, such that few checks say much about all labels.

    Items are stratified by the probability of an error, averaged over the candidate methods (see
    :class:`Candidates`), separately where all methods agree and where they do not. Checks are
    allocated to strata in proportion to Σ √(p (1 − p)), where p is that probability (Neyman
    allocation), and every stratum has some, so that no item has probability zero. The estimates of
    :func:`audit` are valid whatever these probabilities are worth; only their precision depends on
    them. Gold items are known and are not drawn.

    Parameters
    ----------
    fusion
        what ``fuse`` returned.
    budget
        number of items to check.
    seed
        random seed of the sample.

    Examples
    --------
    >>> from blindfuse import fuse, plan_audit
    >>> fusion = fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> len(plan_audit(fusion, budget=3).items)
    3
    """
    check_fusion(fusion)
    integer_at_least(1).check("budget", budget)
    integer_at_least(0).check("seed", seed)
    left = _items_to_check(fusion)
    if budget > len(left):
        raise BadParameter(
            f"budget={budget!r} is too large: {len(left):,} items can be checked. Lower it."
        )
    n_strata = int(np.clip(budget // CHECKS_PER_STRATUM, 1, MAX_STRATA))
    candidates = fit_candidates(fusion)
    return draw_plan(candidates, _stratify(candidates, left, n_strata), budget, seed)


def draw_plan(candidates: Candidates, stratum_of_item: Codes, budget: int, seed: int) -> AuditPlan:
    """Draw the sample; the stratum of items that cannot be drawn is −1."""
    sizes = np.bincount(stratum_of_item[stratum_of_item >= 0]).astype(float)
    nothing = np.empty(0, dtype=np.intp)
    empty = AuditPlan(
        candidates.responses.items[nothing],
        *(nothing, np.empty(0), nothing, sizes, int(seed), candidates, stratum_of_item),
    )
    return _extend(empty, budget)


def restore_plan(
    fusion: "Fusion",
    items: Sequence[Any] | NDArray[Any],
    strata: ArrayLike,
    sizes: ArrayLike,
    seed: int = 0,
) -> AuditPlan:
    """Return the plan that drew these items, from the columns of its file.

    ``strata[check]`` is the stratum of each item and ``sizes[check]`` its number of items. They
    were fixed when the items were drawn, so they are used even if this fusion would give others.
    """
    names = as_names(list(items))
    drawn = positions(names, fusion.responses.items)
    if np.any(drawn < 0):
        raise BadLabels(
            f"The plan names items {list_names(names[drawn < 0])}, which are not among the fused "
            "items. Pass the responses that the plan was made for."
        )
    left, candidates = _items_to_check(fusion), fit_candidates(fusion)
    distinct, codes = np.unique(np.asarray(strata), return_inverse=True)
    size_of = np.empty(len(distinct))
    size_of[codes] = sizes
    counts = np.bincount(codes)
    if np.any(size_of < counts) or np.any(size_of[codes] != np.asarray(sizes, dtype=float)):
        raise BadLabels(
            "The plan has strata with several sizes or fewer items than were drawn from them. "
            "Restore the columns stratum and stratum_size of its file."
        )
    stratum_of_item = None
    for n_strata in range(len(distinct), MAX_STRATA + 1):
        found = _stratify(candidates, left, n_strata)
        same_sizes = np.array_equal(np.bincount(found[left]), size_of)
        if same_sizes and np.array_equal(found[drawn], codes):
            stratum_of_item = found
            break
    return AuditPlan(
        *(fusion.responses.items[drawn], drawn, counts[codes] / size_of[codes], codes, size_of),
        *(int(seed), candidates, stratum_of_item),
    )


def _items_to_check(fusion: "Fusion") -> Codes:
    """Positions of the items that are not gold."""
    if fusion.is_gold is None:
        return np.arange(fusion.responses.n_items)
    left = np.flatnonzero(~fusion.is_gold)
    if not len(left):
        raise BadParameter(
            "Every item has a gold label, so there is nothing to check. Fuse without gold labels "
            "to measure the error of the fused labels on them."
        )
    return left


def _stratify(candidates: Candidates, left: Codes, n_strata: int) -> Codes:
    """The stratum of each item, with equal Σ √(p (1 − p)) in all strata; −1 if it is not left.

    Items on which all candidates agree come first, then by increasing probability of an error.
    """
    uncertainty = _uncertainty(candidates)[left]
    error_probability = candidates.error_probability[left]
    order = np.lexsort((error_probability, ~candidates.agree[left]))
    middle = np.cumsum(uncertainty[order]) - uncertainty[order] / 2
    strata = np.minimum(middle / uncertainty.sum() * n_strata, n_strata - 1).astype(np.intp)
    stratum_of_item = np.full(len(candidates.error_probability), -1, dtype=np.intp)
    # Strata without an item, in tiny tables, are left out of the numbering.
    stratum_of_item[left[order]] = np.unique(strata, return_inverse=True)[1]
    return stratum_of_item


def _uncertainty(candidates: Candidates) -> Floats:
    """√(p (1 − p)) per item, with p not too far from 1/2."""
    p = np.clip(candidates.error_probability, MIN_ERROR_PROBABILITY, 1 - MIN_ERROR_PROBABILITY)
    return np.asarray(np.sqrt(p * (1 - p)))


def _extend(plan: AuditPlan, count: int) -> AuditPlan:
    """Draw ``count`` more items: the next ones in the random order of their strata."""
    stratum_of_item = plan.stratum_of_item
    assert stratum_of_item is not None
    available = stratum_of_item >= 0
    available[plan.positions] = False
    left = np.flatnonzero(available)
    keys = np.random.default_rng([_STREAM, plan.seed]).random(len(stratum_of_item))[left]
    order = np.lexsort((keys, stratum_of_item[left]))
    first = np.searchsorted(stratum_of_item[left][order], np.arange(len(plan.sizes)))
    drawn = np.bincount(plan.strata, minlength=len(plan.sizes))
    drawable = stratum_of_item >= 0
    uncertainty = _uncertainty(plan.candidates)[drawable]
    totals = np.asarray(np.bincount(stratum_of_item[drawable], uncertainty), dtype=float)
    sequence = _allocate(totals, plan.sizes, drawn, count)
    nth = _occurrence(sequence)
    new = left[order[first[sequence] + nth]]
    strata = np.concatenate([plan.strata, sequence])
    chosen = np.concatenate([plan.positions, new])
    return replace(
        plan,
        items=plan.candidates.responses.items[chosen],
        positions=chosen,
        strata=strata,
        probability=np.bincount(strata, minlength=len(plan.sizes))[strata] / plan.sizes[strata],
    )


def _allocate(totals: Floats, sizes: Floats, drawn: Codes, count: int) -> Codes:
    """The strata of the next ``count`` checks.

    The next check belongs to the stratum with the largest T_h/√(n_h (n_h + 1)), where T_h is its
    sum of √(p (1 − p)). This is the best allocation of every number of checks (Wright, 2012, "The
    Equivalence of Neyman Optimum Allocation for Sampling and Equal Proportions for Apportioning
    the U.S. House of Representatives"), so a plan extended by others is the plan of the sum.
    """

    def priority(stratum: int, n: int) -> tuple[bool, float]:
        missing = n < min(MIN_CHECKS, int(sizes[stratum]))
        return not missing, (n if missing else -totals[stratum] / np.sqrt(n * (n + 1)))

    numbers = drawn.tolist()
    queue = [(priority(h, n), h) for h, n in enumerate(numbers) if n < sizes[h]]
    heapq.heapify(queue)
    sequence = np.empty(count, dtype=np.intp)
    for check in range(count):
        _, stratum = heapq.heappop(queue)
        sequence[check] = stratum
        numbers[stratum] += 1
        if numbers[stratum] < sizes[stratum]:
            heapq.heappush(queue, (priority(stratum, numbers[stratum]), stratum))
    return sequence


def _occurrence(codes: Codes) -> Codes:
    """How often each code has occurred before, ``[0, 1, 0]`` for ``[5, 5, 7]``."""
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    occurrence = np.empty(len(codes), dtype=np.intp)
    occurrence[order] = np.arange(len(codes)) - np.searchsorted(sorted_codes, sorted_codes)
    return occurrence
