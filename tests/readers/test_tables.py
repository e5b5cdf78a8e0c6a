"""Column names: distinct, not too many, and the same in all files."""

import json
from pathlib import Path

from blindfuse import read
from tests.support.reader_files import LONG, assert_refused, stream, write_file


def test_repeated_column_names_are_refused() -> None:
    assert_refused(lambda: read(stream("item,bob,bob\n1,x,y\n")), "'bob'", "Rename")


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
