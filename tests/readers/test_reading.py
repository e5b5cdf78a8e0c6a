"""``read``: the format, the first note, and tables that no reader takes."""

import json
from pathlib import Path

import pytest

from blindfuse import BadParameter, read
from blindfuse.readers.reading import READERS, open_tables
from blindfuse.responses.detection import ColumnOptions
from tests.support.reader_files import LONG, assert_refused, stream, write_file


def test_the_first_note_gives_the_format_and_the_columns() -> None:
    found = read(stream(LONG))
    assert found.format == "long"
    assert found.notes[0] == (
        "read as a long table (CSV): "
        "item = 'item', annotator = 'annotator', label = 'label' (detected)"
    )


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    assert_refused(lambda: read(stream(LONG), format="xml"), "'xml'", "'toloka'", kind=BadParameter)


def test_the_last_reader_accepts_any_table() -> None:
    *_, last = READERS.values()
    tables = open_tables(stream("a,b\nx,y\n"))
    assert last.recognizes(tables, ColumnOptions())


@pytest.mark.parametrize("name", ["label-studio", "argilla"])
def test_formats_of_nested_json_refuse_a_plain_table(name: str) -> None:
    assert_refused(lambda: read(stream(LONG), format=name))


@pytest.mark.parametrize("name", ["toloka", "mturk", "prodigy", "doccano"])
def test_formats_with_fixed_columns_refuse_another_table(name: str) -> None:
    assert_refused(lambda: read(stream(LONG), format=name), "no column")


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.json", "a.jsonl"])
def test_a_wrong_extension_is_refused(tmp_path: Path, name: str) -> None:
    assert_refused(lambda: read(write_file(tmp_path, name, LONG)), f"{name} is not")


def test_files_with_different_columns_are_refused(tmp_path: Path) -> None:
    paths = [
        write_file(tmp_path, "a.csv", LONG),
        write_file(tmp_path, "b.csv", "task,worker,answer\n1,a,x\n"),
    ]
    assert_refused(lambda: read(paths), "b.csv has no column 'item', 'annotator', 'label'")


def test_too_many_columns_are_refused() -> None:
    header = ",".join(f"c{n}" for n in range(1_000_000))
    assert_refused(lambda: read(stream(header + "\n" + "x," * 999_999 + "x\n")), "20,000 columns")
    assert_refused(lambda: read(stream("," * 1_000_000)), "20,000 columns")
    record = json.dumps([{f"c{n}": n for n in range(30_000)}])
    assert_refused(lambda: read(stream(record)), "20,000 columns")
