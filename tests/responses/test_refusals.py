"""Input that cannot be responses: what is refused, and the words that say why."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from blindfuse import Responses
from blindfuse.responses import frames
from blindfuse.responses.responses import as_responses
from tests.responses.cases import COLUMNS, NAN, error_message

LONG: Any = Responses.from_long
MATRIX: Any = Responses.from_matrix
IDS: dict[str, Any] = {"items": [0, 0], "annotators": [0, 1]}
FRAME = {"item": ["i", "j"], "annotator": ["a", "b"], "label": ["x", "y"]}
TWINS = ["a", "bob", "bob"]


def labels(*values: Any) -> list[Callable[[], Any]]:
    """The same labels in a column and in a matrix with one annotator."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    ids = range(len(values))
    return [lambda: LONG(ids, ids, column), lambda: MATRIX(column[:, None])]


def classes(names: Any) -> list[Callable[[], Any]]:
    return [lambda: MATRIX([["a"]], classes=names), lambda: LONG([0], [0], ["a"], classes=names)]


def matrices(rows: Any) -> list[Callable[[], Any]]:
    return [lambda: MATRIX(rows), lambda: as_responses(rows)]


def tables(frame: Any) -> list[Callable[[], Any]]:
    return [lambda: Responses.from_frame(frame), lambda: Responses.from_wide(frame)]


def coded(**wrong: Any) -> Callable[[], Any]:
    kinds = ("item", "annotator", "symbol")
    columns: Any = (np.array(wrong.get(kind, [0, 1])) for kind in kinds)
    return partial(Responses.from_codes, *columns, **names)


NO_MATRICES: list[Any] = [
    *(None, 5, "text", [], [[]], [0, 1], ["ab", "c"], {0, 1}, np.array(1)),
    *(np.array([0, 1]), np.zeros((2, 0)), np.zeros((2, 2, 2)), [[[0, 1]], [[0, 1]]]),
    *([np.zeros((2, 2)), np.zeros((2, 3))], iter([[0, 1]])),
]
names: dict[str, Any] = {"items": [0, 1], "annotators": [0, 1], "classes": [0, 1]}
REFUSED: dict[str, list[Any]] = {
    "labels": [
        *((labels("x", bad), (repr(bad), "text")) for bad in (b"x", 1j, date(2020, 1, 1))),
        *((labels("x", bad), (type(bad).__name__, "text")) for bad in (["x"], {"x": 1}, {"x"})),
        (labels(Decimal(1), "x"), ("row 0", "text")),
        *(
            ([partial(LONG, [0, 1], [0, 1], np.zeros(2, dtype=kind))], ("text",))
            for kind in ("datetime64[D]", "timedelta64[s]", complex, "i4,i4")
        ),
        *(
            (labels(*pair), ("mix types", repr(pair[0]), "classes="))
            for pair in ([1, True], [0, False], [True, 2.0], ["1", 1], ["True", True], ["a", 1])
        ),
        *((labels(*empty), ("no labels", "missing marker")) for empty in ((), (None, None))),
        (labels(*range(1001)), ("1,001 classes", "1,000", "label column")),
    ],
    "classes": [
        *(
            (classes(bad), (offender,))
            for bad, offender in (
                *((["a", "b", "a"], "'a'"), ([1, 2, 1.0], "1"), ([0, False], "0"), ([], "empty")),
                *((["a", None], "contains None"), ([0, NAN], "nan"), (["a", ("b",)], "('b',)")),
                *((["a", b"b"], "b'b'"), ([["a"], ["b"]], "['a']"), ("ab", "'ab'"), (3, "3")),
                *(
                    (np.array([["a"], ["b"]]), "(2, 1)"),
                    (np.array(3), "()"),
                    (range(1001), "1,000"),
                ),
            )
        ),
        (
            [lambda: LONG(range(8), range(8), list("xabcdefg"), classes=["x", "y"])],
            ("'a', 'b', 'c', 'd', 'e' and 2 more (row 1)", "'x', 'y'", "classes="),
        ),
        ([lambda: MATRIX([[0, 1], [2, 0]], classes=[0, 1])], ("2 (row 1, column 0)",)),
        ([lambda: LONG([0], [0], [True], classes=[0, 1])], ("True",)),
        ([lambda: MATRIX([[1]], classes=[-1, 1])], ("-1",)),
        ([lambda: LONG(**COLUMNS, classes=["x", "y"], missing="x")], ("'x'",)),
    ],
    "columns": [
        *(
            ([partial(LONG, **{**COLUMNS, name: column})], (words,))
            for name in COLUMNS
            for column, words in (
                *((["x"], "same length"), (list("xyz"), "3"), ([], "0"), (None, ""), (5, "")),
                *(
                    (np.eye(2), "(2, 2)"),
                    ({"x": 1, "y": 2}, ""),
                    (["x", ["x"]], "text"),
                    ("xy", ""),
                ),
            )
        ),
        *(
            (
                [
                    partial(LONG, **{**COLUMNS, kind: ["i", null]}),
                    partial(MATRIX, np.eye(2), **{kind: ["i", null]}),
                ],
                (f"Row 1 has no {kind[:-1]}",),
            )
            for kind in IDS
            for null in (None, NAN, pd.NA, pd.NaT)
        ),
        (
            [lambda: LONG([1, 2, 2], ["ann", "bob", "bob"], list("xyy"), repeats="error")],
            ("'bob'", "item 2"),
        ),
    ],
    "matrices": [
        *(
            ([partial(MATRIX, rows)], (words, "missing marker"))
            for rows, words in (
                ([[0, 1], [0, 1], [0]], "Row 2 has 1 labels, but row 0 has 2"),
                ([["a", "b"], []], "Row 1 has 0 labels, but row 0 has 2"),
                ([[0, 1], 0], "Row 1 has 1 labels, but row 0 has 2"),
                ([np.array(1), [0, 1]], "Row 1 has 2 labels, but row 0 has 1"),
                ([np.zeros(2), np.zeros(3)], "Row 1 has 3 labels, but row 0 has 2"),
            )
        ),
        *((matrices(data), ("matrix [item, annotator]", "from_long")) for data in NO_MATRICES),
        *(
            ([partial(MATRIX, np.eye(3), **{kind: given})], (words,))
            for kind in IDS
            for given, words in (
                *((list("aba"), "'a'"), (["a", "b", ["c"]], "list")),
                (["a", "b"], f"2 names, but the matrix has 3 {kind}"),
            )
        ),
        *(([coded(**{kind: [0, 2]})], (f"{kind} 2",)) for kind in ("item", "annotator", "symbol")),
    ],
    "frames": [
        *(
            (tables(data), (type(data).__name__, "pandas, Polars, PyArrow or DuckDB"))
            for data in (
                *(None, 5, "text", [[0, 1]], np.eye(2), {"a": [0]}, pd.Series([1]), pl.Series([1])),
                *(pl.DataFrame(FRAME).to_dicts(), pd.DataFrame(FRAME).to_records()),
                *(iter([[0, 1]]), pa.table(FRAME).to_batches()[0], pa.table(FRAME).to_reader()),
            )
        ),
        *(
            ([*tables(frame), *matrices(frame)], ("'bob'", "Rename"))
            for frame in (
                pd.DataFrame([[0, 1, 2]], columns=TWINS),
                pa.table([[0], [1], [2]], names=TWINS),
            )
        ),
        *(
            ([partial(Responses.from_frame, make({**FRAME, "label": column}))], (words,))
            for make in (pl.DataFrame, pl.LazyFrame, pa.table, pd.DataFrame)
            for column, words in (([["x"], ["y", "z"]], "text"), ([None] * 2, "no labels"))
        ),
        (
            [lambda: Responses.from_wide(pd.DataFrame([[0, 1]], columns=[0, 10]), item="1")],
            ("did you mean '10'?",),
        ),
    ],
}


@pytest.mark.parametrize("group", REFUSED)
def test_what_cannot_be_responses_is_refused_with_the_offender(group: str) -> None:
    for calls, words in REFUSED[group]:
        for call in calls:
            message = error_message(call)
            assert all(word in message for word in words), (message, words)


def test_arrays_are_no_frames() -> None:
    assert not any(map(frames.is_frame, (None, 5, [[0]], np.eye(2), pd.Series([1]))))
