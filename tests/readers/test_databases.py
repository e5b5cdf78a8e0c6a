"""Databases, workbooks and datasets: every kind holds the same responses as a CSV file."""

import importlib.util
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from fsspec.compression import compr

from blindfuse import BadFile, Responses, files, read
from blindfuse.readers.sources import Source, refuse_bombs
from tests.support.reader_files import as_archive, assert_refused, labels_by_name, stream

FRAME = pl.DataFrame(
    {
        "item": ["007", "007", "8", "8", "9"],
        "annotator": ["ann", "bob", "ann", "bob", "ann"],
        "label": ["cat", 'the "dog"', "cat", None, ""],
        "weight": [1.0, 2.0, 0.5, 1.0, 1.0],
    }
)
EXPECTED = labels_by_name(read(io.BytesIO(FRAME.write_csv().encode())).responses)


def write_sqlite(path: Path, tables: dict[str, pl.DataFrame]) -> None:
    with sqlite3.connect(path) as connection:
        for name, frame in tables.items():
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(frame.columns)})')
            marks = ", ".join("?" * frame.width)
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', frame.rows())
    connection.close()


def write_duckdb(path: Path, tables: dict[str, pl.DataFrame]) -> None:
    with duckdb.connect(str(path)) as connection:
        for name, frame in tables.items():
            connection.register("frame", frame.to_arrow())
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')


def write_excel(path: Path, tables: dict[str, pl.DataFrame]) -> None:
    pytest.importorskip("fastexcel")
    with pytest.importorskip("xlsxwriter").Workbook(path) as book:
        for name, frame in tables.items():
            frame.write_excel(book, name)


WRITERS: dict[str, Callable[[Path, dict[str, pl.DataFrame]], None]] = {
    "votes.db": write_sqlite,
    "votes.duckdb": write_duckdb,
    "votes.xlsx": write_excel,
}
every_kind = pytest.mark.parametrize("name", WRITERS)


@every_kind
def test_a_table_is_read_as_csv(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, {"the votes": FRAME})
    for file in (path, str(path), f"{path}::the votes"):
        assert labels_by_name(read(file).responses) == EXPECTED
    numbers = read(path, kind="numbers", label="weight").responses
    assert numbers.values.sum() == FRAME["weight"].sum()


@every_kind
def test_one_of_several_tables_must_be_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, {"others": FRAME.select("weight"), "votes": FRAME})
    assert labels_by_name(read(f"{path}::votes").responses) == EXPECTED
    assert_refused(lambda: read(path), "'others', 'votes'", f"{path}::others")
    assert_refused(lambda: read(f"{path}::vote"), "did you mean 'votes'")


def test_a_workbook_is_read_whole_as_text(tmp_path: Path) -> None:
    """Also below the rows by which others guess types, and with lines above the header."""
    workbook, path = pytest.importorskip("xlsxwriter").Workbook, tmp_path / "votes.xlsx"
    numbers, words = [str(n % 3) for n in range(1500)], ["x"] * 1500
    items = [f"q{n}" for n in range(3000)]
    frame = pl.DataFrame({"item": items, "ann": numbers + words, "bob": words + numbers})
    titled = pl.DataFrame([["My crowd", "", ""], frame.columns, *frame.rows()], orient="row")
    pytest.importorskip("fastexcel")
    for table, has_header in ((frame, True), (titled, False)):
        with workbook(path, {"strings_to_numbers": True}) as book:
            table.write_excel(book, "votes", include_header=has_header)
        if has_header:
            expected = labels_by_name(read(stream(frame.write_csv())).responses)
            assert labels_by_name(read(path).responses) == expected
    assert_refused(lambda: read(path), "lines above the header")


def test_lists_and_objects_of_duckdb_are_those_of_json(tmp_path: Path) -> None:
    path, lists = tmp_path / "votes.duckdb", [["x", "y"], ["x"], []]
    names = {"item": ["1", "2", "3"], "annotator": ["a"] * 3}
    objects = [{"label": "x", "why": "so"}] * 3
    tables = {"sets": {**names, "label": lists}, "verdicts": {**names, "verdict": objects}}
    write_duckdb(path, {name: pl.DataFrame(columns) for name, columns in tables.items()})
    found = read(f"{path}::sets", kind="sets").responses
    assert found.classes.tolist() == ["x", "y"]
    labels = labels_by_name(read(f"{path}::verdicts").responses)
    assert labels == {(item, "a"): "x" for item in "123"}


@pytest.mark.parametrize("start", [b"SQLite format 3\0", b"\x16\xf3\x8f~\x00\x81\x9dKDUCK\x40"])
def test_damaged_and_packed_databases_are_refused(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "votes.db"
    path.write_bytes(start + bytes(range(256)) * 16)
    assert_refused(lambda: read(path), "is a damaged or locked")
    assert_refused(lambda: read(stream(path.read_bytes())), "packed", "Unpack it")


def test_a_view_reads_no_other_file(tmp_path: Path) -> None:
    path, other = tmp_path / "votes.duckdb", tmp_path / "other.csv"
    other.write_text(FRAME.write_csv())
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW votes AS SELECT * FROM read_csv('{other}')")
    assert_refused(lambda: read(path), "Permission Error")


def test_a_workbook_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 20)
    path = tmp_path / "votes.xlsx"
    path.write_bytes(as_archive({"xl/worksheets/sheet1.xml": bytes(1 << 24)}))
    with pytest.raises(BadFile, match="200 times its size"):
        refuse_bombs(Source("votes.xlsx", path))


def test_text_has_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(FRAME.write_csv())
    assert_refused(lambda: read(f"{path}::votes"), "is no database")


@pytest.mark.parametrize(
    ("package", "name", "start"),
    [
        ("fastexcel", "votes.xlsx", b"PK\x03\x04"),
        ("zstandard", "votes.csv.zst", b"\x28\xb5\x2f\xfd"),
        ("inspect_ai", "log.eval", b"PK\x03\x04"),
    ],
)
def test_a_package_that_is_not_installed_is_named(
    tmp_path: Path, package: str, name: str, start: bytes
) -> None:
    (tmp_path / name).write_bytes(start + bytes(9))
    is_installed = importlib.util.find_spec(package) or (package == "zstandard" and "zstd" in compr)
    words = ["is "] if is_installed else [package, "pip install 'blindfuse["]
    assert_refused(lambda: read(tmp_path / name), *words)


def test_zstandard_is_unpacked() -> None:
    packed = pytest.importorskip("zstandard").compress(FRAME.write_csv().encode())
    assert labels_by_name(read(io.BytesIO(packed)).responses) == EXPECTED


def test_a_saved_dataset_of_hugging_face_is_read(tmp_path: Path) -> None:
    """By its layout: Arrow streams beside two files of JSON."""
    table = FRAME.to_arrow()
    for n in range(2):
        part = table.slice(3 * n, 3)
        with (tmp_path / f"data-0000{n}-of-00002.arrow").open("wb") as file:
            writer: Any = pa.ipc.new_stream(file, part.schema)
            writer.write_table(part)
            writer.close()
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [], "_split": "train"}))
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": {}}))
    assert labels_by_name(read(tmp_path).responses) == EXPECTED
    (tmp_path / "test").mkdir()
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["test"]}')
    assert_refused(lambda: read(tmp_path), "the splits 'test'", "one of them")


def test_a_dataset_of_hugging_face_is_a_frame() -> None:
    dataset = pytest.importorskip("datasets").Dataset.from_dict(FRAME.to_dict(as_series=False))
    assert labels_by_name(Responses.from_frame(dataset)) == EXPECTED
