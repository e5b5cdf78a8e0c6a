"""Gold labels: in a file of their own, or beside the responses."""

from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadFile, read, read_gold
from tests.support.reader_files import stream

PAIRS = [("007", "cat"), ("1e5", "dog"), ("ü", "cat")]


def table(header: str, rows: Any = PAIRS) -> str:
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


@pytest.mark.parametrize(
    "header",
    ["item,label", "item,truth", "task_id,gold", "id,Gold Label", "question,vote", "x,y"],
)
def test_columns_are_detected(header: str) -> None:
    assert read_gold(stream(table(header))) == dict(PAIRS)


def test_a_gold_column_is_preferred_to_a_label_column_in_any_order() -> None:
    rows = [("cat", "x", "007", "5"), ("dog", "y", "1e5", "3")]
    assert read_gold(stream(table("truth,label,item,time", rows))) == {"007": "cat", "1e5": "dog"}
    assert read_gold(stream(table("truth,label,item,time", rows)), item="time", label="label") == {
        "5": "x",
        "3": "y",
    }
    assert read_gold(stream("truth,item\ncat,1\n")) == {"1": "cat"}


def test_a_json_object_maps_items_to_labels() -> None:
    assert read_gold(stream('{"007": "cat", "1e5": "dog", "ü": "cat"}')) == dict(PAIRS)
    with pytest.raises(BadFile, match="looks like the annotator"):
        read(stream('{"007": "cat", "1e5": "dog", "ü": "cat"}'))


def test_empty_labels_are_skipped_and_repeated_rows_merged() -> None:
    rows = [*PAIRS, ("a", ""), ("b", "NaN"), PAIRS[0]]
    assert read_gold(stream(table("item,label", rows))) == dict(PAIRS)


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        ("item,label\ni,x\ni,y\n", {}, "several labels for the items 'i'"),
        ("item,label\ni,\n", {}, "no label in column 'label'"),
        ("item,label\ni,x\n", {"label": "lable"}, "did you mean 'label'"),
        ("item,label\ni,x\n", {"item": "itm"}, "did you mean 'item'"),
        ("a,b,c\ni,x,y\n", {}, "Name these two item and label"),
        ("item,split,klass\ni,dev,x\n", {}, "Name these two item and label"),
    ],
)
def test_files_without_one_label_per_item_are_refused(text: str, options: Any, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        read_gold(stream(text), **options)


@pytest.mark.parametrize("written", ["cat", "Cat", "CAT ", "**cat**", "Label: cat"])
def test_gold_labels_take_the_spelling_of_the_classes(written: str) -> None:
    gold = read_gold(stream(f"item,label\ni,{written}\nj,dog\n"), classes=["cat", "dog"])
    assert gold == {"i": "cat", "j": "dog"}
    beside = read(stream(f"item,annotator,label,truth\ni,a,cat,{written}\nj,a,dog,dog\n"))
    assert beside.gold == {"i": "cat", "j": "dog"}


def test_gold_labels_between_two_classes_are_kept() -> None:
    text = "item,label\ni,CAT\nj,Cat\nk,cat\n"
    gold = read_gold(stream(text), classes=["cat", "Cat"])
    assert gold == {"i": "CAT", "j": "Cat", "k": "cat"}


def test_gold_sets_and_values_are_read_by_kind() -> None:
    sets = read_gold(stream("item,label\ni,x|y\nj,\n"), kind="sets", classes=["x", "y"])
    assert sets == {"i": ("x", "y"), "j": ()}
    values = read_gold(stream("item,value\ni,1.5\nj,NA\nk,2\n"), kind="numbers")
    assert values == {"i": 1.5, "k": 2.0}
    with pytest.raises(BadFile, match="the gold value 'many' is not a number"):
        read_gold(stream("item,value\ni,1.5\nj,many\n"), kind="numbers")


# Beside the responses


def test_a_gold_column_that_only_some_files_have_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("item,annotator,label,truth\ni,a,x,x\n")
    (tmp_path / "2.csv").write_text("item,annotator,label\ni,b,y\n")
    assert not read(tmp_path).gold
