"""JSON documents and JSON lines: structure, line numbers and surrogates."""

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import (
    SMALL,
    WRITERS,
    assert_refused,
    labels_by_name,
    stream,
    write_file,
)


@pytest.mark.parametrize("text", ["[1, 2]", "[]", '{"a": ', "[" * 100_000, '[{"a": 1}, 3]', "{}"])
def test_json_that_is_not_a_list_of_objects_is_refused(text: str) -> None:
    assert_refused(lambda: read(stream(text)))


@pytest.mark.parametrize("n_items", [1, 3, 12])
def test_every_shape_of_a_document_gives_the_same_responses(n_items: int) -> None:
    """Also where all lists have the same length, as columns have."""
    cells = {
        (f"q{n}", who): "xy"[(n + at) % 2] for n in range(n_items) for at, who in enumerate("abc")
    }
    rows = [{"item": i, "annotator": a, "label": label} for (i, a), label in cells.items()]
    frame = pd.DataFrame(rows)
    shapes = {
        "records": frame.to_json(orient="records"),
        "columns": frame.to_json(),
        "split": frame.to_json(orient="split"),
        "lists": json.dumps(frame.to_dict("list")),
        "by item": json.dumps(
            {i: g.drop(columns="item").to_dict("records") for i, g in frame.groupby("item")}
        ),
        "by annotator": json.dumps(
            {
                a: g.drop(columns="annotator").to_dict("records")
                for a, g in frame.groupby("annotator")
            }
        ),
    }
    for name, text in shapes.items():
        if n_items > 1 or name != "by item":  # one list may hold the rows themselves
            assert labels_by_name(read(stream(text)).responses) == cells


def test_errors_in_json_lines_give_the_line(tmp_path: Path) -> None:
    lines = WRITERS["JSONL"](SMALL)
    early = write_file(tmp_path, "a.jsonl", lines + b"\n{oops\n")
    assert_refused(lambda: read(early), "a.jsonl, line 4")
    many = lines + b"\n" + b"\n".join([lines] * 20_000) + b"\n[1]\n"
    assert_refused(lambda: read(write_file(tmp_path, "b.jsonl", many)), "b.jsonl, line 60,004")


@pytest.mark.parametrize("odd", [False, True])
def test_annotators_who_first_occur_late_are_not_dropped(odd: bool) -> None:
    """As those of a wide table; ``odd`` objects have a number that Polars does not read."""
    rows: list[dict[str, Any]] = [
        {"item": f"q{n}", "ann": "x", "bob": "xy"[n % 2]} for n in range(1500)
    ]
    rows[-1] |= {"n": float("nan")} if odd else {}
    rows[-2]["eve"] = "y"
    text = "\n".join(map(json.dumps, rows))
    assert_refused(lambda: read(stream(text)), "'eve'", "first 1,000 objects")
    rows[0]["eve"] = None
    rows[0]["n"] = None
    text = "\n".join(map(json.dumps, rows))
    assert labels_by_name(read(stream(text)).responses)["q1498", "eve"] == "y"


@pytest.mark.parametrize("key", ["item", "annotator", "label"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("in_lines", [False, True])
def test_unpaired_surrogates_are_refused(key: str, late: bool, in_lines: bool) -> None:
    """JSON may escape one half of a surrogate pair, which is not valid text."""
    rows = [{"item": f"i{n}", "annotator": "a", "label": "x"} for n in range(2000)]
    rows[1500 if late else 0][key] = "\ud800"
    text = "\n".join(map(json.dumps, rows)) if in_lines else json.dumps(rows)
    with pytest.raises(BadFile, match="surrogates not allowed"):
        read(io.BytesIO(text.encode()))
