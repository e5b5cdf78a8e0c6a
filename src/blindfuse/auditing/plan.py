"""`plan_audit`: which items to check by hand, as a stratified random sample."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.auditing.candidates import IS_FUSION, Candidates, fit_candidates
from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.parameters import integer_at_least
from blindfuse.responses.coding import as_names, positions
from blindfuse.typing import Array, Codes, Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


CHECKS_PER_STRATUM, MAX_STRATA = 6, 10
"""Mean number of checks per stratum, and strata at most. These two, the next constant and the power
in ``stratified`` were compared in about twenty settings by coverage and width on the crowds of
benchmarks/audits.py; mean coverages were 93.7 to 97.7 %. Five other crowds confirm them."""
MIN_ERROR_PROBABILITY = 0.1
"""A lower probability of an error is not trusted when the checks are allocated, so that items of
high confidence are checked often enough to find errors that no model expects."""
MIN_CHECKS = 2
"""Checks in every stratum that has as many items, unless the budget is smaller."""


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """Items to check by hand: a stratified simple random sample without replacement.

    Attributes
    ----------
    items, positions, probability, strata ``[check]``
        names of the items, to be checked in this order (you can stop at any time), their positions
        among those of the fusion, inclusion probabilities n_h/N_h, and strata, from 0 (all
        candidate methods agree with high confidence).
    sizes ``[stratum]``
        N_h: how many items of the fusion are in each stratum.
    seed, n_strata
        the random seed, and how many strata were asked for; in tiny tables some have no item.
    candidates
        the methods to compare.
    stratum_of_item ``[item]``
        −1 for gold items; None if the strata in the file of a plan are not those of the fusion.
        Then the plan can be evaluated but not extended.
    """

    items: Array
    positions: Codes
    probability: Floats
    strata: Codes
    sizes: Floats
    seed: int
    n_strata: int
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
    """Choose ``budget`` items of a fusion to check, such that few checks say much about all labels.

    Items are stratified by the probability of an error, averaged over the candidate methods (see
    :class:`Candidates`), separately where all methods agree and where they do not. Checks are
    allocated to strata in proportion to Σ √(p (1 − p)), where p is that probability (Neyman
    allocation), and every stratum has some, so that no item has probability zero. The estimates of
    :func:`audit` are valid whatever these probabilities are worth; only their precision depends on
    them. Gold items are known and are not drawn.

    Examples
    --------
    >>> from blindfuse import fuse, plan_audit
    >>> fusion = fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> len(plan_audit(fusion, budget=3).items)
    3
    """
    IS_FUSION.check("fusion", fusion)
    integer_at_least(1).check("budget", budget)
    integer_at_least(0).check("seed", seed)
    left = _items_to_check(fusion)
    if budget > len(left):
        raise BadParameter(
            f"budget={budget!r} is too large: {len(left):,} items can be checked. Lower it."
        )
    n_strata = int(np.clip(budget // CHECKS_PER_STRATUM, 1, MAX_STRATA))
    return draw_plan(fit_candidates(fusion), n_strata, budget, seed)


def draw_plan(candidates: Candidates, n_strata: int, budget: int, seed: int) -> AuditPlan:
    """Draw ``budget`` items from ``n_strata`` strata."""
    stratum_of_item = _stratify(candidates, n_strata)
    sizes = np.bincount(stratum_of_item[stratum_of_item >= 0]).astype(float)
    none = np.empty(0, dtype=np.intp)
    design = none, np.empty(0), none, sizes, int(seed), n_strata
    items = candidates.fusion.responses.items[none]
    return _extend(AuditPlan(items, *design, candidates, stratum_of_item), budget)


def restore_plan(
    fusion: "Fusion",
    items: Sequence[Any] | Array,
    strata: ArrayLike,
    sizes: ArrayLike,
    n_strata: int | None = None,
    seed: int = 0,
) -> AuditPlan:
    """Return the plan that drew these items, from the columns of its file.

    ``strata`` and ``sizes[check]`` are the stratum of each item and its number of items, and
    ``n_strata`` how many were asked for, by default as many as occur. They were fixed when the
    items were drawn, so they are used even if this fusion would give others.
    """
    names = as_names(list(items))
    drawn = positions(names, fusion.responses.items)
    if np.any(drawn < 0):
        raise BadLabels(
            f"The plan names items {list_names(names[drawn < 0])}, which are not among the fused "
            "items. Pass the responses that the plan was made for."
        )
    distinct, codes = np.unique(np.asarray(strata), return_inverse=True)
    size_of = np.empty(len(distinct))
    size_of[codes] = sizes
    counts = np.bincount(codes)
    if np.any(size_of < counts) or np.any(size_of[codes] != np.asarray(sizes, dtype=float)):
        raise BadLabels(
            "The plan has strata with several sizes or fewer items than were drawn from them. "
            "Restore the columns stratum and stratum_size of its file."
        )
    candidates, n_strata = fit_candidates(fusion), n_strata or len(distinct)
    strata_now = _stratify(candidates, n_strata)
    same_sizes = np.array_equal(np.bincount(strata_now[strata_now >= 0]), size_of)
    is_same = same_sizes and np.array_equal(strata_now[drawn], codes)
    return AuditPlan(
        *(fusion.responses.items[drawn], drawn, counts[codes] / size_of[codes], codes, size_of),
        *(int(seed), n_strata, candidates, strata_now if is_same else None),
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


def _stratify(candidates: Candidates, n_strata: int) -> Codes:
    """The stratum of each item, with equal Σ √(p (1 − p)) in all strata; −1 for gold items.

    Items on which all candidates agree come first, then by increasing probability of an error.
    """
    left = _items_to_check(candidates.fusion)
    order = left[np.lexsort((candidates.error_probability[left], ~candidates.agree[left]))]
    uncertainty = _uncertainty(candidates)[order]
    middle = np.cumsum(uncertainty) - uncertainty / 2
    strata = np.minimum(middle / uncertainty.sum() * n_strata, n_strata - 1).astype(np.intp)
    stratum_of_item = np.full(len(candidates.error_probability), -1, dtype=np.intp)
    # Strata without an item, in tiny tables, are left out of the numbering.
    stratum_of_item[order] = np.unique(strata, return_inverse=True)[1]
    return stratum_of_item


def _uncertainty(candidates: Candidates) -> Floats:
    """√(p (1 − p)) per item, with p not too far from 1/2."""
    p = np.clip(candidates.error_probability, MIN_ERROR_PROBABILITY, 1 - MIN_ERROR_PROBABILITY)
    return np.asarray(np.sqrt(p * (1 - p)))


def _extend(plan: AuditPlan, count: int) -> AuditPlan:
    """Draw ``count`` more items: the next ones in the random order of their strata."""
    stratum_of_item, n_strata = plan.stratum_of_item, len(plan.sizes)
    assert stratum_of_item is not None
    drawable = np.flatnonzero(stratum_of_item >= 0)
    strata, uncertainty = stratum_of_item[drawable], _uncertainty(plan.candidates)[drawable]
    totals = np.asarray(np.bincount(strata, uncertainty), dtype=float)
    drawn = np.bincount(plan.strata, minlength=n_strata)
    sequence, number = _allocate(totals, plan.sizes, drawn, count)
    # A stream of its own, because responses may be simulated by a generator of the same seed.
    rng = np.random.default_rng([0x6175646974, plan.seed])
    keys = rng.random(len(stratum_of_item))[drawable]
    is_new = ~np.isin(drawable, plan.positions)  # the others come first in their strata
    order = drawable[np.lexsort((keys, is_new, strata))]
    first = (np.cumsum(plan.sizes) - plan.sizes).astype(np.intp)
    places = np.concatenate([plan.positions, order[first[sequence] + number]])
    all_strata = np.concatenate([plan.strata, sequence])
    return replace(
        plan,
        items=plan.candidates.fusion.responses.items[places],
        positions=places,
        strata=all_strata,
        probability=(np.bincount(all_strata, minlength=n_strata) / plan.sizes)[all_strata],
    )


def _allocate(totals: Floats, sizes: Floats, drawn: Codes, count: int) -> tuple[Codes, Codes]:
    """The strata of the next ``count`` checks, and how many each stratum had before.

    The next check belongs to the stratum with the largest T_h/√(n_h (n_h + 1)), where T_h is its
    sum of √(p (1 − p)). This is the best allocation of every number of checks (Wright, 2012, "The
    Equivalence of Neyman Optimum Allocation for Sampling and Equal Proportions for Apportioning
    the U.S. House of Representatives"), so a plan extended by others is the plan of the sum.
    """
    left = sizes.astype(np.intp) - drawn
    strata = np.repeat(np.arange(len(sizes)), left)
    n = np.arange(left.sum()) - np.repeat(np.cumsum(left) - sizes.astype(np.intp), left)
    is_missing = n < np.minimum(MIN_CHECKS, sizes)[strata]
    value = np.where(is_missing, n, -totals[strata] / np.sqrt(np.maximum(n * (n + 1), 1)))
    order = np.lexsort((strata, value, ~is_missing))[:count]
    return strata[order], n[order]
