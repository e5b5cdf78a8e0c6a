"""Comparisons in many layouts are read, and never taken for labels, nor labels for them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import BlindfuseError, Comparisons, Responses, fuse, read
from blindfuse.readers.partitions import read_partitions
from tests.support.pair_files import (
    ENDINGS,
    LAYOUTS,
    battles_of,
    content,
    expected_outcomes,
    long_text,
    outcomes,
    rows_of,
)
from tests.support.reader_files import write_file
from tests.support.tried_files import TRIED_FILES

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
RANK = re.escape("use `blindfuse rank` (fuse_pairs in Python)")


def refusal(call: Callable[[], Any]) -> str:
    """The error of a call, empty if there is none."""
    try:
        call()
    except BlindfuseError as error:
        return str(error)
    return ""


@every_layout
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_layout_holds_the_same_comparisons(tmp_path: Path, layout: str, ending: str) -> None:
    path = write_file(tmp_path, f"battles.{ending}", content(layout, ending))
    found = read(path, kind="comparisons")
    table = found.responses
    text = long_text if layout == "texts" else str
    expected = expected_outcomes(layout, lambda name: text(name).strip())
    assert outcomes(table) == pytest.approx(expected)
    assert table.n_comparisons == len(battles_of(layout))
    has_prompts = "Arena" in layout or layout in ("MT-bench", "models of texts")
    assert (table.prompts is not None) == has_prompts
    assert found.notes[0].startswith("read as comparisons (")
    assert found.notes[0].endswith("(detected)")


@every_layout
def test_comparisons_are_never_taken_for_labels(tmp_path: Path, layout: str) -> None:
    path = write_file(tmp_path, "battles.csv", content(layout, "csv"))
    frame = pl.DataFrame(rows_of(layout))
    with pytest.raises(BlindfuseError, match=RANK):
        read(path)
    with pytest.raises(BlindfuseError, match=RANK), read_partitions(path):
        pass
    for call in (fuse, Responses.from_frame):
        with pytest.raises(BlindfuseError, match=RANK):
            call(frame)


def test_columns_that_are_named_are_read_as_labels(tmp_path: Path) -> None:
    path = write_file(tmp_path, "battles.csv", content("names", "csv"))
    named = read(path, item="left", annotator="rater", label="winner")
    assert named.responses.n_items == 5
    assert read(path, annotator=["left", "right"]).responses.n_annotators == 2


@pytest.mark.parametrize(
    "columns",
    [
        {"left": ["cat", "dog"] * 20, "right": ["cat", "dog"] * 20, "label": ["cat", "dog"] * 20},
        {"id1": range(40), "id2": range(40, 80), "worker": [1, 2] * 20, "answer": [1, 0] * 20},
        {"item_1": range(40), "item_2": range(40, 80), "rater": [1, 2] * 20, "label": [1, 0] * 20},
        {"item": range(40), "a": [1, 0] * 20, "b": [0, 1] * 20, "label": ["a", "b"] * 20},
        {"item": range(40), "model_a": ["x", "y"] * 20, "model_b": ["y", "x"] * 20},
    ],
)
def test_labels_are_never_taken_for_comparisons(columns: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
    frame.write_csv(tmp_path / "table.csv")
    assert "rank" not in refusal(lambda: read(tmp_path / "table.csv"))
    assert "rank" not in refusal(lambda: fuse(frame))


@pytest.mark.parametrize("tried", TRIED_FILES, ids=lambda tried: tried.source)
def test_no_tried_file_of_labels_is_taken_for_comparisons(tmp_path: Path, tried: Any) -> None:
    text = refusal(lambda: read(tried.write(tmp_path), **tried.options))
    assert ("rank" in text) == ("comparisons" in " ".join(tried.words))


@pytest.mark.parametrize("values", [(1, 0), (True, False), ("1", "0"), (1.0, 0.0)])
def test_flags_of_winners_of_any_type_are_ties_where_nobody_won(values: tuple[Any, Any]) -> None:
    yes, no = values
    columns = {"model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"]}
    flags = {"winner_model_a": [yes, no, no], "winner_model_b": [no, yes, no]}
    table = Comparisons.from_frame(pl.DataFrame({**columns, **flags}))
    np.testing.assert_array_equal(table.rows.counts.sum(axis=0), [1, 1, 1])
    assert table.wins_per_item.tolist() == [2.5, 0.5]
    with pytest.raises(BlindfuseError, match="'maybe' in a column that says which side won"):
        Comparisons.from_frame(pl.DataFrame({**columns, **flags, "winner_model_b": ["maybe"] * 3}))


def test_columns_and_missing_winners_may_be_named(tmp_path: Path) -> None:
    text = "home,guest,result,referee,times\nx,y,x,R,2\ny,x,void,R,1\nx,z,tie,S,0.5\ny,z,,S,1\n"
    path = write_file(tmp_path, "games.csv", text)
    named: Any = {"left": "home", "right": "guest", "annotator": "referee", "weight": "times"}
    found = read(path, kind="comparisons", **named, winner="result", missing="void")
    sums = {("R", "x", "y"): 2.0, ("S", "x", "z"): 0.25, ("S", "z", "x"): 0.25}
    assert outcomes(found.responses) == pytest.approx(sums)
    with pytest.raises(BlindfuseError, match="'void' are neither side"):
        read(path, kind="comparisons", **named)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("left,right\nx,y\n", {}, "no columns look like the winner"),
        ("one,two,winner\nx,y,x\n", {}, "no two columns look like the compared items"),
        ("left,right,winner\nx,y,q\n", {}, "'q' are neither side of their comparison"),
        ("left,right,winner\n,y,y\n", {}, "has no item"),
        ("left,right,winner,weight\nx,y,x,many\n", {}, "weight 'many' is not a finite number"),
        ("left,right,winner,weight\nx,y,x,-1\n", {}, "are negative or missing"),
        ("left,right,winner\nx,y,x\n", {"winner": "best"}, "has no column 'best'"),
        (
            "left,right,winner\nx,y,x\n",
            {"winner": "left", "right": "left"},
            "cannot have two of the roles",
        ),
        ("left,right,winner\nx,y,x\n", {"classes": ["x"]}, "classes= cannot be used"),
        ("left,right,winner\nx,y,x\n", {"annotator": ["a", "b"]}, "annotator= cannot be used"),
        ("left,right,winner\nx,y,x\n", {"judge": "x"}, "'judge' must be one of"),
    ],
)
def test_bad_files_and_options_are_refused(
    tmp_path: Path, text: str, options: Any, message: str
) -> None:
    path = write_file(tmp_path, "pairs.csv", text)
    with pytest.raises(BlindfuseError, match=re.escape(message)):
        read(path, kind="comparisons", **options)


def test_options_of_comparisons_are_refused_for_labels(tmp_path: Path) -> None:
    path = write_file(tmp_path, "votes.csv", "item,annotator,label\ni,a,x\n")
    for kind in ("labels", "sets", "scores", "numbers"):
        with pytest.raises(BlindfuseError, match="left= cannot be used with kind"):
            read(path, kind=kind, left="item")


def test_the_other_side_is_detected_and_sides_are_not_exchanged(tmp_path: Path) -> None:
    """Winners such as model_a would otherwise count for the item on the wrong side."""
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n", encoding="utf-8")
    for sides in ({"left": "model_a"}, {"right": "model_b"}):
        columns = read(path, kind="comparisons", **sides).columns
        assert (columns["left"], columns["right"]) == ("model_a", "model_b")
    for sides in ({"left": "model_b"}, {"right": "model_a"}):
        with pytest.raises(BlindfuseError, match="'model_a' is the left item by its name"):
            read(path, kind="comparisons", **sides)
    path.write_text("a,b,c,winner\nx,y,z,y\nx,z,y,z\n", encoding="utf-8")
    columns = read(path, kind="comparisons", left="b", right="c").columns
    assert (columns["left"], columns["right"]) == ("b", "c")
