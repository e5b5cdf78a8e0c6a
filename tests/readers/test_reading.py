"""``read``: the format and the first note."""

from blindfuse import BadParameter, read
from tests.support.reader_files import LONG, assert_refused, stream


def test_the_first_note_gives_the_format_and_the_columns() -> None:
    found = read(stream(LONG))
    assert found.format == "long"
    assert found.notes[0] == (
        "read as a long table (CSV): "
        "item = 'item', annotator = 'annotator', label = 'label' (detected)"
    )


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    assert_refused(lambda: read(stream(LONG), format="xml"), "'xml'", "'toloka'", kind=BadParameter)
