"""The sections of a ranking."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from blindfuse.comparisons.judges import FLAGS
from blindfuse.comparisons.ranking import Ranking
from blindfuse.report.blocks import (
    REMARK_KEY,
    Block,
    Chart,
    Field,
    Key,
    Row,
    Section,
    Table,
    Text,
    distinct_names,
    how_many,
    interval_fields,
    percent,
    visible,
)
from blindfuse.report.charts import heat_map, points
from blindfuse.report.tables import MAX_ANNOTATORS, annotator_table, item_table
from blindfuse.typing import Codes

MAX_MATRIX, MAX_GROUPS = 25, 5
"""Items of a win matrix, and groups of items with charts."""
SURPRISING = 3.0
"""Standard errors by which a share of wins differs from the model in a framed cell."""


def figures(ranking: Ranking) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page with their descriptions."""
    if not ranking.groups.max():
        best = int(np.nanargmax(ranking.probability_best))
        text = f"probability that {visible(ranking.items[best], 40)} is best"
        yield percent(float(ranking.probability_best[best]), 0), text
    yield f"{ranking.tiers.max():,}", "tiers that the comparisons separate"
    half = float(np.nanmedian(ranking.high - ranking.low)) / 2
    yield f"±{half:.2g}", "95 % interval of a strength (median, log odds)"
    table = ranking.comparisons
    yield (
        percent(float(table.rows.counts[:, 1].sum()) / table.n_comparisons, 0),
        "of the comparisons are ties",
    )
    if table.has_judges:
        yield f"{np.count_nonzero(ranking.judges.flags != ''):,}", "judges to check"


def sections(ranking: Ranking) -> Iterator[Section]:
    """Yield the sections of a ranking."""
    yield _strength_section(ranking)
    yield _matrix_section(ranking)
    if ranking.comparisons.has_judges:
        yield _judge_section(ranking)


def _strength_section(ranking: Ranking) -> Section:
    fields = (
        *(Field("name", "item"), *interval_fields("rank", "rank", ",")),
        *(Field("strength", "strength", "+.2f"), Field("low", "95 % interval", "+.2f", "high")),
        Field("probability_best", "probability of being best", ".0%"),
        *(Field("tier", "tier", ","), Field("comparisons", "comparisons", ",")),
    )
    if ranking.groups.max():
        fields = (*fields, Field("group", "group", ","))
    text = "The best first. Items of a tier are not separated from the best of it."
    order = np.arange(len(ranking.items))
    table = item_table(ranking, order, fields, text, limit=MAX_ANNOTATORS)
    blocks: list[Block] = [Key("tiers 1, 3, …", "tiers 2, 4, …")]
    groups: dict[int, list[Row]] = {}
    for row in table.rows:
        if row["rank"] is not None:
            groups.setdefault(row.get("group", 1), []).append(row)
    for group, rows in list(groups.items())[:MAX_GROUPS]:
        if len(groups) > 1:
            blocks.append(Text(f"Group {group}, which was never compared with the others:"))
        blocks.append(_strength_chart(f"strengths-{group}", rows, fields))
    return Section("strengths", "Strengths", [*blocks, table])


def _strength_chart(name: str, rows: list[Row], fields: tuple[Field, ...]) -> Chart:
    names = distinct_names(row["name"] for row in rows)
    rows = [
        {**row, "name": shown, "flagged": row["tier"] % 2 == 0}
        | {"strength_low": row["low"], "strength_high": row["high"]}
        for row, shown in zip(rows, names, strict=True)
    ]
    text = "Strengths with 95 % intervals, the best first; the table below has the numbers."
    data, title = Table(text, fields, rows), "strength (log odds)"
    return points(name, data, "strength", title, axis_format=".4~g", order="items in order")


def _matrix_section(ranking: Ranking) -> Section:
    """Shares of wins of the best items of the largest group, observed and fitted."""
    columns = np.flatnonzero(ranking.groups == 0)
    items = columns[np.argsort(-ranking.strengths[columns], kind="stable")][:MAX_MATRIX]
    names = [f"{ranking.ranks[item]}. {visible(ranking.items[item], 40)}" for item in items]
    names = distinct_names(names)
    observed, fitted = _pair_cells(ranking, items, names)
    fields = (
        *(Field("first", "item"), Field("second", "against"), Field("share", "wins", ".0%")),
        *(Field("expected", "expected by the model", ".0%"), Field("n", "comparisons", ",")),
    )
    text = "Observed shares of wins of the item on the left against the item below; a tie is half."
    shown = how_many(names, len(columns), "items", "the strongest")
    key = Key("the item on the left wins more often", "less often")
    about = Text(
        f"{text} Framed cells differ from what the model expects by more than {SURPRISING:.0f} "
        f"standard errors.{shown}"
    )
    blocks: list[Block] = [about, key]
    if observed:
        blocks.append(heat_map("observed", Table(text, fields, observed), names))
    fitted_text = "Fitted probabilities that the item on the left wins, with judges like these."
    blocks.append(Text(fitted_text))
    blocks.append(heat_map("fitted", Table(fitted_text, fields[:3], fitted), names))
    return Section("wins", "Wins of item against item", blocks)


def _pair_cells(ranking: Ranking, items: Codes, names: list[str]) -> tuple[list[Row], list[Row]]:
    """Return the observed cells of pairs that were compared, and the fitted cells of all."""
    table, place = ranking.comparisons, np.full(len(ranking.items), -1)
    place[items] = np.arange(len(items))
    left, right = place[table.rows.left], place[table.rows.right]
    rows = (left >= 0) & (right >= 0)
    counts, wins = table.rows.counts[rows], np.zeros((len(items), len(items), 2))
    shares = np.array([1, 0.5, 0])
    for i, j, of_first in ((left, right, shares), (right, left, shares[::-1])):
        totals = np.stack([counts @ of_first, counts.sum(axis=1)], axis=1)
        np.add.at(wins, (i[rows], j[rows]), totals)
    i, j = np.nonzero(~np.eye(len(items), dtype=bool))
    sides = ranking.items[items[i]], ranking.items[items[j]]
    p = ranking.outcome_probabilities(*sides)
    expected, (won, n) = p @ shares, wins[i, j].T
    error = np.sqrt(np.maximum(n * (p @ shares**2 - expected**2), 1e-12))
    cells: Any = [{"first": names[a], "second": names[b]} for a, b in zip(i, j, strict=True)]
    fitted = [
        {**cell, "share": share, "value": share - 0.5, "framed": False}
        for cell, share in zip(cells, expected.tolist(), strict=True)
    ]
    observed = [
        {
            **cells[at],
            "share": won[at] / n[at],
            "expected": expected[at],
            "n": n[at],
            "value": won[at] / n[at] - 0.5,
            "framed": bool(abs(won[at] - n[at] * expected[at]) > SURPRISING * error[at]),
        }
        for at in np.flatnonzero(n)
    ]
    return observed, fitted


def _judge_section(ranking: Ranking) -> Section:
    table = ranking.comparisons
    fields = (
        *(Field("name", "judge"), Field("comparisons", "comparisons", ",")),
        *interval_fields("slope", "slope", ".2f"),
        *(interval_fields("position", "position bias", "+.2f") if table.has_sides else ()),
        *(interval_fields("tie_rate", "tie rate", ".0%") if table.rows.counts[:, 1].any() else ()),
        Field("remark", "remark"),
    )
    judges = annotator_table(ranking, fields, "The least reliable first.", FLAGS)
    rows = [row for row in judges.rows if row["comparisons"]]
    text = "Slopes of judges with 95 % intervals; the table below has the numbers."
    title = "slope: 1 as the typical judge, 0 at random"
    order = "judges in order"
    chart = points(
        "judges", Table(text, fields, rows), "slope", title, axis_format=".4~g", order=order
    )
    return Section("judges", "Judges", (chart, REMARK_KEY, judges))
