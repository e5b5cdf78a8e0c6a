"""From text to codes: order of codes and classes, missing, repeated and too many labels."""

import io
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import BadLabels, read
from blindfuse.kernels.tables import factorize_hashes
from blindfuse.readers import names
from tests.support.reader_files import (
    LONG,
    WRITERS,
    assert_refused,
    has_note,
    labels_by_name,
    stream,
)


def test_values_are_hashed_again_when_hashes_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    def colliding(hashes: Any) -> Any:
        monkeypatch.undo()
        return factorize_hashes(np.zeros_like(hashes))

    monkeypatch.setattr(names, "factorize_hashes", colliding)
    codes, values = names.factorize(pl.Series(["a", None, "b", "a"]))
    assert codes.tolist() == [0, 1, 2, 0]
    assert values.to_list() == ["a", None, "b"]


@pytest.mark.parametrize("distinct", [1, 511, 512, 513, 5_000, 100_000])
def test_codes_follow_the_order_of_first_appearance(distinct: int) -> None:
    picks = np.random.default_rng(distinct).integers(0, distinct, 3 * distinct)
    codes, values = names.factorize(pl.Series([f"n{pick}" for pick in picks]))
    first = {pick: code for code, pick in enumerate(dict.fromkeys(picks.tolist()))}
    assert codes.tolist() == [first[pick] for pick in picks.tolist()]
    assert values.to_list() == [f"n{pick}" for pick in first]


@pytest.mark.parametrize("file_type", ["CSV", "TSV", "JSONL", "JSON", "Parquet"])
def test_names_that_look_like_numbers_stay_text(file_type: str) -> None:
    rows = [("007", "1", "1e5"), ("7", "01", "100000"), ("1e5", "1.0", "1e5")]
    responses = read(io.BytesIO(WRITERS[file_type](rows))).responses
    assert responses.items.tolist() == ["007", "7", "1e5"]
    assert responses.annotators.tolist() == ["1", "01", "1.0"]
    assert sorted(responses.classes.tolist()) == ["100000", "1e5"]


def test_classes_that_are_numbers_are_sorted_by_value() -> None:
    text = "item,annotator,label\na,x,10\na,y,9\nb,x,-1\n"
    assert read(stream(text)).responses.classes.tolist() == ["-1", "9", "10"]
    words = text.replace("-1", "low")
    assert read(stream(words)).responses.classes.tolist() == ["10", "9", "low"]
    assert read(stream(text), classes=[10, 9, -1]).responses.classes.tolist() == ["10", "9", "-1"]


def test_empty_labels_keep_their_item_and_are_counted() -> None:
    found = read(stream('item,annotator,label\ni,a,x\ni,b,\nj,a,"  "\nk,,\n'))
    assert found.responses.items.tolist() == ["i", "j", "k"]
    assert found.responses.annotators.tolist() == ["a", "b"]
    assert labels_by_name(found.responses) == {("i", "a"): "x"}
    assert has_note(found, "2 empty labels treated as missing")


def test_repeated_responses_can_be_refused() -> None:
    assert_refused(
        lambda: read(stream(LONG + "007,ann,x\n"), repeats="error"), "'007'", kind=BadLabels
    )


def test_files_without_labels_are_refused() -> None:
    assert_refused(lambda: read(stream("item,annotator,label\n")), "no labels")
    assert_refused(lambda: read(stream("item,annotator,label\ni,a,\nj,a,\n")), "no labels")
    assert read(stream("item,annotator,label\ni,a,\n"), classes=["x"]).responses.n_responses == 0


def test_too_many_classes_suggest_another_label_column() -> None:
    rows = (f"i{n % 500},w{n % 7},free text {n},{n % 3}\n" for n in range(100_000))
    text = "item,annotator,label,mark\n" + "".join(rows)
    assert_refused(
        lambda: read(stream(text)), "'label' contains 100,000", "1,000 classes", "'mark'"
    )
    assert read(stream(text), label="mark").responses.n_classes == 3


def test_too_many_classes_in_a_wide_table_suggest_the_annotators() -> None:
    rows = (f"{n},long {n},{n % 2},{n % 3}\n" for n in range(2000))
    text = "id,story,ann,bob\n" + "".join(rows)
    named = ["story", "ann", "bob"]
    assert_refused(
        lambda: read(stream(text), format="wide", annotator=named),
        "2,003 different",
        "annotator=",
        "'ann', 'bob'",
    )
    assert read(stream(text)).responses.annotators.tolist() == ["ann", "bob"]
    assert read(stream(text), format="wide", annotator="bob").responses.items[0] == "0"


def test_labels_outside_the_given_classes_are_refused() -> None:
    assert_refused(lambda: read(stream(LONG), classes=["x"]), "'1e5'", "row 1", kind=BadLabels)


@pytest.mark.parametrize("role", ["item", "annotator"])
def test_a_label_without_item_or_annotator_is_refused(role: str) -> None:
    row = {"item": "j", "annotator": "a", "label": "x", role: ""}
    text = LONG + ",".join(row.values()) + "\n"
    assert_refused(lambda: read(stream(text)), f"row 4 has a label but no {role}")
