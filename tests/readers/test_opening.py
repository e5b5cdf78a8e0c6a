"""Files whose name says another file type than their content."""

from pathlib import Path

import pytest

from blindfuse import read
from tests.support.reader_files import LONG, assert_refused, write_file


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.json", "a.jsonl"])
def test_a_wrong_extension_is_refused(tmp_path: Path, name: str) -> None:
    assert_refused(lambda: read(write_file(tmp_path, name, LONG)), f"{name} is not")
