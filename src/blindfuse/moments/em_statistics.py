"""Tally: how many items got which answers, all that EM needs to know of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses.patterns import group_identical_items
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows, frozen

FORGOTTEN = 1e-6
"""Items' worth at which a pattern is dropped."""


@dataclass(frozen=True, eq=False)
class EMStatistics:
    """Items with the same answers by the same annotators as one, and how many there are of each.

    Those of other items can be added: what came in pieces, in any order, equals what came at once.
    It takes as much room as different answers do; where old ones are scaled down, they vanish.
    """

    patterns: Responses
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, responses: Responses, threads: int | None = None) -> "EMStatistics":
        """Tally these answers."""
        return cls._together(responses, np.ones(responses.n_items))

    @classmethod
    def _together(cls, responses: Responses, sizes: NDArray[np.float64]) -> "EMStatistics":
        distinct, which = group_identical_items(responses)
        together = np.bincount(which, sizes, minlength=distinct.n_items)
        return cls(distinct, together.astype(np.float64))

    @property
    def annotators(self) -> NDArray[Any]:
        return self.patterns.annotators

    @property
    def classes(self) -> NDArray[Any]:
        return self.patterns.classes

    @property
    def n_responses(self) -> float:
        return float(self.sizes @ self.patterns.responses_per_item)

    def __add__(self, other: "EMStatistics") -> "EMStatistics":
        both = self.patterns.joined(other.patterns)
        return self._together(both, np.concatenate([self.sizes, other.sizes]))

    def items(self) -> Responses:
        """The items one by one, in another order; of a tally that was never scaled."""
        each = np.repeat(np.arange(len(self.sizes)), np.rint(self.sizes).astype(np.intp))
        return self.patterns.select_items(each)

    def scaled(self, factor: float) -> "EMStatistics":
        """Every item counts this much; patterns that hardly count any more are dropped."""
        sizes = self.sizes * factor
        kept = sizes > FORGOTTEN
        return EMStatistics(self.patterns.select_items(kept), sizes[kept])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file needs to keep, beside the names."""
        return {**self.patterns.by_item._asdict(), "sizes": self.sizes}

    @classmethod
    def from_arrays(
        cls, annotators: NDArray[Any], classes: NDArray[Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "EMStatistics":
        """What :meth:`arrays` gave."""
        rows = frozen(*(arrays[name] for name in Rows._fields))
        items = np.arange(len(arrays["sizes"]))
        return cls(Responses(items, annotators, classes, rows), arrays["sizes"])
