"""The page of fused ratings."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from blindfuse.numbers.annotators import FLAGS
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.report.annotators import REMARK_KEY
from blindfuse.report.blocks import Section, Table, Text, how_many, percent
from blindfuse.report.charts import histogram, points
from blindfuse.report.names import distinct_names, visible
from blindfuse.typing import Floats

MAX_ANNOTATORS = 500
"""Annotators in the table: those with remarks, then those with most ratings."""
MAX_ITEMS = 50
"""Items in the table: those with the widest spread of ratings."""
MAX_PAIRS = 50
BINS = 30


def number_sections(fusion: NumberFusion) -> Iterator[Section]:
    """Yield the sections of a fusion of ratings."""
    yield _estimate_section(fusion)
    yield _annotator_section(fusion)
    yield _dependence_section(fusion)
    yield _item_section(fusion)


def number_figures(fusion: NumberFusion) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    half = float(np.median(fusion.high - fusion.low)) / 2
    yield f"±{half:.3g}", "95 % interval of an estimate (median)"
    yield f"{fusion.values.std():.3g}", "standard deviation of the estimates"
    for name, agreement in fusion.agreement.items():
        interval = f"{agreement.low:.2f} to {agreement.high:.2f}"
        yield f"{agreement.value:.2f}", f"{name} ({interval})"


def _estimate_section(fusion: NumberFusion) -> Section:
    counts, edges = np.histogram(fusion.values, BINS)
    rows = [
        {"low": low, "high": high, "count": count}
        for (low, high), count in zip(pairwise(edges.tolist()), counts.tolist(), strict=True)
    ]
    tips = [("low", "estimate from", ".4"), ("high", "to", ".4"), ("count", "items", ",")]
    text = f"Histogram of {len(fusion.values):,} estimates."
    chart = histogram("estimates", rows, tips, text, "estimate", axis_format="")
    return Section("estimates", "Estimates", "Estimates", (chart,))


def _annotator_section(fusion: NumberFusion) -> Section:
    rated, names = fusion.annotators, distinct_names(fusion.numbers.annotators)
    busiest = np.argsort(-rated.n_ratings, kind="stable").tolist()
    listed = sorted(busiest, key=lambda m: not rated.flags[m])[:MAX_ANNOTATORS]
    listed.sort(key=lambda m: float(rated.reliability[m]))
    remarks = [FLAGS.get(flag, "") for flag in rated.flags]
    rows = [
        {
            "name": names[m],
            "value": float(rated.bias[m]),
            "low": float(rated.bias[m] - rated.noise[m]),
            "high": float(rated.bias[m] + rated.noise[m]),
            "scale": float(rated.scale[m]),
            "flagged": bool(remarks[m]),
        }
        for m in listed
    ]
    tips = [("name", "annotator", ""), ("value", "bias", ".3"), ("scale", "scale", ".2f")]
    cells = [
        (
            *(names[m], f"{rated.n_ratings[m]:,}", f"{rated.bias[m]:+.3g}"),
            *(f"{rated.scale[m]:.2f}", f"{rated.noise[m]:.3g}"),
            *(percent(rated.reliability[m], 0), remarks[m] if rated.n_ratings[m] else "no ratings"),
        )
        for m in listed
    ]
    which = "those with remarks and those with most ratings"
    caption = "The least reliable first." + how_many(cells, len(names), "annotators", which)
    figures = ("Ratings#", "Bias#", "Scale#", "Noise#", "Reliability#")
    text = "Bias of annotators, with their noise as bars; the table below has the numbers."
    title = "bias ± noise, in units of the ratings"
    chart = points("annotators", rows, tips, text, title, axis_format="")
    table = Table(caption, ("Annotator", *figures, "Remark"), cells)
    return Section("annotators", "Annotators", "Annotators", (chart, REMARK_KEY, table))


def _dependence_section(fusion: NumberFusion) -> Section:
    copies, names = fusion.copies, distinct_names(fusion.numbers.annotators)
    rows = [
        (names[first], names[second], f"{correlation:.2f}", percent(identical, 0))
        for (first, second), correlation, identical in zip(
            copies.pairs[:MAX_PAIRS].tolist(),
            copies.correlation[:MAX_PAIRS].tolist(),
            copies.identical[:MAX_PAIRS].tolist(),
            strict=True,
        )
    ]
    caption = "Pairs whose errors are correlated more than sampling noise allows, such as copies."
    headings = ("Annotator", "And", "Correlation of errors#", "Identical ratings#")
    none = Text("No pair of annotators has significantly correlated errors.")
    blocks = (Table(caption, headings, rows),) if rows else (none,)
    return Section("dependence", "Dependence", "Dependent annotators", blocks)


def _item_section(fusion: NumberFusion) -> Section:
    numbers, spread = fusion.numbers, fusion.numbers.spreads()
    rated_twice = np.flatnonzero(~np.isnan(spread))
    widest = rated_twice[np.argsort(-spread[rated_twice], kind="stable")][:MAX_ITEMS]
    digits = _decimals(numbers.values)
    rows = []
    for n in widest.tolist():
        ratings = numbers.values[numbers.starts[n] : numbers.starts[n + 1]]
        figures = fusion.values[n], fusion.low[n], fusion.high[n], ratings.min(), ratings.max()
        value, low, high, smallest, largest = (f"{figure:.{digits}f}" for figure in figures)
        rows.append(
            (
                *(visible(numbers.items[n]), value, f"{low} to {high}", f"{len(ratings):,}"),
                *(f"{smallest} to {largest}", f"{spread[n]:.{digits}f}"),
            )
        )
    caption = (
        f"{len(rows):,} of {numbers.n_items:,} items, the widest standard deviation of ratings "
        "first. Look at these: the item or the instructions may be ambiguous."
    )
    headings = ("Estimate#", "95 % interval#", "Ratings#", "Lowest to highest#", "Spread#")
    none = Text("No item has two ratings, so their spread is unknown.")
    blocks = (Table(caption, ("Item", *headings), rows),) if rows else (none,)
    return Section("items", "Items", "Items with the widest spread", blocks)


def _decimals(values: Floats) -> int:
    """How many decimals numbers of this spread need for three digits."""
    spread = float(values.std())
    return int(np.clip(2 - np.floor(np.log10(spread)), 0, 6)) if spread > 0 else 2
