"""Coverage, overlap and conflict of sources that abstain, such as labelling functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter
from blindfuse.responses.responses import as_responses

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SourceSummary:
    """How often each source responds, and with whom it agrees.

    Attributes
    ----------
    names
        the sources, in the order of the other arrays.
    classes
        the classes that each source reports.
    coverage ``[source]``
        share of the items that it responds to.
    overlap ``[source]``
        share of the items that it and at least one other source respond to.
    conflict ``[source]``
        share of the items for which another source reports another class.
    """

    names: NDArray[Any]
    classes: tuple[tuple[Any, ...], ...]
    coverage: Floats
    overlap: Floats
    conflict: Floats

    def summary(self) -> str:
        """One line per source."""
        width = max(len(str(name)) for name in self.names.tolist())
        lines = [f"{'':<{width}}  coverage  overlap  conflict  classes"]
        rows = zip(
            *(self.names.tolist(), self.coverage, self.overlap, self.conflict, self.classes),
            strict=True,
        )
        for name, covered, shared, conflicting, classes in rows:
            shares = f"{covered:8.1%}  {shared:7.1%}  {conflicting:8.1%}"
            lines.append(f"{name!s:<{width}}  {shares}  {', '.join(map(str, classes))}")
        return "\n".join(lines)


def summarize_sources(responses: Any) -> SourceSummary:
    """Return coverage, overlap and conflict of every source; missing responses are abstentions.

    Examples
    --------
    >>> from blindfuse import summarize_sources
    >>> summarize_sources([[0, -1, 0], [1, 0, -1], [-1, -1, 1], [1, 1, -1]]).conflict.tolist()
    [0.25, 0.25, 0.0]
    """
    table = as_responses(responses)
    if not table.is_plain:
        raise BadParameter(
            "Coverage and conflict are those of responses with classes. Pass the responses before "
            "with_abstentions."
        )
    M, K, N = table.n_annotators, table.n_classes, max(table.n_items, 1)
    items, codes = table.item_of_response(), table.by_item.codes
    votes = np.zeros((table.n_items, K))
    np.add.at(votes, (items, table.by_item.symbols), 1)
    total, own = votes.sum(axis=1)[items], votes[items, table.by_item.symbols]
    reported = np.zeros((M, K), dtype=bool)
    reported[codes, table.by_item.symbols] = True

    def share(mask: NDArray[np.bool_]) -> Floats:
        return np.asarray(np.bincount(codes, mask, minlength=M) / N, dtype=float)

    return SourceSummary(
        table.annotators,
        tuple(tuple(table.classes[row].tolist()) for row in reported),
        share(np.ones(len(codes), dtype=bool)),
        share(total > 1),
        share(own < total),
    )
