"""The checked items of an audit, and estimates of shares from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.auditing.plan import AuditPlan
from blindfuse.auditing.stratified import Counts, dispersion_of, merge_unchecked, nearest_checked
from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import positions
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Codes, Flags, Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


@dataclass(frozen=True, eq=False)
class CheckedSample:
    """Items with known labels: simple random samples within strata.

    Gold items are a stratum of their own, of which all are known; ``n_checked`` does not count
    them. Every stratum has a checked item.

    Attributes
    ----------
    items, truth, strata ``[check]``
        positions of the items, class codes and stratum codes.
    sizes ``[stratum]``
        N_h.
    stratum_of_item ``[item]``
        None if only the strata of the checked items are known.
    scale
        factor of all sizes. Items that were not drawn at random are treated as a sample of a much
        larger population of items like those.
    """

    items: Codes
    truth: Codes
    strata: Codes
    sizes: Floats
    stratum_of_item: Codes | None
    n_checked: int
    scale: float = 1.0

    @property
    def weights(self) -> Floats:
        """How many items each checked item stands for, N_h/n_h, ``[check]``."""
        return np.asarray((self.sizes / np.bincount(self.strata))[self.strata])

    def counts(self, values: Floats) -> Counts:
        """The counts for the mean over all items of a property with known ``values[check]``."""
        found = np.asarray(np.bincount(self.strata, values), dtype=float)
        checked = np.bincount(self.strata).astype(float)
        return Counts(found, checked, self.scale * self.sizes, dispersion_of(values))

    def counts_by_group(self, values: Floats, group: Flags) -> Counts:
        """The same for a property that depends on a ``group[item]`` which is known for all items.

        Strata are divided by the group (post-stratification). With the group "is labelled k" and
        the property "is of class k" this is the prediction-powered estimate
        Σ_h W_h (ȳ_h + λ_h (F_h − f_h)), where ȳ_h and f_h are the shares of class k and of label k
        in the sample, F_h that of label k among all items, and λ_h = cov_h(y, f)/var_h(f) minimises
        the variance (PPI++).

        Angelopoulos, Duchi and Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference".
        Fisch et al. (2024), "Stratified Prediction-Powered Inference for Hybrid Language Model
        Evaluation".
        """
        sides = [self._counts_within(values, group == side) for side in (False, True)]
        found, checked, sizes = (np.concatenate(each) for each in zip(*sides, strict=True))
        return Counts(found, checked, merge_unchecked(checked, sizes))

    def counts_within(self, values: Floats, group: Flags) -> Counts | None:
        """The counts for the mean over the items of a group; None if none of them was checked."""
        found, checked, sizes = self._counts_within(values, group)
        if not checked.sum():
            return None
        return Counts(found, checked, sizes, dispersion_of(values[group[self.items]]))

    def _counts_within(self, values: Floats, group: Flags) -> tuple[Floats, Floats, Floats]:
        """x_h, n_h and N_h of the items in a group; unchecked strata are merged with others."""
        inside, n_strata = group[self.items], len(self.sizes)
        strata = self.strata[inside]
        found = np.asarray(np.bincount(strata, values[inside], minlength=n_strata), dtype=float)
        checked = np.bincount(strata, minlength=n_strata).astype(float)
        sizes = self._sizes_within(group, checked)
        return found, checked, merge_unchecked(checked, sizes)

    def _sizes_within(self, group: Flags, checked: Floats) -> Floats:
        """N_h of the items in a group, estimated where strata of unchecked items are unknown."""
        if self.stratum_of_item is not None:
            counts = np.bincount(self.stratum_of_item[group], minlength=len(self.sizes))
            return np.asarray(self.scale * counts, dtype=float)
        estimated = self.sizes * checked / np.bincount(self.strata)
        scale = np.count_nonzero(group) / max(estimated.sum(), 1.0)
        return np.asarray(np.maximum(scale * estimated, checked))


def collect_sample(
    fusion: "Fusion", plan: AuditPlan | None, checked: Mapping[Any, Any]
) -> CheckedSample:
    """Return the checked items of a plan; without a plan, all items count as one stratum."""
    filled = {item: label for item, label in checked.items() if not _is_missing(label)}
    items, truth = gold_codes(fusion.responses, filled, "Checked")
    is_gold = _gold_mask(fusion)
    known = np.flatnonzero(is_gold)
    fused = positions(fusion.labels, fusion.responses.classes)
    conflicting = items[is_gold[items] & (fused[items] != truth)]
    if len(conflicting):
        raise BadLabels(
            f"The items {list_names(fusion.responses.items[conflicting])} have another gold label "
            "than checked label. Keep one label per item."
        )
    is_new = ~np.isin(items, known)
    if not is_new.any():
        raise BadLabels(
            "No item was checked. Fill in the labels of some items of the plan, or give {item: "
            "label} with at least one item."
        )
    items, truth = items[is_new], truth[is_new]
    strata, sizes, stratum_of_item = _strata_of(fusion, plan, items, known)
    is_drawn = plan is not None or len(items) + len(known) == fusion.responses.n_items
    return CheckedSample(
        np.concatenate([items, known]),
        np.concatenate([truth, fused[known]]),
        np.concatenate([strata, np.full(len(known), len(sizes))]),
        np.append(sizes, float(len(known))) if len(known) else sizes,
        stratum_of_item,
        len(items),
        1.0 if is_drawn else 1e6,
    )


def _is_missing(label: Any) -> bool:
    return label is None or label != label or (isinstance(label, str) and not label.strip())


def _strata_of(
    fusion: "Fusion", plan: AuditPlan | None, items: Codes, known: Codes
) -> tuple[Codes, Floats, Codes | None]:
    """The strata of checked items, their sizes, and the strata of all items with gold items last.

    Without a plan, all items are one stratum. Strata without a checked item are merged with their
    nearest neighbours.
    """
    if plan is not None:
        _refuse_others(fusion, plan, items)
        if plan.stratum_of_item is None:
            strata = plan.strata[positions(items, plan.positions)]
            new_code = _codes_of_checked(strata, len(plan.sizes))
            return new_code[strata], np.bincount(new_code, plan.sizes).astype(float), None
    unstratified = np.zeros(fusion.responses.n_items, dtype=np.intp)
    stratum_of_item = unstratified if plan is None else plan.stratum_of_item
    assert stratum_of_item is not None
    new_code = _codes_of_checked(stratum_of_item[items], int(stratum_of_item.max()) + 1)
    stratum_of_item = new_code[stratum_of_item]
    stratum_of_item[known] = n_strata = int(new_code.max()) + 1
    sizes = np.bincount(stratum_of_item)[:n_strata].astype(float)
    return stratum_of_item[items], sizes, stratum_of_item


def _refuse_others(fusion: "Fusion", plan: AuditPlan, items: Codes) -> None:
    """Raise an error if the plan is for other items, or has not drawn all checked items."""
    same_items = np.array_equal(plan.candidates.fusion.responses.items, fusion.responses.items)
    strata = plan.stratum_of_item
    if not same_items or (strata is not None and np.any((strata < 0) & ~_gold_mask(fusion))):
        raise BadLabels(
            "The plan was made for other items, another order of them or other gold labels than "
            "the fusion has. Pass the fusion that the plan was made for."
        )
    others = ~np.isin(items, plan.positions)
    if np.any(others):
        raise BadLabels(
            f"Checked items {list_names(fusion.responses.items[items[others]])} are not in the "
            "plan, so they have no inclusion probability. Leave them out, or pass plan=None to "
            "use all as a list of your own."
        )


def _gold_mask(fusion: "Fusion") -> Flags:
    return np.zeros(fusion.responses.n_items, bool) if fusion.is_gold is None else fusion.is_gold


def _codes_of_checked(strata: Codes, n_strata: int) -> Codes:
    """New codes ``[stratum]``, in which strata without a checked item join the nearest one."""
    nearest = nearest_checked(np.bincount(strata, minlength=n_strata))
    return np.unique(nearest, return_inverse=True)[1]
