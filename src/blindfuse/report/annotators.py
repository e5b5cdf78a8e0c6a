"""The table of annotators on the page, with their confusion matrices."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.diagnostics.annotators import FLAGS
from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.model.model import Model
from blindfuse.report.script_data import count_fitting, row_values
from blindfuse.typing import Codes, Floats

MAX_BYTES = 700_000
"""Size of the rows with their matrices, so that the whole page stays below 3 MB."""
MAX_MATRIX_CLASSES = 20
"""Classes of a confusion matrix that are shown; of more, the most common ones."""
MAX_MATRIX_SYMBOLS = 30
"""Columns of a confusion matrix whose symbols are not classes: the most frequent ones."""
MAX_MATRIX_CELLS = 150_000
"""Cells of all confusion matrices together."""
MAX_PARTNERS = 5
"""Dependent annotators that a row names."""
MIN_BIAS = 0.05
"""Bias at or above which a class counts as over-reported."""


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator. Classes are codes; probabilities are rounded to four decimals.

    ``coverage``, ``overlap`` and ``conflict`` are shares of all items. ``remarks`` are reasons to
    check this annotator. ``partners`` are the annotators with the most strongly correlated errors.
    ``over_reported`` is the class with the largest bias, ``over_reported_by``, or None if that is
    small. ``matrix[true][reported]`` is in thousandths, over the classes of the table; None where
    the page has no space for it.
    """

    name: str
    responses: int
    accuracy: float
    low: float
    high: float
    coverage: float
    overlap: float
    conflict: float
    misfit: float | None
    worst_class: int
    confused_with: int
    over_reported: int | None
    over_reported_by: float
    remarks: tuple[str, ...]
    partners: tuple[str, ...]
    matrix: list[list[int]] | None


@dataclass(frozen=True)
class AnnotatorTable:
    """The ``rows`` on the page, most responses first, of ``total`` annotators.

    ``matrix_classes`` are the codes of the matrices' rows and columns; ``without_matrix`` counts
    the rows that have no matrix. Where symbols are not classes, columns are ``matrix_symbols``.
    """

    rows: tuple[AnnotatorRow, ...]
    total: int
    matrix_classes: tuple[int, ...]
    without_matrix: int
    matrix_symbols: tuple[str, ...] | None = None


def annotator_table(diagnostics: Diagnostics, model: Model, names: list[str]) -> AnnotatorTable:
    """Return all annotators, or as many as fit: those with remarks, then the busiest."""
    annotators = diagnostics.annotators
    partners = _dependent_partners(diagnostics)
    remarks = [_remarks(diagnostics, m, len(partners.get(m, ()))) for m in range(len(names))]
    classes = most_common_classes(model.prior, MAX_MATRIX_CLASSES)
    busiest = np.lexsort((-annotators.accuracy, -annotators.n_responses)).tolist()
    by_priority = sorted(busiest, key=lambda m: not remarks[m])
    symbols = classes
    if not model.is_plain:
        pooled = model.confusions.mean(axis=0) @ model.prior
        symbols = most_common_classes(pooled, MAX_MATRIX_SYMBOLS)
    with_matrix = set(by_priority[: MAX_MATRIX_CELLS // (len(symbols) * len(classes))])
    rows = {
        m: _row(
            diagnostics,
            names,
            m,
            remarks[m],
            tuple(names[other] for other in partners.get(m, ())[:MAX_PARTNERS]),
            model.confusions[m][np.ix_(symbols, classes)] if m in with_matrix else None,
        )
        for m in by_priority
    }
    kept = set(by_priority[: count_fitting([row_values(rows[m]) for m in by_priority], MAX_BYTES)])
    listed = tuple(rows[m] for m in busiest if m in kept)
    without_matrix = sum(row.matrix is None for row in listed)
    shown = None if model.is_plain else tuple(map(str, model.symbols[symbols].tolist()))
    return AnnotatorTable(listed, len(names), tuple(classes.tolist()), without_matrix, shown)


def most_common_classes(prior: Floats, limit: int) -> Codes:
    """Return the codes of the ``limit`` most common classes, in ascending order."""
    return np.sort(np.argsort(-prior, kind="stable")[:limit])


def _row(
    diagnostics: Diagnostics,
    names: list[str],
    m: int,
    remarks: tuple[str, ...],
    partners: tuple[str, ...],
    confusion: Floats | None,
) -> AnnotatorRow:
    annotators, misfit = diagnostics.annotators, diagnostics.fit.by_annotator[m]
    over_reported = int(annotators.bias[m].argmax())
    bias = float(annotators.bias[m, over_reported])
    return AnnotatorRow(
        name=names[m],
        responses=int(annotators.n_responses[m]),
        accuracy=_rounded(annotators.accuracy[m]),
        low=_rounded(annotators.low[m]),
        high=_rounded(annotators.high[m]),
        coverage=_rounded(diagnostics.coverage.coverage[m]),
        overlap=_rounded(diagnostics.coverage.overlap[m]),
        conflict=_rounded(diagnostics.coverage.conflict[m]),
        misfit=None if np.isnan(misfit) else round(float(misfit), 2),
        worst_class=int(annotators.worst_class[m]),
        confused_with=int(annotators.confused_with[m]),
        over_reported=over_reported if bias >= MIN_BIAS else None,
        over_reported_by=_rounded(bias),
        remarks=remarks,
        partners=partners,
        matrix=None if confusion is None else _thousandths(confusion),
    )


def _remarks(diagnostics: Diagnostics, m: int, n_partners: int) -> tuple[str, ...]:
    annotators = diagnostics.annotators
    remarks = [] if annotators.n_responses[m] else ["no responses"]
    remarks += [FLAGS[flag] for flag in annotators.flags_of(m)]
    if n_partners:
        others = "1 other" if n_partners == 1 else f"{n_partners} others"
        remarks.append(f"errors correlated with {others}")
    return tuple(remarks)


def _dependent_partners(diagnostics: Diagnostics) -> dict[int, list[int]]:
    """The dependent partners of each annotator, largest excess agreement first."""
    pairs, excess = diagnostics.dependence.pairs, diagnostics.dependence.excess
    partners: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs[np.argsort(-excess, kind="stable")].tolist():
        partners[first].append(second)
        partners[second].append(first)
    return partners


def _thousandths(confusion: Floats) -> list[list[int]]:
    """``[true][reported]`` of a matrix ``[reported, true]``."""
    return np.rint(1000 * confusion.T).astype(int).tolist()  # type: ignore[no-any-return]


def _rounded(value: Any) -> float:
    return round(float(value), 4)
