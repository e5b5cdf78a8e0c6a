"""How scores become levels: the edges between them, which new scores need as well."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadModel, list_names
from blindfuse.responses.coding import as_names, positions
from blindfuse.typing import Array, Codes, Floats


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """Edges between levels of scores, of the whole crowd or of each annotator.

    Attributes
    ----------
    edges ``[annotator, level − 1]``
        scores at which the next level begins, in ascending order; one row for the whole crowd.
    annotators
        names of the annotators, one per row; None for the whole crowd.
    """

    edges: Floats
    annotators: Array | None = None

    @property
    def n_levels(self) -> int:
        return int(self.edges.shape[1]) + 1

    def codes(self, annotators: Codes, names: Array, scores: Floats) -> Codes:
        """Return the level of each score, ``[response]``; −1 if it is NaN.

        ``annotators`` are positions in ``names``.
        """
        if self.annotators is None:
            levels = np.searchsorted(self.edges[0], scores, side="right")
        else:
            levels = self._own_levels(self._rows(annotators, names), scores)
        return np.where(np.isnan(scores), -1, levels)

    def _rows(self, annotators: Codes, names: Array) -> Codes:
        assert self.annotators is not None
        row_of = positions(names, self.annotators)
        unknown = np.setdiff1d(annotators, np.flatnonzero(row_of >= 0))
        if len(unknown):
            raise BadLabels(
                f"There are no levels for the scores of {list_names(names[unknown])}, who are new: "
                "every annotator has levels of its own. Fit again with their scores, or leave "
                "them out."
            )
        return np.asarray(row_of[annotators])

    def _own_levels(self, rows: Codes, scores: Floats) -> Codes:
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], np.arange(len(self.edges) + 1))
        levels = np.empty(len(scores), dtype=np.intp)
        for edges, (begin, end) in zip(self.edges, pairwise(bounds), strict=True):
            own = order[begin:end]
            levels[own] = np.searchsorted(edges, scores[own], side="right")
        return levels

    def header(self) -> dict[str, Any]:
        """Return the names to save, as JSON."""
        return {} if self.annotators is None else {"scale_annotators": self.annotators.tolist()}

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays to save."""
        return {"scale_edges": self.edges}

    @classmethod
    def from_saved(
        cls, header: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> "ScoreScale | None":
        """Return the scale that was saved, if there is one."""
        if "scale_edges" not in arrays:
            return None
        names = header.get("scale_annotators")
        rows = 1 if names is None else len(names)
        edges = arrays["scale_edges"]
        if edges.dtype != np.float64 or edges.ndim != 2 or len(edges) != rows:
            raise BadModel("The edges of the scores' levels are damaged. Save the model again.")
        if not np.all(np.isfinite(edges)) or np.any(np.diff(edges, axis=1) < 0):
            raise BadModel("The edges of the scores' levels do not ascend. Save the model again.")
        return cls(edges, None if names is None else as_names(names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreScale) or self.edges.shape != other.edges.shape:
            return False
        if self.annotators is None or other.annotators is None:
            same_names = self.annotators is other.annotators
            return same_names and np.array_equal(self.edges, other.edges)
        rows = positions(self.annotators, other.annotators)
        return not np.any(rows < 0) and np.array_equal(self.edges, other.edges[rows])

    __hash__ = None  # type: ignore[assignment]  # equal by content, like arrays
