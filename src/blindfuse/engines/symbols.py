"""What the labels of a distributed table stand for: classes, scores, abstentions or clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter
from blindfuse.model.model import Model
from blindfuse.responses.alphabet import NO_ANCHOR, Alphabet, Anchor, ScoreScale
from blindfuse.responses.coding import as_column, check_classes, positions
from blindfuse.responses.recoding import NO_RESPONSE, with_no_response
from blindfuse.responses.scores import (
    MAX_LEVELS,
    SCORE_CLASSES,
    Levels,
    check_edges,
    ordered_classes,
    score_levels,
)
from blindfuse.typing import Array

AnchorOption = ArrayLike | Literal["none"] | None

MAX_SCORES = 100_000
"""Different scores of annotators that the driver collects to find levels."""


@dataclass(frozen=True, eq=False)
class Names:
    """The annotators, classes and symbols of the whole table, in the order of their codes.

    ``abstentions`` says that responses that are missing become a symbol. The alphabet is then the
    one without it.
    """

    annotators: Array
    alphabet: Alphabet
    abstentions: bool = False

    @classmethod
    def of_model(cls, model: Model) -> "Names":
        """Return the names that a model knows; prediction needs no anchor."""
        is_label = np.array([symbol != NO_RESPONSE for symbol in model.symbols.tolist()])
        symbols, anchor = model.symbols[is_label], NO_ANCHOR
        if model.scale is not None:
            anchor = Anchor.by_order(np.arange(len(symbols)), model.scale)
        alphabet = Alphabet(model.classes, symbols, anchor)
        if np.array_equal(positions(symbols, model.classes), np.arange(len(model.classes))):
            alphabet = Alphabet.plain(model.classes)
        return cls(model.annotators, alphabet, not is_label.all())

    @property
    def scale(self) -> ScoreScale | None:
        """Where levels of scores begin, if scores are divided into levels."""
        return self.alphabet.anchor.scale

    @property
    def fitted(self) -> Alphabet:
        """The alphabet of the responses, "no response" included."""
        return with_no_response(self.alphabet) if self.abstentions else self.alphabet


@dataclass(frozen=True, eq=False)
class SymbolOptions:
    """What the caller says about labels: the options of :func:`~blindfuse.engines.fitting.fit`.

    Edges between ``levels`` become a scale.
    """

    classes: Sequence[Any] | int | None = None
    scores: bool = False
    levels: Levels = MAX_LEVELS
    abstentions: bool = False
    anchor: AnchorOption = None

    def __post_init__(self) -> None:
        if self.scores and (self.abstentions or self.anchor is not None):
            raise BadParameter(
                "scores=True and abstentions= or anchor= exclude each other. Pass one of them."
            )
        if self.anchor is not None and self.classes is None:
            raise BadParameter("anchor= needs classes=, the classes that symbols speak for.")
        if isinstance(self.anchor, str) and self.anchor != "none":
            raise BadParameter(f"anchor={self.anchor!r} must be a matrix or 'none'.")
        if not isinstance(self.levels, ScoreScale | None) and np.ndim(self.levels):
            object.__setattr__(self, "levels", ScoreScale(check_edges(self.levels)[None]))

    @property
    def reported_classes(self) -> list[Any] | None:
        """The labels that can occur, if the caller named them."""
        named = self.classes is not None and self.anchor is None
        return list(check_classes(self.classes)) if named else None  # type: ignore[arg-type]

    def alphabet(self, labels: Array) -> Alphabet:
        """Return the alphabet of these labels, which are classes unless there is an anchor."""
        if self.anchor is None:
            return Alphabet.plain(labels)
        anchor = NO_ANCHOR if isinstance(self.anchor, str) else Anchor.by_matrix(self.anchor)
        return Alphabet(ordered_classes(self.classes), labels, anchor)

    def count_scores(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Count and sum the scores per annotator, and per score or given level (``key``)."""
        rows = rows.drop_nulls(["annotator", "score"])
        if isinstance(self.levels, ScoreScale):
            names = as_column(rows["annotator"].unique().to_list())
            codes = positions(as_column(rows["annotator"].to_list()), names)
            keys = self.levels.codes(codes, names, rows["score"].to_numpy())
            rows = rows.with_columns(key=keys.astype(np.float64))
        else:
            rows = rows.with_columns(key="score")
        return add_up_scores(
            rows.select("annotator", "key", total="score", count=pl.lit(1, pl.Int64))
        )

    def score_alphabet(self, sums: pl.DataFrame, annotators: Array) -> Alphabet:
        """Return the alphabet of levels of the scores; the mean stands for those of a given one."""
        if len(sums) > MAX_SCORES:
            raise BadLabels(
                f"There are more than {MAX_SCORES:,} different scores. Pass the edges between "
                "levels, such as levels=[2.5, 5, 7.5], or round the scores."
            )
        codes = positions(as_column(sums["annotator"].to_list()), annotators)
        by_level = isinstance(self.levels, ScoreScale)
        scores = sums["total"] / sums["count"] if by_level else sums["key"]
        order = np.lexsort((scores, codes))
        columns = codes[order], scores.to_numpy()[order], sums["count"].to_numpy()[order]
        symbols, anchor, _ = score_levels(*columns, annotators, self.levels)
        classes = ordered_classes(SCORE_CLASSES if self.classes is None else self.classes)
        return Alphabet(classes, np.asarray(check_classes(symbols)), anchor)


def add_up_scores(*sums: pl.DataFrame) -> pl.DataFrame:
    """Add up counts and sums of the same keys; of too many keys, only as many as show that."""
    groups = pl.concat(sums).group_by("annotator", "key", maintain_order=True)
    return groups.agg(pl.sum("total", "count")).head(MAX_SCORES + 1)
