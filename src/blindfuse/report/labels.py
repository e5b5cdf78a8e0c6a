"""The page of fused labels: key figures, warnings, classes, annotators, items."""

from collections.abc import Iterator

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.model.posteriors import most_likely
from blindfuse.report.annotators import annotator_section, most_common_classes
from blindfuse.report.blocks import Block, Key, Row, Section, Table, Text, percent, percent_range
from blindfuse.report.charts import PERCENT, bars
from blindfuse.report.dependence import dependence_section
from blindfuse.report.items import item_section
from blindfuse.report.names import distinct_names
from blindfuse.result import Paragraph

MAX_CLASSES = 40
"""Classes of the chart of class proportions; of more, the most common ones."""
CLASS_TIPS = (
    ("name", "class", ""),
    ("value", "share of the items", PERCENT),
    ("low", "80 % interval from", PERCENT),
    ("high", "to", PERCENT),
    ("labels", "items with this label", ","),
    ("mark", "share of the votes", PERCENT),
)


def label_sections(fusion: Fusion) -> Iterator[Section]:
    """Yield the sections of a fusion of labels."""
    responses = fusion.responses
    names = distinct_names(responses.annotators)
    model = fusion.model.for_annotators(responses.annotators, responses.classes, responses.symbols)
    yield _class_section(fusion)
    yield annotator_section(fusion.diagnostics, model, names)
    yield dependence_section(fusion.diagnostics.dependence)
    yield item_section(fusion, names)


def label_figures(
    fusion: Fusion, gold: GoldCheck | None, audit: AuditResult | None
) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions, measured ones first."""
    diagnostics, n = fusion.diagnostics, fusion.responses.n_items
    items, dependence = diagnostics.items, diagnostics.dependence
    if audit is not None:
        yield percent(audit.error.value), f"error measured on {audit.n_checked:,} checked items"
    if gold is not None:
        yield percent(gold.error.value), f"error measured on {gold.items:,} gold labels"
    expected = diagnostics.expected_error
    if expected is not None and not diagnostics.all_gold:
        value, _, interval = expected.interval().replace(" %", "\u00a0%").partition(" (")
        yield value, f"expected error ({interval}"
    if diagnostics.information is not None:
        alpha = diagnostics.information.alpha
        interval = f"{alpha.low:.2f} to {alpha.high:.2f}"
        yield f"{alpha.value:.2f}", f"agreement, Krippendorff’s α ({interval})"
    needing, outvoted = items.needs_another_label.sum(), items.outvoted.sum()
    yield (
        f"{needing:,}",
        f"labels could change with one more response ({100 * needing / n:.0f} %)",
    )
    yield (
        f"{outvoted:,}",
        f"labels against the majority vote ({100 * outvoted / n:.1f} %); ties do not count",
    )
    yield (
        f"{dependence.effective_votes:.1f}",
        f"independent votes from {dependence.n_annotators:,} annotators on one item",
    )


def check_warnings(gold: GoldCheck | None, audit: AuditResult | None) -> Iterator[Paragraph]:
    """Yield the warnings of an audit, and that the error on gold labels is above the expected."""
    for each in () if audit is None else audit.paragraphs():
        if each.warning:
            yield Paragraph(f"Audit, {each.heading.lower()}", each.text, warning=True)
    if gold is not None and gold.expected_error < gold.error.low:
        text = (
            f"{100 * gold.error.value:.1f} % of the labels are wrong on gold labels "
            f"({100 * gold.error.low:.1f} to {100 * gold.error.high:.1f} %), and "
            f"{100 * gold.expected_error:.1f} % were expected to be. Trust the measured error."
        )
        yield Paragraph("Gold labels", text, warning=True)


def _class_section(fusion: Fusion) -> Section:
    shares, names = fusion.diagnostics.class_shares, distinct_names(fusion.responses.classes)
    n_labels = np.bincount(most_likely(fusion.posteriors), minlength=len(names))
    rows: list[Row] = [
        {
            "name": names[k],
            "value": round(float(shares.share[k]), 4),
            "low": None if np.isnan(shares.low[k]) else round(float(shares.low[k]), 4),
            "high": None if np.isnan(shares.high[k]) else round(float(shares.high[k]), 4),
            "labels": int(n_labels[k]),
            "mark": round(float(shares.votes[k]), 4),
        }
        for k in most_common_classes(shares.share, MAX_CLASSES).tolist()
    ]
    largest = sorted(rows, key=lambda row: -float(row["value"]))[:5]
    named = ", ".join(f"{row['name']} {100 * row['value']:.0f} %" for row in largest)
    cells = [
        (
            *(row["name"], percent(row["value"]), percent_range(row["low"], row["high"])),
            *(f"{row['labels']:,}", percent(row["mark"])),
        )
        for row in rows
    ]
    headings = ("Share of the items#", "80 % interval#", "Items with this label#")
    blocks: list[Block] = [
        bars("classes", rows, CLASS_TIPS, f"Class proportions; the most common classes: {named}."),
        Key("share of the items, with its 80 % interval", "share of the votes", ("bar", "line")),
        Table("Class proportions", ("Class", *headings, "Share of the votes#"), cells, folded=True),
    ]
    if len(rows) < len(names):
        blocks.insert(0, Text(f"The {len(rows)} most common of {len(names):,} classes."))
    return Section("classes", "Classes", "Class proportions", tuple(blocks))
