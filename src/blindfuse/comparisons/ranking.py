"""`Ranking`: ranked items, how they were ranked, and how far to trust it."""

import itertools
import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from blindfuse.comparisons.judges import RatedJudges
from blindfuse.comparisons.model import log_probabilities
from blindfuse.comparisons.rule import Evidence
from blindfuse.comparisons.saving import load_fields, save_fields
from blindfuse.comparisons.table import Comparisons
from blindfuse.comparisons.uncertainty import Posterior, Z
from blindfuse.errors import BadParameter, list_names, shorten, suggest
from blindfuse.responses.coding import as_column, positions
from blindfuse.result import Columns, Paragraph, counts, json_rows, summarize
from blindfuse.typing import Array, Codes, Floats, Integers

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
"""Nodes of a standard normal distribution, by which probabilities are averaged."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """A strength per item with its interval, ranks, and slope, position bias and ties of judges.

    Attributes
    ----------
    comparisons
        the comparisons that were fused.
    strengths, low, high ``[item]``
        log odds relative to the mean of the item's group, and their 95 % intervals, in the order
        of ``comparisons.items``; NaN for items that were never compared.
    ranks, rank_low, rank_high ``[item]``
        rank in the item's group, from 1, and its 95 % interval; 0 for items never compared.
    probability_best ``[item]``
        probability that no item of the group is stronger.
    tiers ``[item]``
        items of a tier are not separated from the best of it.
    judges
        :class:`~blindfuse.comparisons.judges.RatedJudges`.
    evidence
        how plain Bradley–Terry and judge effects predict held-out comparisons.
    posterior
        strengths shrunk by the learned spread of the items, from which ranks and probabilities
        are computed.
    """

    comparisons: Comparisons
    strengths: Floats
    low: Floats
    high: Floats
    ranks: Integers
    rank_low: Integers
    rank_high: Integers
    probability_best: Floats
    tiers: Integers
    judges: RatedJudges
    evidence: Evidence = field(repr=False)
    posterior: Posterior = field(repr=False)

    kind = "strengths"

    @property
    def items(self) -> Array:
        """Names of the items ``[item]``."""
        return self.comparisons.items

    @property
    def groups(self) -> Integers:
        """The group of each item, from 0; groups were never compared with each other."""
        return self.comparisons.groups

    @property
    def method(self) -> str:
        """The name of the model that was used."""
        return self.evidence.method

    @property
    def why(self) -> str:
        """Why the model was used, in sentences."""
        return self.evidence.why

    def outcome_probabilities(self, left: Any, right: Any, annotators: Any = None) -> Floats:
        """Return P of a left win, a tie and a right win ``[comparison, outcome]``.

        ``left`` and ``right`` are columns of names; ``annotators`` too, or None for the common
        judge. Probabilities are averages over what is uncertain about the strengths.
        """
        columns = (as_column(left), as_column(right))
        i, j = (places(column, self.items, "item") for column in columns)
        apart = np.flatnonzero(self.groups[i] != self.groups[j])
        if len(apart):
            a, b = (self.items[side[apart[0]]] for side in (i, j))
            raise BadParameter(
                f"{list_names([a])} and {list_names([b])} were never compared, not even through "
                "other items. Compare items of both groups first."
            )
        mean, error = self.posterior.difference(i, j)
        fitted, k = self.evidence.chosen, None
        if annotators is not None:
            k = places(as_column(annotators), self.comparisons.annotators, "annotator")
        effects, covariances = fitted.judge(k, self.comparisons.cells)
        slope, position, tie = effects.T
        (aa, ab, ac), (_, bb, bc), (_, _, cc) = covariances.transpose(1, 2, 0)
        eta = (1 + slope) * mean + position
        spread = ((1 + slope) ** 2 + aa) * error**2 + aa * mean**2 + 2 * ab * mean + bb
        along = np.divide(ac * mean + bc, spread, where=spread > 0, out=np.zeros_like(spread))
        tie_spread = np.maximum(cc - along**2 * spread, 0)
        total = np.zeros((len(i), 3))
        for x, y in itertools.product(range(len(NODES)), repeat=2):
            shift = NODES[x] * np.sqrt(spread)
            ties = fitted.tie + tie + along * shift + NODES[y] * np.sqrt(tie_spread)
            weight = NODE_WEIGHTS[x] * NODE_WEIGHTS[y]
            total += weight * np.exp(log_probabilities(eta + shift, ties)).T
        return np.asarray(total / NODE_WEIGHTS.sum() ** 2)

    def win_probability(self, a: Hashable, b: Hashable, annotator: Hashable = None) -> float:
        """Return the probability that ``a`` beats ``b``, where a tie is half a win.

        The judge is the common one, without a position bias, unless it is named; then ``a`` is on
        the left.
        """
        named = None if annotator is None else [annotator]
        win, tie, _ = self.outcome_probabilities([a], [b], named)[0].tolist()
        return float(win + tie / 2)

    @property
    def verdict(self) -> str:
        """Which item is best, or which comparisons would tell, in a sentence."""
        sentences = [self._verdict_of(group) for group in self._ranked_groups()[:5]]
        return " ".join(sentences)

    def _ranked_groups(self) -> list[int]:
        sizes = np.bincount(self.groups)
        return [group for group, size in enumerate(sizes.tolist()) if size > 1]

    def _verdict_of(self, group: int) -> str:
        items = np.flatnonzero(self.groups == group)
        items = items[np.argsort(-self.posterior.mean[items], kind="stable")]
        first = items[np.argmax(self.probability_best[items])]
        best = float(self.probability_best[first])
        if best >= 0.95:
            share = f"{100 * best:.0f} %" if best < 0.995 else "over 99 %"
            return f"{shorten(self.items[first])} is best ({share})."
        rivals = items[(self.tiers[items] == 1) & (items != first)]
        rivals = rivals if len(rivals) else items[items != first][:1]
        second = rivals[np.argmax(self.probability_best[rivals])]
        names = [str(shorten(name)) for name in self.items[[first, *rivals[:5]]]]
        hidden = len(rivals) - 5
        more = f" and {hidden:,} more" if hidden > 0 else ""
        text = f"{', '.join(names[:-1])} and {names[-1]}{more} cannot be separated"
        return f"{text}{self._needed(first, second)}."

    def _needed(self, a: Codes, b: Codes) -> str:
        """Say how many comparisons of two items would separate them, if their distance is true."""
        mean, error = (float(x) for x in self.posterior.difference(a, b))
        win, _, loss = self.outcome_probabilities(self.items[[a]], self.items[[b]])[0]
        per_comparison = (win + loss - (win - loss) ** 2) / 4
        missing = (Z / max(abs(mean), 1e-9)) ** 2 - 1 / error**2
        needed = missing / per_comparison
        names = f"{shorten(self.items[a])} with {shorten(self.items[b])}"
        if needed > 10 * max(self.comparisons.n_comparisons, 1_000):
            return f"; {names.replace(' with ', ' and ')} may be equally strong"
        rounded = f"{float(f'{max(needed, 1):.2g}'):,.0f}"
        return f"; about {rounded} more comparisons of {names} would"

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the comparisons that limit what the ranking means."""
        return self.comparisons.notes

    @property
    def size(self) -> str:
        """What was fused, as a sentence."""
        table = self.comparisons
        by = f" by {table.n_annotators:,} judges" if table.has_judges else ""
        return f"{table.n_comparisons:,.10g} comparisons{by} of {table.n_items:,} items."

    def summary(self) -> str:
        """What was fused, by which method and why, and how far to trust it."""
        return summarize(self, self.comparisons)

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The verdict, the strengths, the judges and what limits them, as text."""
        width = float(np.nanmedian(self.high - self.low)) / 2
        n_tiers = int(self.tiers.max())
        strengths = (
            f"The 95 % intervals of {self.comparisons.n_items:,} strengths are ±{width:.2g} "
            f"(median, log odds); the data separate {n_tiers:,} tier{'s' * (n_tiers > 1)}."
        )
        paragraphs = [
            Paragraph("Verdict", self.verdict, lead=True),
            Paragraph("Strengths", strengths),
        ]
        if self.comparisons.has_judges:
            is_flagged = bool(np.any(self.judges.flags != ""))
            paragraphs.append(Paragraph("Judges", self.judges.summary(), warning=is_flagged))
        return (*paragraphs, *(Paragraph("Note", f"{note}.") for note in self.notes))

    def item_columns(self) -> Columns:
        """One row per item, the best first."""
        unranked = self.ranks == 0
        order = np.lexsort([self.ranks, unranked, self.groups])

        def ranked(values: Integers) -> Array:
            return np.ma.masked_array(values, unranked)[order]

        columns: Columns = {
            "item": self.items[order],
            "rank": ranked(self.ranks),
            "rank_low": ranked(self.rank_low),
            "rank_high": ranked(self.rank_high),
            "strength": self.strengths[order],
            "low": self.low[order],
            "high": self.high[order],
            "probability_best": self.probability_best[order],
            "tier": ranked(self.tiers),
            "comparisons": counts(self.comparisons.comparisons_per_item)[order],
        }
        return columns | ({"group": self.groups[order] + 1} if self.groups.max() else {})

    def annotator_columns(self) -> Columns:
        """One row per judge, the least reliable first."""
        return self.judges.columns()

    def to_json(self) -> dict[str, Any]:
        """The whole result as one JSON object."""
        return {
            "n_items": self.comparisons.n_items,
            "n_annotators": self.comparisons.n_annotators,
            "n_comparisons": self.comparisons.n_comparisons,
            "method": self.method,
            "why": self.why,
            "verdict": self.verdict,
            "notes": list(self.notes),
            "annotators": json_rows(self.annotator_columns()),
            "items": json_rows(self.item_columns()),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ranking to an ``.npz`` file without pickle; the file is replaced atomically."""
        save_fields(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Ranking":
        """Read a file that :meth:`save` wrote; raise :class:`BadModel` for any other file."""
        return cast("Ranking", load_fields(path, cls))

    def __repr__(self) -> str:
        return f"Ranking of {self.comparisons!r}, by {self.method}"


def places(names: Array, among: Array, kind: str) -> Codes:
    """Return the positions of names; raise BadParameter for one that is not there."""
    at = positions(names, among)
    if np.any(at < 0):
        name = names[at < 0][0]
        raise BadParameter(f"There is no {kind} {list_names([name])}: {suggest(name, among)}")
    return at
