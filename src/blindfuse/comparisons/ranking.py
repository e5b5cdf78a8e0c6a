"""`fuse_pairs`: rank items by pairwise comparisons. `Ranking`: how, and how far to trust it."""

import itertools
import os
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import rankdata

from blindfuse.comparisons.judges import RatedJudges, rate_judges
from blindfuse.comparisons.model import MAX_DENSE, SMALL_RIDGE, fit, log_probabilities
from blindfuse.comparisons.rule import Evidence, gather_evidence
from blindfuse.comparisons.table import Comparisons, as_comparisons
from blindfuse.comparisons.uncertainty import (
    Posterior,
    Z,
    centred,
    covariance_root,
    ranks_of,
    tiers_of,
)
from blindfuse.errors import BadParameter, list_names, shorten, suggest
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.responses.coding import as_column, positions
from blindfuse.result import Columns, Paragraph, counts, json_rows, summarize
from blindfuse.typing import Array, Codes, Floats, Integers

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
"""Nodes of a standard normal distribution, by which probabilities are averaged."""


def fuse_pairs(
    left: Any,
    right: Any = None,
    winner: Any = None,
    annotators: Any = None,
    *,
    weights: Any = None,
    prompts: Any = None,
) -> "Ranking":
    """Rank items by comparisons of pairs, and rate the judges.

    Plain Bradley–Terry with Davidson's ties is the baseline. A slope, a position bias and a tie
    rate per judge, shrunk towards the common judge by learned spreads, replace it where they
    predict held-out comparisons better. Intervals are clustered by prompt, or else by judge. The
    result depends neither on names nor on the order of rows.

    Parameters
    ----------
    left, right, winner
        columns with one row per comparison; the winner is a name, ``"left"``, ``"right"`` or
        ``"tie"``, or the share of the win that goes to the left item (see
        :meth:`Comparisons.from_columns`). Or, as the first argument alone, a frame, rows of
        (left, right, winner[, annotator]), or :class:`Comparisons`.
    annotators
        who compared.
    weights
        how many comparisons a row stands for.
    prompts
        what the items were compared on: comparisons on the same prompt may have errors in common.

    Examples
    --------
    >>> from blindfuse import fuse_pairs
    >>> ranking = fuse_pairs(["a", "b", "c", "a"], ["b", "c", "a", "b"], ["a", "b", "a", "b"])
    >>> dict(zip(ranking.items.tolist(), ranking.ranks.tolist()))
    {'a': 1, 'b': 1, 'c': 3}
    """
    others = {"annotators": annotators, "weights": weights, "prompts": prompts}
    table = as_comparisons(left, right, winner, **others)
    with single_threaded_blas():
        return Ranking(table, gather_evidence(table.cells, table.has_sides))


@dataclass(frozen=True, eq=False)
class Ranking:
    """A strength per item with its interval, ranks, and slope, position bias and ties of judges.

    Ranks and tiers are those in the item's group. Items that were never compared have the
    strength NaN and the rank 0.

    Attributes
    ----------
    comparisons
        the comparisons that were fused, with the order of the items.
    evidence
        how plain Bradley–Terry and judge effects predict held-out comparisons.
    """

    comparisons: Comparisons
    evidence: Evidence = field(repr=False)

    kind = "strengths"

    @property
    def items(self) -> Array:
        """Names of the items ``[item]``."""
        return self.comparisons.items

    @property
    def groups(self) -> Integers:
        """The group of each item, from 0; groups were never compared with each other."""
        return self.comparisons.groups

    @cached_property
    def posterior(self) -> Posterior:
        """Strengths shrunk by the learned spread of the items, which ranks and probabilities are
        computed from."""
        fitted, table = self.evidence.chosen, self.comparisons
        return Posterior(
            centred(fitted.strengths, table.groups), covariance_root(fitted, table), table.groups
        )

    @cached_property
    def _reported(self) -> tuple[Floats, Floats]:
        """The strengths and their standard errors: not shrunk, unless there are very many."""
        table, start = self.comparisons, replace(self.evidence.chosen, ridge=SMALL_RIDGE)
        values, root = self.posterior.mean, self.posterior.root
        if table.n_items <= MAX_DENSE:
            fitted = fit(table.cells, start, has_fixed_judges=True, tolerance=1e-9)
            values, root = centred(fitted.strengths, table.groups), covariance_root(fitted, table)
        errors = np.sqrt((root**2).sum(axis=1))
        return self._where_compared(values, np.nan), self._where_compared(errors, np.nan)

    def _where_compared(self, values: Array, other: float) -> Array:
        return np.where(self.comparisons.comparisons_per_item > 0, values, other)

    @property
    def strengths(self) -> Floats:
        """Log odds relative to the mean of the item's group ``[item]``."""
        return self._reported[0]

    @property
    def low(self) -> Floats:
        """Lower end of the 95 % interval of each strength ``[item]``."""
        return self._reported[0] - Z * self._reported[1]

    @property
    def high(self) -> Floats:
        """Upper end of the 95 % interval of each strength ``[item]``."""
        return self._reported[0] + Z * self._reported[1]

    @cached_property
    def ranks(self) -> Integers:
        """Rank of each item, from 1; equal strengths share the best ``[item]``."""
        return self._where_compared(ranks_of(self.strengths, self.groups), 0)

    @cached_property
    def _drawn(self) -> tuple[Array, ...]:
        """The interval of each rank, and the probability of rank 1, by draws of the strengths."""
        drawn, ranks = self.posterior.rank_draws(), self.ranks
        place = (rankdata(drawn, axis=0) - 0.5) / len(drawn)  # half of equal ranks count as below
        low = np.where(place < 0.025, len(ranks), drawn).min(axis=0)
        high = np.where(place > 0.975, 1, drawn).max(axis=0)
        low, high = np.minimum(low, ranks), np.maximum(high, ranks)
        best = (drawn == 1).mean(axis=0)
        return tuple(map(self._where_compared, (low, high, best), (0, 0, np.nan)))

    @property
    def rank_low(self) -> Integers:
        """The best rank in the 95 % interval of each item ``[item]``."""
        return self._drawn[0]

    @property
    def rank_high(self) -> Integers:
        """The worst rank in the 95 % interval of each item ``[item]``."""
        return self._drawn[1]

    @property
    def probability_best(self) -> Floats:
        """Probability that no item of the group is stronger ``[item]``."""
        return self._drawn[2]

    @cached_property
    def tiers(self) -> Integers:
        """Items of a tier are not separated from the best of it ``[item]``."""
        return self._where_compared(tiers_of(self.posterior, self.ranks), 0)

    @cached_property
    def judges(self) -> RatedJudges:
        """Slope, position bias and tie rate of each judge, with intervals and flags."""
        return rate_judges(self.evidence.chosen, self.comparisons)

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
        """Write the comparisons to an ``.npz`` file without pickle, replaced atomically."""
        self.comparisons.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Ranking":
        """Rank the comparisons in a file that :meth:`save` wrote; raise :class:`BadModel` for any
        other file."""
        return fuse_pairs(Comparisons.load(path))

    def __repr__(self) -> str:
        return f"Ranking of {self.comparisons!r}, by {self.method}"


def places(names: Array, among: Array, kind: str) -> Codes:
    """Return the positions of names; raise BadParameter for one that is not there."""
    at = positions(names, among)
    if np.any(at < 0):
        name = names[at < 0][0]
        raise BadParameter(f"There is no {kind} {list_names([name])}: {suggest(name, among)}")
    return at
