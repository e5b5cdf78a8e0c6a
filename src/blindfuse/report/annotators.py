"""The annotators as a page lists them: everybody who fits, with confusion matrices."""

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.model.model import Model
from blindfuse.report.names import fitting

Floats = NDArray[np.float64]

ROOM = 700_000
"""Bytes for the rows and their matrices, so that the whole page stays below 3 MB."""
MATRIX_CLASSES = 20
"""Classes of a matrix that is shown; of more, the most common ones."""
MATRIX_CELLS = 150_000
"""Cells of all matrices together."""
PARTNERS = 5
"""Annotators that a row names as erring together with its own."""
LEAN = 0.05
"""A class that an annotator reports so much more often than it should is worth a word."""


@dataclass(frozen=True)
class Annotator:
    """One row. Classes are codes; probabilities have four digits.

    ``remarks`` are what to look at, in words; ``partners`` the first of those it errs together
    with; ``leans`` the class that it reports too often, by ``lean``, or None. ``matrix[true]
    [reported]`` is in thousandths, over the classes of the table, None where there is no room.
    """

    name: str
    labels: int
    accuracy: float
    low: float
    high: float
    misfit: float | None
    worst: int
    taken_for: int
    leans: int | None
    lean: float
    remarks: tuple[str, ...]
    partners: tuple[str, ...]
    matrix: list[list[int]] | None


@dataclass(frozen=True)
class AnnotatorTable:
    """``rows``, those with most labels first, of ``total`` annotators; ``without_matrix`` lack one.

    ``matrix_classes`` are the codes of the rows and columns of the matrices.
    """

    rows: tuple[Annotator, ...]
    total: int
    matrix_classes: tuple[int, ...]
    without_matrix: int


def annotator_table(found: Diagnostics, model: Model, names: list[str]) -> AnnotatorTable:
    """Everybody, or those with remarks and then those with most labels, as far as they fit."""
    annotators = found.annotators
    partners = _partners(found)
    remarks = [_remarks(found, m, len(partners.get(m, ()))) for m in range(len(names))]
    classes = common_classes(model.prior, MATRIX_CLASSES)
    by_labels = np.lexsort((-annotators.accuracy, -annotators.labels))
    by_weight = sorted(by_labels.tolist(), key=lambda m: not remarks[m])
    with_matrix = set(by_weight[: MATRIX_CELLS // len(classes) ** 2])
    rows = {
        m: _row(
            found,
            names,
            m,
            remarks[m],
            tuple(names[other] for other in partners.get(m, ())[:PARTNERS]),
            model.confusions[m][np.ix_(classes, classes)] if m in with_matrix else None,
        )
        for m in by_weight
    }
    kept = set(by_weight[: fitting([asdict(rows[m]) for m in by_weight], ROOM)])
    listed = tuple(rows[m] for m in by_labels.tolist() if m in kept)
    lacking = sum(row.matrix is None for row in listed)
    return AnnotatorTable(listed, len(names), tuple(classes.tolist()), lacking)


def common_classes(prior: Floats, most: int) -> NDArray[np.intp]:
    """The codes of the most common classes, in their own order."""
    return np.sort(np.argsort(-prior, kind="stable")[:most])


def _row(
    found: Diagnostics,
    names: list[str],
    m: int,
    remarks: tuple[str, ...],
    partners: tuple[str, ...],
    confusion: Floats | None,
) -> Annotator:
    annotators, misfit = found.annotators, found.fit.by_annotator[m]
    leans = int(annotators.bias[m].argmax())
    lean = float(annotators.bias[m, leans])
    return Annotator(
        name=names[m],
        labels=int(annotators.labels[m]),
        accuracy=_digits(annotators.accuracy[m]),
        low=_digits(annotators.low[m]),
        high=_digits(annotators.high[m]),
        misfit=None if np.isnan(misfit) else round(float(misfit), 2),
        worst=int(annotators.worst[m]),
        taken_for=int(annotators.taken_for[m]),
        leans=leans if lean >= LEAN else None,
        lean=_digits(lean),
        remarks=remarks,
        partners=partners,
        matrix=None if confusion is None else _thousandths(confusion),
    )


def _remarks(found: Diagnostics, m: int, partners: int) -> tuple[str, ...]:
    annotators = found.annotators
    others = f"{partners} other{'s' if partners > 1 else ''}"
    remarks = (
        (annotators.labels[m] == 0, "no answers"),
        (annotators.adversary[m], "worse than chance"),
        (annotators.spammer[m], "no better than chance"),
        (annotators.constant[m], "always the same answer"),
        (partners, f"errs together with {others}"),
    )
    return tuple(words for holds, words in remarks if holds)


def _partners(found: Diagnostics) -> dict[int, list[int]]:
    """Whom each annotator errs together with, most so first."""
    pairs, excess = found.dependence.pairs, found.dependence.excess
    partners: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs[np.argsort(-excess, kind="stable")].tolist():
        partners[one].append(other)
        partners[other].append(one)
    return partners


def _thousandths(confusion: Floats) -> list[list[int]]:
    """``[true][reported]`` of a matrix ``[reported, true]``."""
    return np.rint(1000 * confusion.T).astype(int).tolist()  # type: ignore[no-any-return]


def _digits(value: Any) -> float:
    return round(float(value), 4)
