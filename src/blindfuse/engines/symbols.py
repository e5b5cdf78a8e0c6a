"""What the labels of a distributed table stand for: classes, scores, abstentions or clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter
from blindfuse.model.model import Model
from blindfuse.responses.anchor import NO_ANCHOR, Alphabet, Anchor
from blindfuse.responses.coding import check_classes, positions
from blindfuse.responses.score_scale import ScoreScale
from blindfuse.responses.scores import (
    MAX_LEVELS,
    SCORE_CLASSES,
    Levels,
    ScoreTable,
    check_edges,
    ordered_classes,
    score_symbols,
)
from blindfuse.responses.symbols import NO_RESPONSE, with_no_response
from blindfuse.typing import Array, Floats

AnchorOption = ArrayLike | Anchor | Literal["none"] | None

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
        symbols, abstentions = model.symbols, NO_RESPONSE in model.symbols.tolist()
        if abstentions:
            symbols = symbols[[name != NO_RESPONSE for name in symbols.tolist()]]
        anchor = NO_ANCHOR
        if np.array_equal(positions(symbols, model.classes), np.arange(len(model.classes))):
            return cls(model.annotators, Alphabet.plain(model.classes), abstentions)
        if model.scale is not None:
            anchor = Anchor.by_order(np.arange(len(symbols)), model.scale)
        return cls(model.annotators, Alphabet(model.classes, symbols, anchor), abstentions)

    @property
    def reported(self) -> Array:
        """The symbols that labels of the table can be."""
        return self.alphabet.symbols

    @property
    def scale(self) -> ScoreScale | None:
        """Where levels of scores begin, if scores are divided into levels."""
        return self.alphabet.anchor.scale

    @property
    def fitted(self) -> Alphabet:
        """The alphabet of the responses, "no response" included."""
        return with_no_response(self.alphabet) if self.abstentions else self.alphabet

    def symbol_arguments(self) -> dict[str, Any]:
        """Return the arguments of ``Responses.from_codes`` beside the classes."""
        if self.alphabet.is_plain:
            return {}
        return {"symbols": self.alphabet.symbols, "anchor": self.alphabet.anchor}


@dataclass(frozen=True)
class ScoreSums:
    """Count and sum of the scores per annotator and score, or per annotator and given level.

    ``is_full`` says that there were more than the driver collects.
    """

    of: dict[tuple[Any, float], tuple[int, float]]
    is_full: bool = False

    def __add__(self, other: "ScoreSums") -> "ScoreSums":
        if self.is_full or other.is_full:
            return ScoreSums({}, True)
        merged = dict(self.of)
        for key, (count, total) in other.of.items():
            known = merged.get(key, (0, 0.0))
            merged[key] = (known[0] + count, known[1] + total)
        return ScoreSums(merged) if len(merged) <= MAX_SCORES else ScoreSums({}, True)

    def table(self, annotators: Array, *, by_level: bool) -> ScoreTable:
        """Return annotators, scores and their counts, in an order that depends on them only.

        Where sums are ``by_level``, the mean stands for the scores of a level.
        """
        code_of = {name: code for code, name in enumerate(annotators.tolist())}
        rows = sorted(
            (code_of[name], total / count if by_level else key, count)
            for (name, key), (count, total) in self.of.items()
        )
        codes, scores, counts = np.array(rows, dtype=float).reshape(-1, 3).T
        return ScoreTable(codes.astype(np.intp), scores, counts.astype(np.int64), annotators)


@dataclass(frozen=True, eq=False)
class SymbolOptions:
    """What the caller says about labels.

    Attributes
    ----------
    classes
        the classes, or their number where symbols are not classes.
    scores, levels
        whether labels are scores, and their levels, as in ``Responses.from_scores``.
    abstentions
        whether a missing response is a symbol, as in ``Responses.with_abstentions``.
    anchor ``[symbol, class]``
        what labels say about the classes, as in ``Responses.with_anchor``; ``"none"`` for
        clusterings.
    """

    classes: Sequence[Any] | int | None = None
    scores: bool = False
    levels: Levels = MAX_LEVELS
    abstentions: bool = False
    anchor: AnchorOption = None

    def check(self) -> "SymbolOptions":
        """Return the options; raise BadParameter if they exclude each other."""
        named = {"scores=True": self.scores, "abstentions=True": self.abstentions}
        chosen = [name for name, used in named.items() if used]
        chosen += [] if self.anchor is None else ["anchor="]
        if len(chosen) > 1 and chosen != ["abstentions=True", "anchor="]:
            raise BadParameter(f"{' and '.join(chosen)} exclude each other. Pass one of them.")
        if self.anchor is not None and self.classes is None:
            raise BadParameter("anchor= needs classes=, the classes that symbols speak for.")
        if self.scores:
            _ = self._scale  # bad edges are refused here, not on a worker
        return self

    @property
    def reported_classes(self) -> list[Any] | None:
        """The labels that can occur, if the caller named them."""
        if self.classes is None or self.anchor is not None:
            return None
        if isinstance(self.classes, int):
            raise BadParameter(
                f"classes={self.classes} is a number, but labels are classes. Name them, or pass "
                "scores=True or anchor='none'."
            )
        return list(check_classes(self.classes))

    def alphabet(self, labels: Array) -> Alphabet:
        """Return the alphabet of these labels, which are classes unless there is an anchor."""
        if self.anchor is None:
            return Alphabet.plain(labels)
        classes = ordered_classes(self.classes)
        if isinstance(self.anchor, str):
            if self.anchor != "none":
                raise BadParameter(f"anchor={self.anchor!r} must be a matrix or 'none'.")
            return Alphabet(classes, labels, NO_ANCHOR)
        known = isinstance(self.anchor, Anchor)
        anchor = self.anchor if known else Anchor.by_matrix(self.anchor)
        assert isinstance(anchor, Anchor)
        return Alphabet(classes, labels, anchor)

    @property
    def _scale(self) -> ScoreScale | None:
        """The levels that the caller gave."""
        if self.levels is None or isinstance(self.levels, ScoreScale):
            return self.levels
        return None if np.ndim(self.levels) == 0 else ScoreScale(check_edges(self.levels)[None])

    def sum_scores(self, annotators: pa.Array, scores: Floats) -> ScoreSums:
        """Return the sums of these scores; those of given levels are not kept apart."""
        given = ~np.isnan(scores)
        names = np.array(annotators.to_pylist(), dtype=object)[given]
        values, scale = scores[given], self._scale
        known = np.array(sorted(set(names.tolist()) - {None}, key=str), dtype=object)
        codes = positions(names, known)
        keys = values if scale is None else scale.codes(codes, known, values).astype(float)
        table = np.column_stack([codes, keys])
        distinct, places = np.unique(table, axis=0, return_inverse=True)
        if len(distinct) > MAX_SCORES:
            return ScoreSums({}, True)
        counts = np.bincount(places.ravel(), minlength=len(distinct))
        sums = np.bincount(places.ravel(), values, minlength=len(distinct))
        rows = zip(distinct.tolist(), counts.tolist(), sums.tolist(), strict=True)
        return ScoreSums(
            {(known[int(code)], key): (count, total) for (code, key), count, total in rows}
        )

    def score_alphabet(self, sums: ScoreSums, annotators: Array) -> Alphabet:
        """Return the alphabet of levels of the scores."""
        if sums.is_full:
            raise BadLabels(
                f"There are more than {MAX_SCORES:,} different scores. Pass the edges between "
                "levels, such as levels=[2.5, 5, 7.5], or round the scores."
            )
        scale = self._scale
        table = sums.table(annotators, by_level=scale is not None)
        found = score_symbols(table, self.levels if scale is None else scale)
        classes = ordered_classes(SCORE_CLASSES if self.classes is None else self.classes)
        return Alphabet(classes, np.asarray(check_classes(found.symbols)), found.anchor)
