"""Parquet and Arrow files: values become text, damaged files are refused."""

import io
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from blindfuse import BadFile, files, read
from tests.support.reader_files import (
    SMALL,
    WRITERS,
    assert_refused,
    has_note,
    labels_by_name,
    stream,
    write_file,
)


def as_parquet(frame: pl.DataFrame) -> io.BytesIO:
    data = io.BytesIO()
    frame.write_parquet(data)
    return io.BytesIO(data.getvalue())


def test_numbers_and_booleans_become_the_same_text_as_in_json() -> None:
    frame = pl.DataFrame({"item": [7, 8], "worker": [1.0, 2.0], "label": [True, None]})
    lines = '{"item": 7, "worker": 1, "label": true}\n{"item": 8, "worker": 2, "label": null}\n'
    for file in (as_parquet(frame), stream(lines)):
        assert labels_by_name(read(file).responses) == {("7", "1"): "true"}


@pytest.mark.parametrize("file_type", ["Parquet", "Arrow", "Arrow stream"])
def test_damaged_files_are_refused(tmp_path: Path, file_type: str) -> None:
    data = WRITERS[file_type](SMALL)
    path = write_file(tmp_path, "a.parquet", data[:40])
    assert_refused(lambda: read(path), "a.parquet is a damaged")


@pytest.mark.parametrize("file_type", ["parquet", "ipc", "ipc_stream"])
def test_a_file_of_many_equal_rows_is_refused_unless_the_limit_is_raised(
    file_type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 20)
    path, n_rows = tmp_path / "bomb", 3_000_000
    frame = pl.DataFrame({name: pl.repeat("x", n_rows, eager=True) for name in "abc"})
    frame = frame.rename({"a": "item", "b": "annotator", "c": "label"})
    getattr(frame, f"write_{file_type}")(path, compression="zstd")
    words = "200 times its size", "set BLINDFUSE_MAX_UNPACKED_BYTES"
    assert_refused(lambda: read(path), *words)
    assert_refused(lambda: read(stream(path.read_bytes())), *words)
    monkeypatch.setenv("BLINDFUSE_MAX_UNPACKED_BYTES", str(10**9))
    assert read(path).responses.n_responses == 1


def test_a_legitimate_table_compresses_far_less() -> None:
    """Sorted items and few distinct values, at the size where the limit begins to bind."""
    n_rows = (files.MAX_UNPACKED_BYTES // 24) * 3 // 2
    item = pl.int_range(n_rows, eager=True) // 3
    frame = pl.DataFrame({"item": item, "annotator": item % 7, "label": item % 2})
    file = as_parquet(frame)
    assert files.unpacked_limit(len(file.getvalue())) > 2 * 24 * n_rows


def test_the_first_of_a_list_of_labels_is_read() -> None:
    labels = [["x"], ["x", "y"], []]
    frame = pl.DataFrame({"item": [1, 2, 3], "annotator": ["a", "a", "a"], "label": labels})
    found = read(as_parquet(frame))
    assert labels_by_name(found.responses) == {("1", "a"): "x", ("2", "a"): "x"}
    assert has_note(found, "1 response with several labels: only the first is used")


def test_columns_without_text_are_not_in_the_way() -> None:
    """Images of Hugging Face are objects with bytes."""
    columns = {"item": ["1", "1"], "annotator": ["a", "b"], "label": [b"x", b"y"]}
    others = {
        "image": [{"bytes": b"\xff\xd8", "path": "p"}] * 2,
        "bytes": [b"\xff\xd8"] * 2,
        "thumbnails": [[b"\xff"]] * 2,
        "took": [timedelta(seconds=1)] * 2,
    }
    for number in range(len(others) + 1):
        file = as_parquet(pl.DataFrame({**columns, **dict(list(others.items())[:number])}))
        assert labels_by_name(read(file).responses) == {("1", "a"): "x", ("1", "b"): "y"}
    with pytest.raises(BadFile, match="no labels"):
        read(as_parquet(pl.DataFrame({**columns, **others})), label="image")
