"""Frames as people have them: which columns hold items, annotators and labels."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from blindfuse import Responses, fuse, simulate
from blindfuse.responses.responses import as_responses
from tests.responses.cases import LIBRARIES, error_message

FEW = ("pandas", "polars lazy", "pyarrow")
every_library = pytest.mark.parametrize("library", [LIBRARIES[name] for name in FEW], ids=FEW)
N_ITEMS = 60


def annotators(n: int = 3, words: tuple[Any, ...] = ("cat", "dog", "cow")) -> dict[str, Any]:
    """Columns of labels that agree in four of five items."""
    rng = np.random.default_rng(n)
    truth = rng.integers(0, len(words), N_ITEMS)
    columns = {}
    for m in range(n):
        is_wrong = rng.random(N_ITEMS) < 0.2
        codes = np.where(is_wrong, rng.integers(0, len(words), N_ITEMS), truth)
        columns[f"ann{m}"] = [words[code] for code in codes]
    return columns


def long_columns() -> dict[str, list[Any]]:
    wide = annotators()
    rows = [(f"t{n}", name, wide[name][n]) for n in range(N_ITEMS) for name in wide]
    return dict(zip(("task", "worker", "label"), map(list, zip(*rows, strict=True)), strict=True))


# Long frames


@every_library
def test_long_tables_are_detected_and_the_usual_names_need_no_note(library: Any) -> None:
    responses = as_responses(library(long_columns()))
    assert (responses.n_items, responses.n_annotators, responses.n_classes) == (N_ITEMS, 3, 3)
    assert "item = 'task', annotator = 'worker', label = 'label'" in responses.notes[0]
    usual = dict(zip(("item", "annotator", "label"), long_columns().values(), strict=True))
    assert Responses.from_frame(library(usual)).notes == ()


@every_library
@pytest.mark.parametrize("name", ["truth", "gold_label", "ground_truth"])
def test_gold_labels_beside_the_responses_are_noted_and_not_read(library: Any, name: str) -> None:
    columns = long_columns()
    responses = as_responses(library({**columns, name: columns["label"]}))
    assert responses.n_annotators == 3
    assert any(f"{name!r} looks like gold labels" in note for note in responses.notes)
    wide = as_responses(library({**annotators(), name: annotators()["ann0"]}))
    assert wide.annotators.tolist() == ["ann0", "ann1", "ann2"]
    assert any(f"{name!r} looks like gold labels" in note for note in wide.notes)


def test_a_long_index_of_pandas_is_read() -> None:
    frame = pd.DataFrame(long_columns()).set_index(["task", "worker"])
    assert (as_responses(frame).n_items, as_responses(frame).n_annotators) == (N_ITEMS, 3)


# Wide frames

EXTRA: list[dict[str, Any]] = [
    {"item": [f"q{n}" for n in range(N_ITEMS)]},
    {"item": list(range(N_ITEMS))},
    {"id": list(range(1000, 1000 + N_ITEMS))},
    {"split": ["train", "test", "train"] * (N_ITEMS // 3)},
    {"length": list(range(3, 3 + N_ITEMS))},
    {"words": [n % 30 for n in range(N_ITEMS)]},
    {"words": [n % 30 for n in range(N_ITEMS)], "letters": [n % 40 for n in range(N_ITEMS)]},
    {"date": [f"2024-01-{1 + n % 28:02d}" for n in range(N_ITEMS)]},
    {"comments": [None] * (N_ITEMS - 1) + ["hm"]},
    *(
        {name: ["cat", "ok", None] * (N_ITEMS // 3)}
        for name in ("Kommentar", "Bemerkung", "Commentaire", "Observaciones")
    ),
    {"story": [f"some text {n}" for n in range(N_ITEMS)]},
    {"final_label": annotators()["ann0"]},
    {"Unnamed: 0": list(range(N_ITEMS))},
    {"score_a": [n / 7 for n in range(N_ITEMS)]},
    {"site": ["a.org", "b.org"] * (N_ITEMS // 2)},
    {"constant": ["v1"] * N_ITEMS},
]


@every_library
@pytest.mark.parametrize("words", [("cat", "dog", "cow"), (0, 1, 2), (True, False)])
@pytest.mark.parametrize("extra", EXTRA, ids=lambda extra: "+".join(extra))
def test_columns_that_hold_no_labels_are_not_annotators(
    library: Any, words: tuple[Any, ...], extra: dict[str, Any]
) -> None:
    columns = annotators(5, words)
    expected = Responses.from_wide(library(columns))
    for table in ({**extra, **columns}, {**columns, **extra}):
        found = as_responses(library(table))
        assert found.annotators.tolist() == list(columns)
        assert found.classes.tolist() == expected.classes.tolist()
        np.testing.assert_array_equal(found.matrix(), expected.matrix())
        named = Responses.from_frame(library(table), annotator=["ann0", "ann3"])
        assert named.annotators.tolist() == ["ann0", "ann3"]


@every_library
def test_labelling_functions_that_know_one_class_are_annotators(library: Any) -> None:
    rng = np.random.default_rng(0)
    columns = {
        f"lf{m}": [word if fires else None for fires in rng.random(N_ITEMS) < 0.3]
        for m, word in enumerate(["spam", "ham", "spam", "ham", "other"])
    }
    assert as_responses(library(columns)).annotators.tolist() == list(columns)


@every_library
def test_minus_one_abstains_in_a_wide_frame_of_numbers(library: Any) -> None:
    columns = annotators(4, (-1, 0, 1))
    responses = as_responses(library(columns))
    assert responses.classes.tolist() == [0, 1]
    assert responses.n_responses == sum(label >= 0 for one in columns.values() for label in one)


COLUMNS = ", annotator= and label= to Responses.from_frame"
REFUSED: list[tuple[dict[str, list[Any]], tuple[str, ...]]] = [
    (
        {**long_columns(), "user": long_columns()["worker"]},
        ("'worker', 'user'", "annotator= to Responses.from_frame"),
    ),
    (
        {**annotators(2), **{f"site{m}": ["en", "de"] * (N_ITEMS // 2) for m in range(2)}},
        ("'ann0', 'ann1'", "'site0', 'site1'", "Responses.from_frame"),
    ),
    (
        {"a": [f"x{n % 5}" for n in range(30)], "b": [n % 3 for n in range(30)]},
        ("no two of the columns 'a', 'b' share labels", COLUMNS),
    ),
    ({"p": list(range(80)), "x": [0, 1] * 40}, ("no two of the columns", COLUMNS)),
    (
        {"x": list("ijij"), "y": list("aabb"), "z": ["no", "yes", "no", "no"]},
        ("no two of the columns", COLUMNS),
    ),
]


@every_library
@pytest.mark.parametrize(("columns", "words"), REFUSED)
def test_unclear_columns_are_refused_with_the_call_that_decides(
    library: Any, columns: dict[str, list[Any]], words: tuple[str, ...]
) -> None:
    message = error_message(lambda: Responses.from_frame(library(columns)))
    assert all(word in message for word in words)
    if "user" in columns:
        assert Responses.from_frame(library(columns), annotator="user").n_annotators == 3


@pytest.mark.parametrize("name", ["item", "image", None])
def test_the_index_of_a_wide_pandas_frame_names_the_items(name: str | None) -> None:
    names = [f"q{n}" for n in range(N_ITEMS)]
    frame = pd.DataFrame(annotators(), index=pd.Index(names, name=name))
    responses = as_responses(frame)
    assert responses.items.tolist() == names
    assert responses.annotators.tolist() == ["ann0", "ann1", "ann2"]
    assert as_responses(pd.DataFrame(annotators())).items.tolist() == list(range(N_ITEMS))


def test_a_pivoted_long_table_is_the_same_as_the_long_table() -> None:
    frame = pd.DataFrame(long_columns())
    wide = frame.pivot(index="task", columns="worker", values="label")
    by_long, by_wide = fuse(frame), fuse(wide)
    labels = dict(zip(by_long.responses.items, by_long.labels, strict=True))
    assert dict(zip(by_wide.responses.items, by_wide.labels, strict=True)) == labels


# Long tables whose columns have no known names


def triples(n_items: int, n_annotators: int, missing: float, seed: int) -> list[list[int]]:
    """Items, annotators and labels of a crowd, all of them whole numbers."""
    rng = np.random.default_rng(seed)
    crowd = simulate(n_items, n_annotators, 2, rng, skill=0.6, missing=missing).responses.matrix()
    items, members = np.nonzero(crowd >= 0)
    return [items.tolist(), (members + seed % 2).tolist(), crowd[items, members].tolist()]


@every_library
@pytest.mark.parametrize("names", [("x", "y", "z"), ("V1", "V2", "V3"), ("0", "1", "2")])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1)])
@pytest.mark.parametrize(("n_items", "n_annotators", "missing"), [(10, 5, 0.3), (200, 20, 0.7)])
def test_a_long_table_of_numbers_is_no_wide_one(
    library: Any,
    names: tuple[str, ...],
    order: tuple[int, ...],
    n_items: int,
    n_annotators: int,
    missing: float,
) -> None:
    for seed in range(3):
        columns = triples(n_items, n_annotators, missing, seed)
        table = library({name: columns[at] for name, at in zip(names, order, strict=True)})
        item, annotator, label = (names[order.index(role)] for role in range(3))
        message = error_message(lambda: Responses.from_frame(table))  # noqa: B023
        assert f"item={item!r}, annotator={annotator!r}, label={label!r}" in message
        named = Responses.from_frame(table, item=item, annotator=annotator, label=label)
        assert named.n_responses == len(columns[0])


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
@pytest.mark.parametrize("n_annotators", [3, 4])
@pytest.mark.parametrize("n_items", [10, 40, 200])
def test_wide_tables_are_not_taken_for_long_ones(
    n_classes: int, n_annotators: int, n_items: int
) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        crowd = simulate(n_items, n_annotators, n_classes, rng, skill=0.4, missing=0.1).responses
        table = pl.DataFrame(crowd.matrix().astype(str), schema=list("abcd")[:n_annotators])
        assert Responses.from_frame(table, missing="-1").n_items == n_items


@every_library
def test_more_annotators_than_items_are_noted(library: Any) -> None:
    wide = np.array(list(annotators().values()))
    table = library({f"q{n}": column.tolist() for n, column in enumerate(wide.T)})
    for read in (as_responses, Responses.from_wide):
        assert "there are 60 columns for 3 rows" in " ".join(read(table).notes)
    assert "transpose the table" in " ".join(Responses.from_matrix(wide).notes)
    assert "transpose" not in " ".join(Responses.from_matrix(wide.T).notes)


# Several questions


@every_library
@pytest.mark.parametrize("name", ["question", "criterion", "aspect"])
def test_several_questions_per_item_are_refused(library: Any, name: str) -> None:
    columns = {"item": ["i", "i", "j", "j"], "annotator": ["a"] * 4, "label": list("xyxx")}
    table = library({**columns, name: ["size", "colour"] * 2})
    message = error_message(lambda: Responses.from_frame(table))
    assert f"several questions in column {name!r}: 'size', 'colour'" in message
    texts = library({**columns, name: ["How big?", "How big?", "Why?", "Why?"]})
    assert Responses.from_frame(texts).n_items == 2


# Tables of a few rows

TOY = {"a": ["cat", "dog", "cat", "cow"], "b": ["cat", "dog", "dog", "cow"]}


@every_library
@pytest.mark.parametrize("n_rows", [3, 4])
def test_a_column_of_other_values_is_no_annotator_of_a_few_rows(library: Any, n_rows: int) -> None:
    toy = {name: labels[:n_rows] for name, labels in TOY.items()}
    for extra in ([f"fine {n}" for n in range(n_rows)], list(range(90, 90 + n_rows))):
        responses = as_responses(library({**toy, "extra": extra}))
        assert responses.annotators.tolist() == ["a", "b"]
    repeating = as_responses(library({**toy, "c": ["emu"] * n_rows}))
    assert repeating.annotators.tolist() == ["a", "b", "c"]


@every_library
@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_the_texts_of_a_few_rows_name_the_items(library: Any, n_rows: int) -> None:
    texts = [f"a text, {n}" for n in range(n_rows)]
    table = library({"tweet": texts, **{name: one[:n_rows] for name, one in TOY.items()}})
    responses = as_responses(table)
    assert responses.items.tolist() == texts
    assert responses.annotators.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["truth", "final_label"])
def test_labels_of_a_few_rows_do_not_name_the_items(name: str) -> None:
    table = pl.DataFrame({name: ["cat", "dog"], "a": ["cat", "cat"], "b": ["dog", "cat"]})
    assert as_responses(table).items.tolist() == [0, 1]


def test_one_row_is_a_wide_table() -> None:
    assert Responses.from_frame(pl.DataFrame({"x": ["no"], "y": ["yes"], "z": ["?"]})).n_items == 1
