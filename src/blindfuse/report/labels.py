"""The sections of fused labels: classes, annotators, dependence and items."""

from collections.abc import Iterator

import numpy as np

from blindfuse.diagnostics.dependence import Dependence
from blindfuse.fusion.fuse import Fusion
from blindfuse.model.posteriors import most_likely
from blindfuse.report.blocks import (
    Field,
    Key,
    Row,
    Section,
    Table,
    Text,
    coefficient,
    distinct_names,
    how_many,
    interval_fields,
)
from blindfuse.report.charts import heat_map
from blindfuse.report.listings import annotator_section, item_section
from blindfuse.report.tables import MAX_ITEMS, class_section

MAX_MAPPED = 30
"""Annotators on the map of dependence."""


def figures(fusion: Fusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    diagnostics, n = fusion.diagnostics, fusion.responses.n_items
    items, dependence = diagnostics.items, diagnostics.dependence
    expected = diagnostics.expected_error
    if expected is not None and not diagnostics.all_gold:
        value, _, interval = expected.interval().replace(" %", "\u00a0%").partition(" (")
        yield value, f"expected error ({interval}"
    if diagnostics.information is not None:
        yield coefficient("agreement, Krippendorff's α", diagnostics.information.alpha)
    needing = items.needs_another_label.sum()
    share = f"{100 * needing / n:.0f} %"
    yield f"{needing:,}", f"labels could change with one more response ({share})"
    if dependence.n_annotators >= 3 and not np.isnan(dependence.effective_votes):
        text = f"independent votes that {dependence.jury} are worth"
        yield f"{dependence.effective_votes:.1f}", text


def sections(fusion: Fusion) -> Iterator[Section]:
    """Yield the sections of a fusion of labels."""
    shares, labels = fusion.diagnostics.class_shares, most_likely(fusion.posteriors)
    columns = {
        "share": shares.share,
        "share_low": shares.low,
        "share_high": shares.high,
        "labels": np.bincount(labels, minlength=len(shares.share)),
        "votes": shares.votes,
    }
    fields = (
        *interval_fields("share", "share of the items", ".1%", "80 %"),
        Field("labels", "items with this label", ","),
        Field("votes", "share of the votes", ".1%"),
    )
    key = Key("share of the items, with its 80 % interval", "share of the votes", ("bar", "line"))
    yield class_section(fusion.responses.classes, columns, fields, key)
    yield annotator_section(fusion)
    if fusion.diagnostics.dependence.groups:
        yield _dependence_section(fusion.diagnostics.dependence)
    yield item_section(fusion)


def _dependence_section(dependence: Dependence) -> Section:
    """The map of excess agreement, and the pairs of each dependent group."""
    names = distinct_names(dependence.names, 40)
    cells = _cells(dependence, names)
    shown = list(dict.fromkeys(cell["first"] for cell in cells))
    text = Text(
        "Each cell shows whether two annotators agree more often (blue) or less often (orange) "
        "than the model predicts from their accuracy. Darker cells deviate more. A frame marks "
        f"a pair of a dependent group.{how_many(shown, len(names), 'annotators')}"
    )
    fields = Field("first", "annotator"), Field("second", "and")
    value = Field("value", "excess agreement", ".1%")
    description = f"Map of excess agreement between {len(shown)} annotators."
    chart = heat_map("dependence", Table(description, (*fields, value), cells), shown)
    places = {name: at for at, name in enumerate(shown)}
    pairs = [
        cell for cell in cells if cell["framed"] and places[cell["first"]] < places[cell["second"]]
    ]
    rows = sorted(pairs, key=lambda cell: -cell["value"])[:MAX_ITEMS]
    caption = (
        "Pairs of dependent groups. Excess agreement is (observed − expected) / (1 − expected)."
        f"{how_many(rows, len(pairs), 'pairs')}"
    )
    blocks = text, chart, Table(caption, (*fields, value), rows)
    return Section("dependence", "Dependent annotators", blocks)


def _cells(dependence: Dependence, names: list[str]) -> list[Row]:
    """Both cells of every tested pair on the map: dependent groups, then those with most pairs."""
    tested, excess = dependence.tested.tolist(), dependence.excess_matrix
    group_of = {m: at for at, group in enumerate(dependence.groups) for m in group}
    grouped = sorted((tested.index(m) for m in group_of), key=lambda i: group_of[tested[i]])
    busiest = np.argsort(-np.count_nonzero(~np.isnan(excess), axis=1), kind="stable").tolist()
    places = list(dict.fromkeys([*grouped, *busiest]))[:MAX_MAPPED]
    groups = {i: group_of.get(tested[i], -1 - i) for i in places}
    return [
        {
            "first": names[tested[i]],
            "second": names[tested[j]],
            "value": round(float(excess[i, j]), 4),
            "framed": groups[i] == groups[j],
        }
        for i in places
        for j in places
        if not np.isnan(excess[i, j])
    ]
