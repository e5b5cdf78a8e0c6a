"""Scores on a scale, whose levels are symbols in an order, and probabilities of the classes."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses import frames
from blindfuse.responses.alphabet import Anchor, ScoreScale
from blindfuse.responses.coding import MAX_CLASSES, as_column, as_values, check_classes
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import Names, long_cells, matrix_cells, read_frame
from blindfuse.responses.rows import Repeats
from blindfuse.responses.scalars import as_floats, missing_number_note, plain_number
from blindfuse.typing import Array, Codes, Floats, Integers

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

Levels = int | ArrayLike | ScoreScale | None
"""A maximum number of levels, edges between levels, or the scale of an earlier table. None, the
scale of tables in which every score is a symbol, stands for the default."""

SCORE_CLASSES = ("fail", "pass")
"""The classes of scores if the caller names none."""
MAX_LEVELS = 11
"""Levels of scores by default: as many as the whole numbers from 0 to 10."""
_MIN_LEVEL_SHARE = 2 / 3
"""Share of an annotator's own levels that the levels of the crowd must leave it."""
_MIN_SCORES_PER_LEVEL = 2
"""Scores per level that an annotator needs before its own levels are compared."""
_MIN_SPREAD_RATIO = 4.0
"""Ratio of the widest and the narrowest annotator's spread at or above which scales differ, as
those from 1 to 5 and from 0 to 20 do. Judges on one scale differ less, however strict they are."""


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
    if annotators is not None:
        cells = long_cells(items, annotators, scores, "scores")
    elif frames.is_frame(items):
        cells = read_frame(items, named, "Responses.from_scores")
    else:
        cells = matrix_cells(items)
    if cells.values.dtype.kind == "b":
        raise BadLabels("Scores must be numbers, not booleans. Read them as classes instead.")
    numbers, (codes, names, _) = as_floats(cells.values, cells.describe), cells.annotators
    given = ~np.isnan(numbers)
    rows = codes[given], numbers[given], np.ones(np.count_nonzero(given), dtype=np.int64)
    symbols, anchor, remarks = score_levels(*rows, names, levels)
    return table.collect(
        cells,
        anchor.symbols_of(codes, names, numbers),
        repeats,
        [*missing_number_note(np.unique(numbers).tolist()), *remarks],
        classes=ordered_classes(classes),
        symbols=check_classes(symbols),
        anchor=anchor,
    )


def score_levels(
    annotators: Codes, scores: Floats, counts: Integers, names: Array, levels: Levels
) -> tuple[list[Any], Anchor, list[str]]:
    """Divide scores into at most ``levels`` symbols, or into those of a given scale.

    Annotator ``names[annotators[row]]`` gave ``scores[row]`` as often as ``counts[row]`` says.
    Returns the symbols, their anchor and remarks about the scale.

    Where at most ``levels`` values occur, each is a symbol of its own. Otherwise the levels have
    about equal numbers of scores: of the crowd's, or of each annotator's own where spreads differ
    plainly and the crowd's levels would leave an annotator fewer than two thirds of its own.
    """
    distinct = np.unique(scores)
    if not len(distinct):
        raise BadLabels("There are no scores, so there is nothing to fuse. Check the input.")
    remarks: list[str] = []
    if isinstance(levels, ScoreScale):
        scale = levels
    elif levels is not None and np.ndim(levels):
        scale = ScoreScale(check_edges(levels)[None])
    else:
        n_levels = MAX_LEVELS if levels is None else check_levels(levels, "levels", 2)
        if len(distinct) == 1:
            raise BadLabels(
                f"Every score is {distinct[0]:g}, so scores say nothing about the classes. Check "
                "the column with the scores."
            )
        if len(distinct) <= n_levels:
            return [plain_number(value) for value in distinct], Anchor.by_order(distinct), []
        scale, remarks = _find_scale(annotators, scores, counts, names, n_levels)
    R = scale.n_levels
    if scale.annotators is not None:  # a level has another mean score for each annotator
        symbols = [f"level {level} of {R}" for level in range(1, R + 1)]
        return symbols, Anchor.by_order(np.arange(R), scale), remarks
    codes = scale.codes(annotators, names, scores)
    n, sums = np.bincount(codes, counts, R), np.bincount(codes, counts * scores, R)
    means = np.divide(sums, n, out=np.full(R, np.nan), where=n > 0)
    return _level_names(scale.edges[0]), Anchor.by_order(means, scale), remarks


def _find_scale(
    annotators: Codes, scores: Floats, counts: Integers, names: Array, n_levels: int
) -> tuple[ScoreScale, list[str]]:
    """Return the levels of the crowd, or those of each annotator with a remark that says why."""

    def effective_levels(scale: ScoreScale) -> Floats:
        """Return the number of levels that each annotator uses: exp of their entropy."""
        R = scale.n_levels
        cells = annotators * R + scale.codes(annotators, names, scores)
        used = np.bincount(cells, counts, len(names) * R).reshape(len(names), R)
        shares = used / np.maximum(used.sum(axis=1, keepdims=True), 1)
        return np.asarray(np.exp(-np.sum(shares * np.log(np.maximum(shares, 1e-300)), axis=1)))

    (edges,) = _quantiles(np.zeros_like(annotators), 1, scores, counts, n_levels)
    edges = np.unique(edges[edges > scores.min()])  # no level is empty
    crowd = ScoreScale((edges if len(edges) else scores.max(keepdims=True))[None])
    own = ScoreScale(_quantiles(annotators, len(names), scores, counts, n_levels), names)
    n_scores = np.bincount(annotators, counts, len(names))
    enough = n_scores >= _MIN_SCORES_PER_LEVEL * n_levels
    lost = enough & (effective_levels(crowd) < _MIN_LEVEL_SHARE * effective_levels(own))
    deciles = _quantiles(annotators, len(names), scores, counts, 10)[enough]
    spreads = deciles[:, -1] - deciles[:, 0]
    spreads = spreads[spreads > 0]
    if not lost.any() or not len(spreads) or spreads.max() < _MIN_SPREAD_RATIO * spreads.min():
        return crowd, []
    return own, [
        "annotators use different scales: levels of the whole crowd would leave "
        f"{list_names(names[lost])} fewer than two thirds of their own, so the levels of "
        "every annotator have about equal numbers of its own scores"
    ]


def _quantiles(
    groups: Codes, n_groups: int, scores: Floats, counts: Integers, n_levels: int
) -> Floats:
    """Return the scores of each group at which the next level begins, ``[group, level − 1]``."""
    order = np.lexsort((scores, groups))
    scores, counts = scores[order], counts[order]
    bounds = np.searchsorted(groups[order], np.arange(n_groups + 1))
    edges = np.zeros((n_groups, n_levels - 1))
    for row, (begin, end) in zip(edges, pairwise(bounds), strict=True):
        if end > begin:
            ends = np.cumsum(counts[begin:end])
            ranks = np.ceil((ends[-1] - 1) * (np.arange(1, n_levels) / n_levels))
            row[:] = scores[begin:end][np.searchsorted(ends, ranks, side="right")]
    return edges


def _level_names(edges: Floats) -> list[str]:
    texts = [f"{edge:.6g}" for edge in edges]
    if len(set(texts)) < len(texts):
        texts = [repr(float(edge)) for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]


def check_edges(edges: Any) -> Floats:
    """Return edges between levels as numbers; raise BadParameter unless they ascend."""
    array = as_floats(as_column(edges).copy(), lambda at: f"edge {at}")
    if not len(array) or np.any(np.isnan(array)) or np.any(np.diff(array) <= 0):
        raise BadParameter(
            "levels= must be a number of levels, or edges between levels that ascend. "
            f"Pass e.g. levels=11 or levels=[2.5, 5, 7.5], not {list_names(np.ravel(array))}."
        )
    check_levels(len(array) + 1, "levels", 2)
    return array


def check_levels(levels: Any, name: str, minimum: int) -> int:
    """Return a number of levels; raise BadParameter unless it is whole and in range."""
    is_whole = isinstance(levels, int | np.integer) and not isinstance(levels, bool)
    if not is_whole or not minimum <= levels <= MAX_CLASSES:
        raise BadParameter(
            f"{name}={levels!r} must be a whole number from {minimum} to {MAX_CLASSES:,}."
        )
    return int(levels)


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


# Probabilities

_SUM_TOLERANCE = 1e-3
"""Largest deviation of the sum of probabilities from one: that of single precision, and of
probabilities that were rounded to three digits."""


def read_probabilities(
    table: type["Responses"],
    array: Any,
    classes: Any,
    items: Names | None,
    annotators: Names | None,
) -> "Responses":
    """Read probabilities ``[item, annotator, class]`` (``Responses.from_probabilities``)."""
    try:
        probabilities = np.asarray(as_values(array), dtype=float)
    except (TypeError, ValueError):
        probabilities = np.empty(0)
    if probabilities.ndim != 3 or probabilities.shape[2] < 2 or not probabilities.shape[1]:
        raise BadLabels(
            "Expected an array of numbers [item, annotator, class] with at least two classes. "
            "Stack the arrays of predict_proba along axis 1, with NaN rows for missing responses."
        )
    missing = np.isnan(probabilities).all(axis=2)
    sums_to_one = np.abs(probabilities.sum(axis=2) - 1) <= _SUM_TOLERANCE
    wrong = np.argwhere(~missing & ~((probabilities >= 0).all(axis=2) & sums_to_one))
    if len(wrong):
        places = "; ".join(f"item {item}, annotator {annotator}" for item, annotator in wrong[:5])
        raise BadLabels(
            f"{len(wrong):,} rows are not probabilities from 0 to 1 that sum to one over the "
            f"classes ({places}). Correct them, or use NaN throughout for missing responses."
        )
    if missing.all():
        raise BadLabels("Every probability is NaN, so there is nothing to fuse.")
    K = probabilities.shape[2]
    class_names = np.arange(K) if classes is None else check_classes(classes)
    if len(class_names) != K:
        raise BadLabels(
            f"classes= has {len(class_names):,} names, but the probabilities are those of {K:,} "
            "classes. Pass one name each."
        )
    cells = matrix_cells(np.where(missing, -1, probabilities.argmax(axis=2)), items, annotators)
    given = {"classes": class_names, "probabilities": probabilities[~missing]}
    return table.collect(cells, cells.values, "most_frequent", **given)
