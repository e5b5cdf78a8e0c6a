"""The annotators of fused labels: a chart, and a listing with confusion matrices."""

from collections import defaultdict

import numpy as np

from blindfuse.diagnostics.annotators import FLAGS
from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.fusion.presentation import annotator_columns
from blindfuse.model.model import Model
from blindfuse.report.blocks import Key, Listing, Row, Section
from blindfuse.report.charts import PERCENT, points
from blindfuse.report.names import visible
from blindfuse.report.scripts import count_fitting
from blindfuse.result import json_rows
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
SHOWN = (
    *("responses", "accuracy", "accuracy_low", "accuracy_high"),
    *("coverage", "overlap", "conflict"),
)
"""The columns of the table of annotators that the listing has."""

REMARK_KEY = Key("no remarks", "with remarks")
TIPS = (
    ("name", "annotator", ""),
    ("value", "accuracy", PERCENT),
    ("low", "95 % interval from", PERCENT),
    ("high", "to", PERCENT),
    ("responses", "responses", ","),
    ("remarks", "remarks", ""),
)


def annotator_section(diagnostics: Diagnostics, model: Model, names: list[str]) -> Section:
    """Return the chart and the listing of annotators."""
    listing = annotator_listing(diagnostics, model, names)
    active = [row for row in listing.rows if row["responses"]]
    rows = [
        {
            "name": row["name"],
            "value": row["accuracy"],
            "low": row["accuracy_low"],
            "high": row["accuracy_high"],
            "responses": row["responses"],
            "remarks": ", ".join(row["remarks"]) or "none",
            "flagged": bool(row["remarks"]),
        }
        for row in sorted(active, key=lambda row: -float(row["accuracy"]))
    ]
    text = "Estimated accuracy of annotators with 95 % intervals; the table below has the numbers."
    title = "estimated accuracy with 95 % interval"
    charts = [points("annotators", rows, TIPS, text, title)] if rows else []
    return Section("annotators", "Annotators", "Annotators", (*charts, REMARK_KEY, listing))


def annotator_listing(diagnostics: Diagnostics, model: Model, names: list[str]) -> Listing:
    """Return all annotators, or as many as fit: those with remarks, then the busiest.

    ``matrix[true][reported]`` is in thousandths, over the classes of the listing; None where the
    page has no space for it. ``worst_class`` and other classes are codes.
    """
    annotators = diagnostics.annotators
    by_name = {row["annotator"]: row for row in json_rows(annotator_columns(diagnostics))}
    figures = [by_name[name] for name in annotators.names.tolist()]
    partners = _dependent_partners(diagnostics)
    remarks = [_remarks(diagnostics, m, len(partners[m])) for m in range(len(names))]
    classes = most_common_classes(model.prior, MAX_MATRIX_CLASSES)
    busiest = np.lexsort((-annotators.accuracy, -annotators.n_responses)).tolist()
    by_priority = sorted(busiest, key=lambda m: not remarks[m])
    symbols = classes
    if not model.is_plain:
        pooled = model.confusions.mean(axis=0) @ model.prior
        symbols = most_common_classes(pooled, MAX_MATRIX_SYMBOLS)
    with_matrix = set(by_priority[: MAX_MATRIX_CELLS // (len(symbols) * len(classes))])

    def row(m: int) -> Row:
        misfit, bias = diagnostics.fit.by_annotator[m], annotators.bias[m]
        over_reported = int(bias.argmax())
        matrix = model.confusions[m][np.ix_(symbols, classes)].T
        return {
            "name": names[m],
            **{name: figures[m][name] for name in SHOWN},
            "misfit": None if np.isnan(misfit) else round(float(misfit), 2),
            "worst_class": int(annotators.worst_class[m]),
            "confused_with": int(annotators.confused_with[m]),
            "over_reported": over_reported if bias[over_reported] >= MIN_BIAS else None,
            "over_reported_by": round(float(bias[over_reported]), 4),
            "remarks": remarks[m],
            "partners": [names[other] for other in partners[m][:MAX_PARTNERS]],
            "matrix": np.rint(1000 * matrix).astype(int).tolist() if m in with_matrix else None,
        }

    rows = {m: row(m) for m in by_priority}
    kept = set(by_priority[: count_fitting(list(rows.values()), MAX_BYTES)])
    listed = [rows[m] for m in busiest if m in kept]
    data: Row = {"matrix_classes": classes.tolist(), "matrix_symbols": None}
    if not model.is_plain:
        data["matrix_symbols"] = [visible(symbol) for symbol in model.symbols[symbols].tolist()]
    return Listing("annotators", listed, _caption(listed, len(names)), data)


def _caption(rows: list[Row], total: int) -> str:
    sentences = ["Select a name to see the confusion matrix of an annotator."]
    if len(rows) < total:
        sentences.append(
            f"This page lists {len(rows):,} of {total:,} annotators: those with remarks and those "
            "with most responses."
        )
    without = sum(row["matrix"] is None for row in rows)
    if without:
        sentences.append(f"{without:,} with fewer responses are listed without a confusion matrix.")
    return " ".join(sentences)


def most_common_classes(prior: Floats, limit: int) -> Codes:
    """Return the codes of the ``limit`` most common classes, in ascending order."""
    return np.sort(np.argsort(-prior, kind="stable")[:limit])


def _remarks(diagnostics: Diagnostics, m: int, n_partners: int) -> list[str]:
    annotators = diagnostics.annotators
    remarks = [] if annotators.n_responses[m] else ["no responses"]
    remarks += [FLAGS[flag] for flag in annotators.flags_of(m)]
    if n_partners:
        others = "1 other" if n_partners == 1 else f"{n_partners} others"
        remarks.append(f"errors correlated with {others}")
    return remarks


def _dependent_partners(diagnostics: Diagnostics) -> dict[int, list[int]]:
    """The dependent partners of each annotator, largest excess agreement first."""
    pairs, excess = diagnostics.dependence.pairs, diagnostics.dependence.excess
    partners: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs[np.argsort(-excess, kind="stable")].tolist():
        partners[first].append(second)
        partners[second].append(first)
    return partners
