"""The registry of formats."""

import pytest

from blindfuse import read
from blindfuse.readers.opening import open_table
from blindfuse.readers.registry import READERS
from blindfuse.readers.sources import find_sources
from blindfuse.responses.detection import ColumnOptions
from tests.support.reader_files import LONG, assert_refused, stream


def test_the_last_reader_accepts_any_table() -> None:
    *_, last = READERS.values()
    tables = [open_table(source) for source in find_sources(stream("a,b\nx,y\n"))]
    assert last.recognizes(tables, ColumnOptions())


@pytest.mark.parametrize("name", ["label-studio", "argilla"])
def test_formats_of_nested_json_refuse_a_plain_table(name: str) -> None:
    assert_refused(lambda: read(stream(LONG), format=name))


@pytest.mark.parametrize("name", ["toloka", "mturk", "prodigy", "doccano"])
def test_formats_with_fixed_columns_refuse_another_table(name: str) -> None:
    assert_refused(lambda: read(stream(LONG), format=name), "no column")
