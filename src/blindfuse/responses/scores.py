"""Responses that are scores on a scale: levels of the score are symbols, with an order."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses import frames
from blindfuse.responses.anchor import MAX_SYMBOLS, Anchor
from blindfuse.responses.coding import as_column, check_classes
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.frame_tables import LongTable, read_cells
from blindfuse.responses.inputs import code_columns, row_description
from blindfuse.responses.numerals import as_floats, missing_number_note
from blindfuse.responses.repeats import Repeats
from blindfuse.responses.score_scale import ScoreScale
from blindfuse.typing import Array, Codes, Flags, Floats

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

Levels = int | ArrayLike | ScoreScale | None
"""A maximum number of levels, edges between levels, or the scale of an earlier table. None, the
scale of tables in which every score is a symbol, stands for the default."""

SCORE_CLASSES = ("fail", "pass")
"""The classes of scores if the caller names none."""
MAX_LEVELS = 11
"""Levels of scores by default: as many as the whole numbers from 0 to 10."""
MIN_LEVEL_SHARE = 2 / 3
"""Share of an annotator's own levels that the levels of the crowd must leave it."""
MIN_SCORES_PER_LEVEL = 2
"""Scores per level that an annotator needs before its own levels are compared."""
MIN_SPREAD_RATIO = 4.0
"""Ratio of the widest and the narrowest annotator's spread at or above which scales differ, as
those from 1 to 5 and from 0 to 20 do. Judges on one scale differ less, however strict they are."""


class ScoreTable(NamedTuple):
    """Scores ``[row]`` of annotators (by code), each of which was given ``counts[row]`` times."""

    annotators: Codes
    scores: Floats
    counts: NDArray[np.int64]
    names: Array

    @classmethod
    def of(cls, annotators: Codes, scores: Floats, names: Array) -> "ScoreTable":
        """Return the table of one score per row, without those that are missing."""
        present = ~np.isnan(scores)
        ones = np.ones(np.count_nonzero(present), dtype=np.int64)
        return cls(annotators[present], scores[present], ones, names)


class ScoreSymbols(NamedTuple):
    """Names and values ``[symbol]`` of levels, their scale, and remarks about it.

    Without a scale, every score that occurs is a symbol of its own.
    """

    symbols: list[Any]
    values: Floats
    scale: ScoreScale | None
    remarks: list[str]

    @property
    def anchor(self) -> Anchor:
        """The order of the levels."""
        return Anchor.by_order(self.values, self.scale)

    def codes(self, annotators: Codes, names: Array, scores: Floats) -> Codes:
        """Return the level of each score, ``[response]``; −1 if it is missing."""
        if self.scale is not None:
            return self.scale.codes(annotators, names, scores)
        return np.where(np.isnan(scores), -1, np.searchsorted(self.values, scores))


def score_symbols(table: ScoreTable, levels: Levels) -> ScoreSymbols:
    """Divide scores into at most ``levels`` symbols, or into those of a given scale.

    Where at most ``levels`` values occur, each is a symbol of its own. Otherwise the levels have
    about equal numbers of scores: of the crowd's, or of each annotator's own where spreads differ
    plainly and the crowd's levels would leave an annotator fewer than two thirds of its own.
    """
    distinct = np.unique(table.scores)
    if not len(distinct):
        raise BadLabels("There are no scores, so there is nothing to fuse. Check the input.")
    if isinstance(levels, ScoreScale):
        return _symbols_of_scale(table, levels, [])
    if levels is not None and np.ndim(levels) > 0:
        scale = ScoreScale(check_edges(levels)[None])
        return _symbols_of_scale(table, scale, _coarse_annotators(table, scale))
    n_levels = MAX_LEVELS if levels is None else check_levels(levels, "levels", 2)
    if len(distinct) == 1:
        raise BadLabels(
            f"Every score is {distinct[0]:g}, so scores say nothing about the classes. Check "
            "the column with the scores."
        )
    if len(distinct) <= n_levels:
        return ScoreSymbols([_plain_number(value) for value in distinct], distinct, None, [])
    crowd = ScoreScale(_crowd_edges(table, n_levels)[None])
    own = ScoreScale(_own_edges(table, n_levels), table.names)
    kept = _effective_levels(table, crowd), _effective_levels(table, own)
    n_scores = np.bincount(table.annotators, table.counts, minlength=len(table.names))
    enough = n_scores >= MIN_SCORES_PER_LEVEL * n_levels
    lost = enough & (kept[0] < MIN_LEVEL_SHARE * kept[1])
    if not lost.any() or _spread_ratio(table, enough) < MIN_SPREAD_RATIO:
        return _symbols_of_scale(table, crowd, [])
    note = (
        "annotators use different scales: levels of the whole crowd would leave "
        f"{list_names(table.names[lost])} fewer than two thirds of their own, so the levels of "
        "every annotator have about equal numbers of its own scores"
    )
    return _symbols_of_scale(table, own, [note])


def _symbols_of_scale(table: ScoreTable, scale: ScoreScale, remarks: list[str]) -> ScoreSymbols:
    """Levels named by their edges; the value of a level is the mean of its scores.

    Where annotators have edges of their own, levels are numbered, and the number is the value.
    """
    R = scale.n_levels
    if scale.annotators is not None:
        names = [f"level {level} of {R}" for level in range(1, R + 1)]
        return ScoreSymbols(names, np.arange(R, dtype=float), scale, remarks)
    codes = scale.codes(table.annotators, table.names, table.scores)
    counts = np.bincount(codes, table.counts, minlength=R)
    sums = np.bincount(codes, table.counts * table.scores, minlength=R)
    values = np.divide(sums, counts, out=np.full(R, np.nan), where=counts > 0)
    return ScoreSymbols(_level_names(scale.edges[0]), values, scale, remarks)


def _level_names(edges: Floats) -> list[str]:
    texts = [f"{edge:.6g}" for edge in edges]
    if len(set(texts)) < len(texts):
        texts = [repr(float(edge)) for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]


def _crowd_edges(table: ScoreTable, n_levels: int) -> Floats:
    """Edges of levels with about equal numbers of scores; no level is empty.

    Edges are scores that occur. A level that a frequent score would leave empty is dropped.
    """
    order = np.argsort(table.scores, kind="stable")
    scores = table.scores[order]
    edges = np.unique(_quantiles(scores, table.counts[order], n_levels))
    edges = edges[edges > scores[0]]
    return np.asarray(edges if len(edges) else scores[-1:])


def _own_edges(table: ScoreTable, n_levels: int) -> Floats:
    """Edges ``[annotator, level]`` between about equal numbers of each annotator's own scores."""
    order = np.lexsort((table.scores, table.annotators))
    scores, counts = table.scores[order], table.counts[order]
    bounds = np.searchsorted(table.annotators[order], np.arange(len(table.names) + 1))
    edges = np.zeros((len(table.names), n_levels - 1))
    for m, (begin, end) in enumerate(pairwise(bounds)):
        if end > begin:
            edges[m] = _quantiles(scores[begin:end], counts[begin:end], n_levels)
    return edges


def _quantiles(scores: Floats, counts: NDArray[np.int64], n_levels: int) -> Floats:
    """The scores, of those that are given in order, above which the next level begins."""
    ends = np.cumsum(counts)
    ranks = np.ceil((ends[-1] - 1) * (np.arange(1, n_levels) / n_levels))
    return np.asarray(scores[np.searchsorted(ends, ranks, side="right")])


def _spread_ratio(table: ScoreTable, enough: Flags) -> float:
    """Ratio of the largest and the smallest spread of annotators with ``enough`` scores.

    The spread is the difference of the first and the last decile; constant scores have none.
    """
    deciles = _own_edges(table, 10)[enough]
    spreads = deciles[:, -1] - deciles[:, 0]
    spreads = spreads[spreads > 0]
    return float(spreads.max() / spreads.min()) if len(spreads) else 1.0


def _effective_levels(table: ScoreTable, scale: ScoreScale) -> Floats:
    """The number of levels that each annotator uses, ``[annotator]``: exp of their entropy."""
    M, R = len(table.names), scale.n_levels
    cells = table.annotators * R + scale.codes(table.annotators, table.names, table.scores)
    used = np.bincount(cells, table.counts, minlength=M * R).reshape(M, R)
    shares = used / np.maximum(used.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.exp(-np.sum(shares * np.log(np.maximum(shares, 1e-300)), axis=1)))


def check_edges(edges: Any) -> Floats:
    """Return edges between levels as numbers; raise BadParameter unless they ascend."""
    array = as_floats(as_column(edges).copy(), lambda at: f"edge {at}")
    if not len(array) or np.any(np.isnan(array)) or np.any(np.diff(array) <= 0):
        raise BadParameter(
            "levels= must be a number of levels, or edges between levels that ascend. "
            f"Pass e.g. levels=11 or levels=[2.5, 5, 7.5], not {list_names(np.ravel(array))}."
        )
    if len(array) >= MAX_SYMBOLS:
        raise BadParameter(
            f"levels= has {len(array):,} edges; at most {MAX_SYMBOLS - 1:,} allowed."
        )
    return array


def check_levels(levels: Any, name: str, minimum: int) -> int:
    """Return a number of levels; raise BadParameter unless it is whole and in range."""
    is_whole = isinstance(levels, int | np.integer) and not isinstance(levels, bool)
    if not is_whole or not minimum <= levels <= MAX_SYMBOLS:
        raise BadParameter(
            f"{name}={levels!r} must be a whole number from {minimum} to {MAX_SYMBOLS:,}."
        )
    return int(levels)


def _plain_number(value: float) -> int | float:
    return int(value) if value == int(value) and abs(value) < 2**53 else float(value)


def _coarse_annotators(table: ScoreTable, scale: ScoreScale) -> list[str]:
    """Return a remark about annotators whose different scores all fall into one level."""
    codes = scale.codes(table.annotators, table.names, table.scores)
    extremes = np.full((4, len(table.names)), np.nan)
    for row, (reduce, column) in enumerate(
        [(np.fmin, codes), (np.fmax, codes), (np.fmin, table.scores), (np.fmax, table.scores)]
    ):
        reduce.at(extremes[row], table.annotators, column.astype(float))
    low, high, lowest, highest = extremes
    coarse = (low == high) & (lowest < highest)
    if not coarse.any():
        return []
    return [
        f"all scores of {list_names(table.names[coarse])} are in one of the {scale.n_levels:,} "
        "levels, because they use a scale of their own: pass levels= as a number, and levels are "
        "made for each annotator"
    ]


def read_scores(
    table: type["Responses"],
    columns: tuple[Any, Any, Any],
    named: ColumnOptions,
    classes: Any,
    levels: Levels,
    repeats: Repeats,
) -> "Responses":
    """Read items, annotators and scores, or a frame or matrix alone (``Responses.from_scores``)."""
    items, annotators, scores = columns
    if (annotators is None) != (scores is None):
        raise BadParameter(
            "Pass items, annotators and scores as three columns, or one frame or matrix alone."
        )
    if annotators is None:
        long = read_cells(items, named, "Responses.from_scores")
    else:
        long = LongTable(items, annotators, scores)
    column = as_column(frames.values(long.values))
    item, annotator = code_columns(long.items, long.annotators, column, "scores")
    if column.dtype.kind == "b":
        raise BadLabels("Scores must be numbers, not booleans. Read them as classes instead.")
    numbers = as_floats(column, row_description)
    found = score_symbols(ScoreTable.of(annotator.codes, numbers, annotator.names), levels)
    missing = missing_number_note(np.unique(numbers).tolist())
    return table.from_codes(
        item.codes,
        annotator.codes,
        found.codes(annotator.codes, annotator.names, numbers),
        items=item.names,
        annotators=annotator.names,
        classes=ordered_classes(classes),
        repeats=repeats,
        remarks=(*long.notes, *item.notes, *annotator.notes, *missing, *found.remarks),
        symbols=found.symbols,
        anchor=found.anchor,
    )


def ordered_classes(classes: Any) -> Array:
    """Return the classes that scores stand for, from low to high; a number counts them."""
    if isinstance(classes, int | np.integer) and not isinstance(classes, bool):
        return np.arange(check_levels(classes, "classes", 2))
    names = check_classes(classes)
    if len(names) < 2:
        raise BadLabels(
            f"classes= has only {list_names(names)}. List at least two classes, from low to high "
            "scores."
        )
    return names
