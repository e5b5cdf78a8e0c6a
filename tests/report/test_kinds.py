"""Pages of sets, ratings, clusterings and rankings show their figures; everything is escaped."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import (
    BadParameter,
    Numbers,
    ResponseSets,
    fuse_clusters,
    fuse_numbers,
    fuse_pairs,
    fuse_sets,
    report_html,
    simulate_numbers,
    write_report,
)
from blindfuse.report.blocks import Chart, Table
from tests.support.multi_label import simulate_sets
from tests.support.pair_cases import simulate_pairs
from tests.support.report_cases import embedded_data, find_block, page_of

NASTY = "</script><b>&\"'"


@cache
def fusion_of_kind(kind: str) -> Any:
    if kind == "numbers":
        return fuse_numbers(simulate_numbers(120, 8, seed=0).numbers)
    if kind == "strengths":
        pairs = simulate_pairs(0, 8, (1.5, 1, 1, 0, -1), (0, 0, 1, 0, 0), tie=-0.5)
        names = np.array([f"model {n}" for n in range(8)])
        return fuse_pairs(names[pairs.left], names[pairs.right], pairs.winner, pairs.judge)
    if kind == "sets":
        drawn = simulate_sets(n_items=250, n_annotators=8, n_classes=6, seed=0)
        return fuse_sets(drawn.items, drawn.annotators, drawn.sets)
    rng, truth = np.random.default_rng(0), np.arange(90) % 3
    runs = [np.where(rng.random(90) < 0.1, rng.integers(3, size=90), truth) for _ in range(6)]
    return fuse_clusters(np.stack(runs, axis=1), 3)


def rows_of(kind: str, section: str) -> dict[str, Any]:
    """The rows of the first table of a section by name."""
    table = find_block(page_of(fusion_of_kind(kind)), section, Table)
    return {row["name"]: row for row in table.rows}


@pytest.mark.parametrize("kind", ["numbers", "sets", "clusters", "strengths"])
def test_the_page_is_one_file_with_its_charts_and_paragraphs(kind: str) -> None:
    fusion = fusion_of_kind(kind)
    page = report_html(fusion, title="A title", notes=["a note"])
    text = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
    assert "a note" in text
    assert fusion.size in text
    for each in page_of(fusion).paragraphs:
        assert (f"<strong>{each.heading}:" if each.lead else f"<dt>{each.heading}</dt>") in text
    charts = embedded_data(page)["charts"]
    assert set(charts) == {chart.name for chart in page_of(fusion).blocks(Chart)}
    assert all(f'id="chart-{name}"' in text for name in charts)


def test_ratings_have_the_figures_of_the_fusion() -> None:
    fusion = fusion_of_kind("numbers")
    rated, annotators = fusion.annotators, rows_of("numbers", "annotators")
    for name in ("bias", "scale", "noise", "reliability"):
        shown = [annotators[str(annotator)][name] for annotator in rated.names]
        np.testing.assert_allclose(shown, getattr(rated, name), atol=1e-6)
    items = rows_of("numbers", "items")
    matrix = fusion.numbers.matrix()
    spreads = np.nanstd(matrix[np.isfinite(matrix).sum(axis=1) > 1], axis=1, ddof=1)
    shown = [row["spread"] for row in items.values()]
    np.testing.assert_allclose(shown, np.sort(spreads)[::-1][: len(items)], atol=1e-6)
    for name, row in items.items():
        assert row["estimate"] == pytest.approx(fusion.values[int(name)], abs=1e-6)
    figures = {value for value, _ in page_of(fusion).figures}
    assert {f"{each.value:.2f}" for each in fusion.agreement.values()} <= figures
    bars = find_block(page_of(fusion), "estimates", Chart).spec["datasets"]["rows"]
    assert sum(bar["count"] for bar in bars) == 120


def test_sets_have_the_figures_of_the_fusion() -> None:
    fusion = fusion_of_kind("sets")
    classes = rows_of("sets", "classes")
    for k in range(6):
        assert classes[str(k)]["items"] == sum(k in members for members in fusion.sets)
    rated, annotators = fusion.annotators, rows_of("sets", "annotators")
    for name in ("recall", "precision", "f1"):
        shown = [annotators[str(annotator)][name] for annotator in rated.names]
        np.testing.assert_allclose(shown, getattr(rated, name), atol=1e-6)
    items = rows_of("sets", "items")
    least = np.argsort(fusion.confidence, kind="stable")[: len(items)]
    assert list(items) == [str(fusion.items[n]) for n in least]
    for n, row in zip(least.tolist(), items.values(), strict=True):
        assert row["labels"] == (" | ".join(map(str, fusion.sets[n])) or "–")
        assert row["posterior"] == min(fusion.posteriors[n], key=lambda p: abs(p - 0.5))


def test_clusterings_have_the_figures_of_the_fusion() -> None:
    fusion, runs = fusion_of_kind("clusters"), rows_of("clusters", "runs")
    shown = [row["adjusted_rand_index"] for row in runs.values()]
    np.testing.assert_allclose(shown, np.sort(fusion.agreement), atol=1e-6)
    sizes = sum(row["items"] for row in rows_of("clusters", "classes").values())
    assert sizes == len(fusion.labels)


def test_rankings_have_the_figures_of_the_fusion() -> None:
    ranking, shown = fusion_of_kind("strengths"), rows_of("strengths", "strengths")
    for at, item in enumerate(ranking.items.tolist()):
        for name in ("low", "high", "probability_best"):
            assert shown[item][name] == pytest.approx(getattr(ranking, name)[at], abs=1e-6)
        assert shown[item]["strength"] == pytest.approx(ranking.strengths[at], abs=1e-6)
        assert shown[item]["tier"] == ranking.tiers[at]
    assert [row["rank"] for row in shown.values()] == [*range(1, 9)]
    judges = rows_of("strengths", "judges")
    for at, judge in enumerate(ranking.judges.names.tolist()):
        assert judges[str(judge)]["slope"] == pytest.approx(ranking.judges.slope[0, at], abs=1e-6)
        assert judges[str(judge)]["flagged"] == bool(ranking.judges.flags[at])
    assert {row["remark"] for row in judges.values()} >= {"prefers the weaker item"}


def test_cells_of_wins_are_counted_once_more() -> None:
    ranking, pairs = (
        fusion_of_kind("strengths"),
        simulate_pairs(0, 8, (1.5, 1, 1, 0, -1), (0, 0, 1, 0, 0), tie=-0.5),
    )
    sections = {section.name: section for section in page_of(ranking).sections}
    charts = [block for block in sections["wins"].blocks if isinstance(block, Chart)]
    observed, fitted = (chart.spec["datasets"]["rows"] for chart in charts)
    names = {f"{ranking.ranks[at]}. {item}": int(item[-1]) for at, item in enumerate(ranking.items)}
    for row in observed:
        i, j = names[row["first"]], names[row["second"]]
        ahead, behind = ((pairs.left == a) & (pairs.right == b) for a, b in ((i, j), (j, i)))
        n = np.count_nonzero(ahead | behind)
        wins = pairs.winner[ahead].sum() + (1 - pairs.winner[behind]).sum()
        assert (row["n"], row["share"]) == (n, pytest.approx(wins / n))
        win, tie, _ = ranking.outcome_probabilities([f"model {i}"], [f"model {j}"])[0]
        assert row["expected"] == pytest.approx(win + tie / 2)
        variance = n * (win + tie / 4 - (win + tie / 2) ** 2)
        assert row["framed"] == (abs(wins - n * row["expected"]) > 3 * np.sqrt(variance))
    assert len(observed) == len(fitted) == 56
    for row in fitted:
        first, second = (f"model {names[row[side]]}" for side in ("first", "second"))
        assert row["share"] == pytest.approx(ranking.win_probability(first, second))


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "b", "a")],
        [("a", "b", "tie")] * 3,
        [("a", "b", "a"), ("c", "d", "d"), ("e", "f", "e"), ("g", "g", "g")],
        [(NASTY, "b", NASTY), ("b", NASTY, NASTY), ("b", "c", "c")],
        [(f"i{n}", f"i{n + 1}", f"i{n}") for n in range(60)],
    ],
)
def test_pages_of_odd_rankings(rows: list[tuple[str, str, str]]) -> None:
    page = report_html(fuse_pairs(rows))
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).lower()
    assert "nan" not in text
    assert "<b>" not in text


def test_names_are_escaped() -> None:
    matrix = simulate_numbers(30, 4, seed=1).numbers.matrix()
    names = [f"{NASTY}{n}" for n in range(30)]
    numbers = Numbers.from_matrix(matrix, items=names, annotators=names[:4])
    sets = ResponseSets.from_long([NASTY, "j"], [NASTY, "b"], [[NASTY], []])
    runs = {"item": names, NASTY: [0, 1] * 15, f"{NASTY}b": [0, 1] * 15}
    for fusion in (fuse_numbers(numbers), fuse_sets(sets), fuse_clusters(pl.DataFrame(runs), 2)):
        page = report_html(fusion, title=NASTY, notes=[NASTY])
        assert "<b>" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0, 2.0, 4.0]], [[1.0], [2.0]], [[5, 5], [5, 5]]])
def test_pages_of_tiny_tables(matrix: list[list[float]]) -> None:
    page = report_html(fuse_numbers(np.array(matrix)))
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).lower()


@pytest.mark.parametrize("value", [1, None, "votes.csv", [1], pl.DataFrame(), np.dtype(float)])
def test_only_results_have_a_page(value: Any, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match=r"result= is .*, not a fusion\. Pass what fuse"):
        write_report(value, tmp_path / "report.html")
