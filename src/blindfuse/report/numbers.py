"""The page of fused ratings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.numbers.annotators import FLAGS
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.report.blocks import (
    MAX_ITEMS,
    REMARK_KEY,
    Block,
    Field,
    Section,
    Table,
    Text,
    annotator_table,
    distinct_names,
    visible,
)
from blindfuse.report.charts import histogram, points
from blindfuse.result import json_rows

MAX_PAIRS = 50
"""Pairs of annotators with correlated errors that are listed."""


def figures(fusion: NumberFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    half = float(np.median(fusion.high - fusion.low)) / 2
    yield f"±{half:.3g}", "95 % interval of an estimate (median)"
    yield f"{fusion.values.std():.3g}", "standard deviation of the estimates"
    for name, agreement in fusion.agreement.items():
        interval = f"{agreement.low:.2f} to {agreement.high:.2f}"
        yield f"{agreement.value:.2f}", f"{name} ({interval})"


def sections(fusion: NumberFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of ratings."""
    counts, edges = np.histogram(fusion.values, 30)
    rows = json_rows({"low": edges[:-1], "high": edges[1:], "count": counts})
    text = f"Histogram of {len(fusion.values):,} estimates."
    fields = (
        Field("low", "estimate from", ".4g"),
        Field("high", "to", ".4g"),
        Field("count", "items", ","),
    )
    chart = histogram("estimates", Table(text, fields, rows), "estimate", axis_format="")
    yield Section("estimates", "Estimates", "Estimates", [chart])
    yield _annotator_section(fusion)
    yield _dependence_section(fusion)
    yield _item_section(fusion)


def _annotator_section(fusion: NumberFusion) -> Section:
    fields = (
        Field("name", "annotator"),
        Field("ratings", "ratings", ","),
        Field("bias", "bias", "+.3g"),
        Field("scale", "scale", ".2f"),
        Field("noise", "noise", ".3g"),
        Field("reliability", "reliability", ".0%"),
        Field("remark", "remark"),
    )
    table = annotator_table(fusion, fields, "The least reliable first.", FLAGS)
    rows = [
        {
            **row,
            "value": row["bias"],
            "low": row["bias"] - row["noise"],
            "high": row["bias"] + row["noise"],
        }
        for row in table.rows
        if row["ratings"]
    ]
    text = "Bias of annotators, with their noise as bars; the table below has the numbers."
    title = "bias ± noise, in units of the ratings"
    chart = points("annotators", Table(text, fields, rows), title, axis_format="")
    return Section("annotators", "Annotators", "Annotators", (chart, REMARK_KEY, table))


def _dependence_section(fusion: NumberFusion) -> Section:
    copies, names = fusion.copies, distinct_names(fusion.numbers.annotators)
    pairs = np.array(names, dtype=object)[copies.pairs.reshape(-1, 2)]
    columns = {
        "name": pairs[:, 0],
        "other": pairs[:, 1],
        "correlation": copies.correlation,
        "identical": copies.identical,
    }
    fields = (
        Field("name", "annotator"),
        Field("other", "and"),
        Field("correlation", "correlation of errors", ".2f"),
        Field("identical", "identical ratings", ".0%"),
    )
    caption = "Pairs whose errors are correlated more than sampling noise allows, such as copies."
    block: Block = Table(caption, fields, json_rows(columns)[:MAX_PAIRS])
    if not len(pairs):
        block = Text("No pair of annotators has significantly correlated errors.")
    return Section("dependence", "Dependence", "Dependent annotators", [block])


def _item_section(fusion: NumberFusion) -> Section:
    numbers, columns = fusion.numbers, fusion.item_columns()
    spread = columns["spread"]
    rated_twice = np.flatnonzero(~np.isnan(spread))
    widest = rated_twice[np.argsort(-spread[rated_twice], kind="stable")][:MAX_ITEMS]
    deviation = float(numbers.values.std())
    digits = int(np.clip(2 - np.floor(np.log10(deviation)), 0, 6)) if deviation > 0 else 2
    rows = json_rows({name: column[widest] for name, column in columns.items()})
    for n, row in zip(widest.tolist(), rows, strict=True):
        ratings = numbers.values[numbers.starts[n] : numbers.starts[n + 1]]
        row["name"] = visible(row["item"])
        row["interval"] = f"{row['low']:.{digits}f} to {row['high']:.{digits}f}"
        row["range"] = f"{ratings.min():.{digits}f} to {ratings.max():.{digits}f}"
    fields = (
        Field("name", "item"),
        Field("estimate", "estimate", f".{digits}f"),
        Field("interval", "95 % interval", "#"),
        Field("ratings", "ratings", ","),
        Field("range", "lowest to highest", "#"),
        Field("spread", "spread", f".{digits}f"),
    )
    caption = (
        f"{len(rows):,} of {numbers.n_items:,} items, the widest standard deviation of ratings "
        "first. Look at these: the item or the instructions may be ambiguous."
    )
    block: Block = Table(caption, fields, rows)
    if not rows:
        block = Text("No item has two ratings, so their spread is unknown.")
    return Section("items", "Items", "Items with the widest spread", [block])
