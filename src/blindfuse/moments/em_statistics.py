"""Sufficient statistics of EM: the distinct response patterns and the items that have them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blindfuse.model.checks import check_numbers
from blindfuse.responses.alphabet import Alphabet
from blindfuse.responses.patterns import group_identical_items
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Array, Floats

MIN_PATTERN_SIZE = 1e-6
"""A discounted pattern with fewer items than this is dropped."""


@dataclass(frozen=True, eq=False)
class EMStatistics:
    """Sufficient statistics of EM: distinct response patterns and their numbers of items.

    Items with the same responses by the same annotators have the same posterior, so EM needs each
    pattern only once. The statistics of disjoint sets of items can be added, in any order. Memory
    grows with the number of distinct patterns, unless old ones are discounted.

    Attributes
    ----------
    patterns
        one item per distinct pattern.
    sizes ``[pattern]``
        number of items with each pattern.
    """

    patterns: Responses
    sizes: Floats

    @classmethod
    def from_responses(cls, responses: Responses, threads: int | None = None) -> "EMStatistics":
        """Return the statistics of these responses."""
        return cls._merge(responses, np.ones(responses.n_items))

    @classmethod
    def _merge(cls, responses: Responses, sizes: Floats) -> "EMStatistics":
        """Merge items with the same pattern and add up their sizes."""
        distinct, pattern_of_item = group_identical_items(responses)
        merged = np.bincount(pattern_of_item, sizes, minlength=distinct.n_items)
        return cls(distinct, merged.astype(np.float64))

    @property
    def annotators(self) -> Array:
        return self.patterns.annotators

    @property
    def alphabet(self) -> Alphabet:
        return self.patterns.alphabet

    @property
    def n_responses(self) -> float:
        return float(self.sizes @ self.patterns.responses_per_item)

    def __add__(self, other: "EMStatistics") -> "EMStatistics":
        both = self.patterns.concatenated(other.patterns)
        return self._merge(both, np.concatenate([self.sizes, other.sizes]))

    def to_responses(self) -> Responses:
        """Return one row per item again, in the order of the patterns; discounted ones round up."""
        numbers = np.ceil(np.round(self.sizes, 6)).astype(np.intp)
        pattern_of_item = np.repeat(np.arange(len(numbers)), numbers)
        return self.patterns.select_items(pattern_of_item)

    def discounted(self, factor: float) -> "EMStatistics":
        """Return every size times this factor, without the patterns that become negligible."""
        sizes = self.sizes * factor
        kept = sizes > MIN_PATTERN_SIZE
        return EMStatistics(self.patterns.select_items(kept), sizes[kept])

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to save; the names of annotators and classes are saved separately."""
        return {**self.patterns.by_item._asdict(), "sizes": self.sizes}

    @classmethod
    def from_arrays(
        cls, annotators: Array, alphabet: Alphabet, arrays: Mapping[str, Array]
    ) -> "EMStatistics":
        """Return the statistics that :meth:`arrays` was called on."""
        n_patterns = np.size(arrays["sizes"])
        sizes = check_numbers(arrays["sizes"], "sizes", (n_patterns,), minimum=0)
        rows = Rows(*(arrays[name] for name in Rows._fields))
        patterns = Responses(
            np.arange(n_patterns),
            annotators,
            rows,
            **alphabet._asdict(),
        )
        return cls(patterns, sizes.astype(np.float64))
