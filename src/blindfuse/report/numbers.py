"""The sections of fused ratings."""

from collections.abc import Iterator

import numpy as np

from blindfuse.numbers.annotators import FLAGS
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.report.blocks import REMARK_KEY, Block, Field, Section, Table, Text, coefficient
from blindfuse.report.charts import histogram, points
from blindfuse.report.tables import annotator_table, item_table


def figures(fusion: NumberFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    half = float(np.median(fusion.high - fusion.low)) / 2
    yield f"±{half:.3g}", "95 % interval of an estimate (median)"
    yield f"{fusion.values.std():.3g}", "standard deviation of the estimates"
    for name, agreement in fusion.agreement.items():
        yield coefficient(name, agreement)


def sections(fusion: NumberFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of ratings."""
    text = f"Histogram of {len(fusion.values):,} estimates."
    chart = histogram("estimates", text, "estimate", fusion.values, 30, axis_format=".4g")
    yield Section("estimates", "Estimates", [chart])
    yield _annotator_section(fusion)
    yield _item_section(fusion)


def _annotator_section(fusion: NumberFusion) -> Section:
    fields = (
        *(Field("name", "annotator"), Field("ratings", "ratings", ",")),
        *(Field("bias", "bias", "+.3g"), Field("scale", "scale", ".2f")),
        *(Field("noise", "noise", ".3g"), Field("reliability", "reliability", ".0%")),
        Field("remark", "remark"),
    )
    table = annotator_table(fusion, fields, "The least reliable first.", FLAGS)
    rows = [
        {**row, "bias_low": row["bias"] - row["noise"], "bias_high": row["bias"] + row["noise"]}
        for row in table.rows
        if row["ratings"]
    ]
    text = "Bias of annotators, with their noise as bars; the table below has the numbers."
    title = "bias ± noise, in units of the ratings"
    chart = points("annotators", Table(text, fields, rows), "bias", title, axis_format=".4~g")
    return Section("annotators", "Annotators", (chart, REMARK_KEY, table))


def _item_section(fusion: NumberFusion) -> Section:
    spreads, deviation = fusion.numbers.spreads(), float(fusion.numbers.values.std())
    widest = np.argsort(-spreads, kind="stable")[: np.count_nonzero(~np.isnan(spreads))]
    digits = int(np.clip(2 - np.floor(np.log10(deviation)), 0, 6)) if deviation > 0 else 2
    decimal = f".{digits}f"
    fields = (
        *(Field("name", "item"), Field("estimate", "estimate", decimal)),
        Field("low", "95 % interval", decimal, "high"),
        *(Field("ratings", "ratings", ","), Field("spread", "spread", decimal)),
    )
    text = (
        "The widest standard deviation of ratings first. Look at these: the item or the "
        "instructions may be ambiguous."
    )
    block: Block = item_table(fusion, widest, fields, text)
    if not len(widest):
        block = Text("No item has two ratings, so their spread is unknown.")
    return Section("items", "Items with the widest spread", [block])
