"""Sample moments (17)-(19) and (25) of the responses, and the objective (21) that matches them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.moments.tuples import all_tuples, rank, tables_of

Counts = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sample moments (25) and the number of items that each is an average over.

    Attributes
    ----------
    means ``[annotator, label]``, cross ``[pair, label, label]``, third ``[triple, label, …]``
        μ_m, S_mm' and T_mm'm''; zero where nothing was seen.
    seen ``[annotator]``, seen_pairs ``[pair]``, seen_triples ``[triple]``
        items labelled by all of them.
    """

    n_items: float
    means: Floats
    cross: Floats
    third: Floats
    seen: Counts
    seen_pairs: Counts
    seen_triples: Counts

    def reordered(self, annotators: NDArray[np.intp], classes: NDArray[np.intp]) -> "Moments":
        """The moments of these annotators with these classes, in this order."""
        M = len(self.means)
        pairs = annotators[all_tuples(len(annotators), 2)]
        triples = annotators[all_tuples(len(annotators), 3)]
        cross, third = tables_of(self.cross, pairs, M), tables_of(self.third, triples, M)
        return Moments(
            self.n_items,
            self.means[annotators][:, classes],
            cross[:, classes][:, :, classes],
            third[:, classes][:, :, classes][:, :, :, classes],
            self.seen[annotators],
            self.seen_pairs[rank(pairs, M)],
            self.seen_triples[rank(triples, M)],
        )

    def weights(self, kind: str) -> tuple[Floats, Floats, Floats]:
        """The weight of each moment in h_N: its share of the items, or 1 if it was seen at all."""
        counts = (self.seen, self.seen_pairs, self.seen_triples)
        if kind == "equal":
            first, second, third = ((count > 0).astype(float) for count in counts)
        else:
            first, second, third = (count / (self.n_items or 1) for count in counts)
        return first, second, third

    def objective(self, confusions: Floats, prior: Floats, weights: str = "counts") -> float:
        """h_N of (21), each moment weighted, straight from its definition."""
        M = len(confusions)
        scaled = confusions * prior
        pair, triple = all_tuples(M, 2).T, all_tuples(M, 3).T
        models: tuple[NDArray[Any], ...] = (
            confusions @ prior,
            np.einsum("pak,pbk->pab", scaled[pair[0]], confusions[pair[1]]),
            np.einsum(
                "tak,tbk,tck->tabc",
                scaled[triple[0]],
                confusions[triple[1]],
                confusions[triple[2]],
                optimize=True,
            ),
        )
        return 0.5 * sum(
            float(weight @ ((sample - model) ** 2).reshape(len(weight), -1).sum(axis=1))
            for weight, sample, model in zip(
                self.weights(weights), (self.means, self.cross, self.third), models, strict=True
            )
        )
