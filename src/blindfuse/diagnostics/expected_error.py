"""How many labels are expected to be wrong, and how many annotators would mend that."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """``error`` is the mean of 1 − the posterior of each item's label.

    ``responses_per_item`` annotators answer an item on average, and ``overlaps[k, k']`` is the mean
    over annotators, weighted by their labels, of log Σ_a √(Γ_m(a, k) Γ_m(a, k')).
    """

    error: float
    responses_per_item: float
    overlaps: Floats
    prior: Floats

    def bound(self, responses_per_item: float) -> float:
        """Theorem 2: the error of MAP with so many annotators like these is at most this.

        P_e ≤ Σ_{k<k'} √(π_k π_k') exp(L · overlap_kk'), the union of Bhattacharyya bounds (45).
        """
        k, other = np.triu_indices(len(self.prior), 1)
        weights = np.sqrt(self.prior[k] * self.prior[other])
        return float(
            min(1.0, np.sum(weights * np.exp(responses_per_item * self.overlaps[k, other])))
        )

    def more_annotators(self, target: float) -> int | None:
        """How many more answers an item, by annotators like these, bring the bound to ``target``.

        None if no number does: some classes are never told apart.
        """
        if not 0 < target < 1:
            raise BadParameter(f"target={target!r} must be between 0 and 1.")
        k, other = np.triu_indices(len(self.prior), 1)
        matter = self.prior[k] * self.prior[other] > 0
        if np.any(self.overlaps[k, other][matter] > -1e-9):
            return None
        high = 1
        while self.bound(high) > target:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.bound(middle) > target else (low, middle)
        return max(0, int(np.ceil(high - self.responses_per_item)))

    def summary(self) -> str:
        """In words."""
        says = f"About {100 * self.error:.1f} % of the labels are expected to be wrong."
        target = self.error / 2
        if target < 1e-4:
            return says
        more = self.more_annotators(target)
        if more is None:
            return f"{says} Some classes are never told apart, however many answers there are."
        if more == 0:
            return (
                f"{says} As many answers an item by independent annotators like these would be "
                "sure to halve that; these are not independent."
            )
        return (
            f"{says} {more:,} more answers an item, by independent annotators like these, are sure "
            "to halve that."
        )


def estimate_error(responses: Responses, model: Model, posteriors: Floats) -> ExpectedError:
    """From posteriors ``[item, class]`` and the model."""
    roots = np.sqrt(model.confusions)
    affinity = np.einsum("mak,mal->mkl", roots, roots)
    labels = responses.responses_per_annotator / max(responses.n_responses, 1)
    overlaps = np.tensordot(labels, np.log(np.maximum(affinity, 1e-12)), axes=1)
    return ExpectedError(
        float(1 - posteriors.max(axis=1).mean()),
        responses.n_responses / responses.n_items,
        np.minimum(overlaps, 0.0),
        model.prior,
    )
