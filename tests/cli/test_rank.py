"""``blindfuse rank``: a ranking from files of comparisons."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import blindfuse
from tests.support.cli import refuse, succeed
from tests.support.pair_cases import simulate_pairs
from tests.support.pair_files import LAYOUTS, battles_of, content, rows_of


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("battles.csv").write_bytes(content("names", "csv"))


def strengths(*arguments: object) -> dict[str, float]:
    document = json.loads(succeed("rank", *arguments, "--json", "-q").stdout)
    return {row["item"]: row["strength"] for row in document["items"]}


def test_files_have_the_ranking_and_the_judges() -> None:
    outputs = "-o", "ranking.csv", "--annotators", "judges.csv", "--json"
    document = json.loads(succeed("rank", "battles.csv", *outputs).stdout)
    battles = battles_of("names")
    columns: Any = zip(*((b.left, b.right, b.named, b.judge) for b in battles), strict=True)
    ranking = blindfuse.fuse_pairs(*columns)
    best_first = ranking.items[np.argsort(ranking.ranks)].tolist()
    table = pl.read_csv("ranking.csv")
    assert table["item"].to_list() == best_first
    assert table["rank"].to_list() == [1, 2, 3, 4, 5]
    for name in ("strength", "low", "high", "probability_best"):
        values = getattr(ranking, "strengths" if name == "strength" else name)
        expected = dict(zip(ranking.items.tolist(), values.tolist(), strict=True))
        found = dict(zip(table["item"], table[name], strict=True))
        assert found == pytest.approx(expected, abs=2e-6)
    assert table["comparisons"].to_list() == [
        sum(item in (b.left, b.right) for b in battles) for item in best_first
    ]
    judges = pl.read_csv("judges.csv")
    assert sorted(judges["annotator"]) == sorted({b.judge for b in battles})
    assert judges["comparisons"].to_list() == [40] * 4
    assert [row["item"] for row in document["items"]] == best_first
    assert document["verdict"] == ranking.verdict
    assert document["notes"][0].startswith("read as comparisons (CSV): left = 'left'")


def test_the_verdict_comes_first_and_the_text_is_short() -> None:
    lines = succeed("rank", "battles.csv").stdout.splitlines()
    assert lines[0].split()[0] == "Verdict"
    headings = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert headings == ["Verdict", "Fused", "Method", "Strengths", "Judges"]
    assert len(lines) <= 12


def test_long_texts_are_cut_in_the_verdict_and_whole_in_the_table() -> None:
    Path("texts.jsonl").write_bytes(content("texts", "jsonl"))
    result = succeed("rank", "texts.jsonl", "-o", "ranking.csv")
    assert len(result.stdout.splitlines()) <= 16
    assert min(map(len, pl.read_csv("ranking.csv")["item"])) > 500


@pytest.mark.parametrize("layout", ["Chatbot Arena", "MT-bench", "sides", "numbers"])
def test_layouts_of_the_same_comparisons_have_the_same_ranking(layout: str) -> None:
    Path("other.jsonl").write_bytes(content(layout, "jsonl"))
    assert strengths("other.jsonl") == pytest.approx(strengths("battles.csv"), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_order_and_names_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(rows_of("names"))
    items = frame["left"].unique().sort().to_list()
    new = dict(zip(items, rng.permutation([f"new {n}" for n in range(len(items))]), strict=True))
    renamed = frame.with_columns(
        pl.col("left", "right", "winner").replace(new),
        ("judge of " + pl.col("rater")).alias("rater"),
    )
    swapped = renamed.sample(fraction=1, shuffle=True, seed=seed)
    swapped.select(rng.permutation(frame.columns).tolist()).write_csv("other.csv")
    expected = {new[item]: value for item, value in strengths("battles.csv").items()}
    assert strengths("other.csv") == pytest.approx(expected, abs=1e-5)


def test_columns_weights_and_missing_winners_are_named() -> None:
    pairs = simulate_pairs(0, n_items=4, per_judge=60)
    table = {"home": pairs.left, "guest": pairs.right, "score": pairs.winner, "by": pairs.judge}
    pl.DataFrame(table | {"times": [2.0] * len(pairs.left)}).write_csv("games.csv")
    named = ["--left", "home", "--right", "guest", "--winner", "score", "--annotator", "by"]
    document = json.loads(
        succeed("rank", "games.csv", *named, "--weight", "times", "--json", "-q").stdout
    )
    assert document["n_comparisons"] == 2 * len(pairs.left)
    assert document["n_annotators"] == 3
    wins = json.loads(
        succeed("rank", "games.csv", *named, "--missing", "0.0", "--json", "-q").stdout
    )
    assert wins["n_comparisons"] == np.count_nonzero(pairs.winner)


def test_the_next_comparisons_are_those_of_next_pairs() -> None:
    succeed("rank", "battles.csv", "--next", "requests.csv", "--budget", "7")
    ranking = blindfuse.fuse_pairs(blindfuse.read("battles.csv", kind="comparisons").responses)
    expected, found = blindfuse.next_pairs(ranking, 7), pl.read_csv("requests.csv")
    for column, name in (("left", "left"), ("right", "right"), ("annotator", "annotators")):
        assert found[column].to_list() == getattr(expected, name).tolist()
    np.testing.assert_allclose(found["gain"], expected.gains, atol=5.1e-7)
    Path("games.csv").write_text("winner,loser\nx,y\ny,z\nz,x\nx,y\n")
    succeed("rank", "games.csv", "--next", "games_next.csv", "--budget", "1")
    assert pl.read_csv("games_next.csv").columns == ["left", "right", "gain"]
    assert "--budget" in refuse("rank", "games.csv", "--next", "x.csv", "--budget", "0")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("command", ["fuse", "annotators"])
def test_commands_for_labels_say_what_to_use(layout: str, command: str) -> None:
    Path("x.jsonl").write_bytes(content(layout, "jsonl"))
    assert "use `blindfuse rank`" in refuse(command, "x.jsonl")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("left,right,winner\nx,y,q\n", [], "'q' are neither side of their comparison"),
        ("left,right,winner\nx,x,x\n", [], "nothing to rank"),
        ("one,two\nx,y\n", [], "Pass --left, --right and --winner"),
        ("left,right,winner\nx,y,x\n", ["--winner", "nix"], "has no column 'nix'"),
        ("item,annotator,label\ni,a,x\n", [], "no two columns look like the compared items"),
        ("", [], "is empty"),
    ],
)
def test_bad_input_is_refused_in_one_line(text: str, arguments: list[str], message: str) -> None:
    Path("bad.csv").write_text(text)
    assert message in refuse("rank", "bad.csv", *arguments)


def test_texts_that_are_compared_once_are_refused() -> None:
    rows = [{"chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(200)]
    pl.DataFrame(rows).write_csv("texts.csv")
    assert "name the columns of what wrote them" in refuse("rank", "texts.csv")
