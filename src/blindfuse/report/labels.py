"""The page of fused labels: classes, annotators, dependence and items."""

from collections.abc import Iterator

import numpy as np

from blindfuse.diagnostics.dependence import Dependence
from blindfuse.fusion.fuse import Fusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import (
    Block,
    Field,
    Key,
    Row,
    Section,
    Table,
    Text,
    distinct_names,
    how_many,
    percent_range,
)
from blindfuse.report.charts import bars, heat_map
from blindfuse.report.listings import annotator_section, item_section, most_common
from blindfuse.result import json_rows

MAX_DRAWN_CLASSES = 40
"""Classes of the chart of class proportions; of more, the most common ones."""
MAX_MAPPED, MAX_PAIRS = 30, 20
"""Annotators on the map of dependence, and dependent pairs that are listed by name."""


def figures(fusion: Fusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    diagnostics, n = fusion.diagnostics, fusion.responses.n_items
    items, dependence = diagnostics.items, diagnostics.dependence
    expected = diagnostics.expected_error
    if expected is not None and not diagnostics.all_gold:
        value, _, interval = expected.interval().replace(" %", "\u00a0%").partition(" (")
        yield value, f"expected error ({interval}"
    if diagnostics.information is not None:
        alpha = diagnostics.information.alpha
        interval = f"{alpha.low:.2f} to {alpha.high:.2f}"
        yield f"{alpha.value:.2f}", f"agreement, Krippendorff’s α ({interval})"
    needing, outvoted = items.needs_another_label.sum(), items.outvoted.sum()
    share = f"{100 * needing / n:.0f} %"
    yield f"{needing:,}", f"labels could change with one more response ({share})"
    share = f"{100 * outvoted / n:.1f} %"
    yield f"{outvoted:,}", f"labels against the majority vote ({share}); ties do not count"
    yield (
        f"{dependence.effective_votes:.1f}",
        f"independent votes from {dependence.n_annotators:,} annotators on one item",
    )


def sections(fusion: Fusion) -> Iterator[Section]:
    """Yield the sections of a fusion of labels."""
    yield _class_section(fusion)
    yield annotator_section(fusion)
    yield _dependence_section(fusion.diagnostics.dependence)
    yield item_section(fusion)


def _class_section(fusion: Fusion) -> Section:
    shares, names = fusion.diagnostics.class_shares, distinct_names(fusion.responses.classes)
    common = most_common(shares.share, MAX_DRAWN_CLASSES)
    columns = {
        "name": np.array(names, dtype=object),
        "value": shares.share,
        "low": shares.low,
        "high": shares.high,
        "labels": np.bincount(most_likely(fusion.posteriors), minlength=len(names)),
        "mark": shares.votes,
    }
    rows = json_rows({name: column[common] for name, column in columns.items()})
    for row in rows:
        row["interval"] = percent_range(row["low"], row["high"])
    largest = sorted(rows, key=lambda row: -float(row["value"]))[:5]
    named = ", ".join(f"{row['name']} {100 * row['value']:.0f} %" for row in largest)
    text = f"Class proportions; the most common classes: {named}."
    caption = f"Class proportions.{how_many(rows, len(names), 'classes', 'the most common')}"
    fields = (
        Field("name", "class"),
        Field("value", "share of the items", ".1%"),
        Field("interval", "80 % interval", "#"),
        Field("labels", "items with this label", ","),
        Field("mark", "share of the votes", ".1%"),
    )
    blocks = (
        bars("classes", Table(text, fields, rows)),
        Key("share of the items, with its 80 % interval", "share of the votes", ("bar", "line")),
        Table(caption, fields, rows, folded=True),
    )
    return Section("classes", "Classes", "Class proportions", blocks)


def _dependence_section(dependence: Dependence) -> Section:
    """The map of excess agreement, and the pairs; members of a dependent group are neighbours."""
    names = distinct_names(dependence.names, 40)
    order = np.argsort(-dependence.excess, kind="stable")
    pairs = dependence.pairs[order].tolist()
    cells = _cells(dependence, names, pairs)
    first, second = Field("first", "annotator"), Field("second", "and")
    blocks: list[Block] = [Text("No two annotators share enough items to test this.")]
    if cells:
        shown = list(dict.fromkeys(cell["first"] for cell in cells))
        text = (
            "Each cell shows whether two annotators agree more often (blue) or less often (orange) "
            "than the model predicts from their accuracy. Darker cells deviate more. A frame marks "
            "a dependent pair: its excess agreement is significantly larger than that of the other "
            f"pairs.{how_many(shown, len(names), 'annotators')}"
        )
        description = f"Map of excess agreement between {len(shown)} annotators."
        cell = Field("value", "excess agreement", "+.1%"), Field("framed", "significant")
        data = Table(description, (first, second, *cell), cells)
        blocks = [Text(text), heat_map("dependence", data, shown)]
    excess = dependence.excess[order].tolist()
    rows = [
        {"first": names[m], "second": names[other], "value": value}
        for (m, other), value in zip(pairs, excess, strict=True)
    ][:MAX_PAIRS]
    if rows:
        caption = "Excess agreement is (observed − expected) / (1 − expected)."
        caption += how_many(rows, len(pairs), "dependent pairs")
        fields = first, second, Field("value", "excess agreement", ".0%")
        blocks.append(Table(f"Dependent pairs. {caption}", fields, rows))
    elif cells:
        blocks.append(Text("No pair stands out from the others."))
    return Section("dependence", "Dependence", "Dependent annotators", blocks)


def _cells(dependence: Dependence, names: list[str], pairs: list[list[int]]) -> list[Row]:
    """Both cells of every tested pair on the map: dependent groups, then those with most pairs."""
    tested, excess = dependence.tested.tolist(), dependence.excess_matrix
    groups = sorted(dependence.groups, key=len, reverse=True)
    grouped = [tested.index(m) for group in groups for m in group]
    busiest = np.argsort(-np.count_nonzero(~np.isnan(excess), axis=1), kind="stable").tolist()
    places = list(dict.fromkeys([*grouped, *busiest]))[:MAX_MAPPED]
    dependent = {frozenset(pair) for pair in pairs}
    return [
        {
            "first": names[tested[i]],
            "second": names[tested[j]],
            "value": round(float(excess[i, j]), 4),
            "framed": frozenset((tested[i], tested[j])) in dependent,
        }
        for i in places
        for j in places
        if not np.isnan(excess[i, j])
    ]
