"""Files as people have them, read whole and in partitions."""

import re
from pathlib import Path

import pytest

from blindfuse import BadFile, BlindfuseError, Responses, read
from blindfuse.readers.partitions import read_partitions
from tests.support.reader_files import labels_by_name
from tests.support.tried_files import PAGE, TRIED_FILES, TriedFile, page_with_table

every_file = pytest.mark.parametrize("tried", TRIED_FILES, ids=lambda tried: tried.source)


def cells(tables: list[Responses]) -> dict[tuple[str, str], str]:
    return {cell: label for table in tables for cell, label in labels_by_name(table).items()}


def is_converted(path: Path) -> bool:
    """Whether the file is compressed, JSON or irregular text, and cannot be read in partitions."""
    start = path.read_bytes()[:4]
    is_text = path.suffix in (".csv", ".tsv", ".txt") and 0 not in start
    is_irregular = re.search(rb'\n"1" |, "', path.read_bytes()) is not None  # of R, or by hand
    return is_irregular or not (is_text or path.suffix == ".parquet")


@every_file
def test_a_file_is_read_or_refused_with_a_sentence_that_helps(
    tmp_path: Path, tried: TriedFile
) -> None:
    paths = tried.write(tmp_path)
    if tried.cells is None:
        with pytest.raises(BlindfuseError) as refusal:
            read(paths, **tried.options)
        said = str(refusal.value)
        assert "\n" not in said
    else:
        found = read(paths, **tried.options)
        assert labels_by_name(found.responses) == tried.cells
        said = "\n".join(found.notes)
    for words in tried.words:
        assert words in said


@every_file
def test_partitions_hold_what_the_whole_file_holds(tmp_path: Path, tried: TriedFile) -> None:
    paths = tried.write(tmp_path)
    size = sum(len(content) for content in tried.files.values())
    if tried.cells is None:
        with pytest.raises(BlindfuseError), read_partitions(paths, **tried.options):
            pass
        return
    whole = read(paths, **tried.options)
    options = {"partition_bytes": size // 4, **tried.options}
    if whole.format != "long" or any(is_converted(path) for path in paths):
        with pytest.raises(BadFile, match="in partitions"), read_partitions(paths, **options):
            pass
        return
    with read_partitions(paths, **options) as partitions:
        tables = list(partitions())
    assert len(tables) > 1
    assert cells(tables) == labels_by_name(whole.responses)
    assert all(table.classes.tolist() == whole.responses.classes.tolist() for table in tables)
    gold = "gold labels"
    expected = [note for note in whole.notes if gold not in note and "Check" not in note]
    notes = [note for note in partitions.notes if gold not in note]
    assert [*notes, *partitions.repeat_notes] == expected


def test_the_page_shows_what_came_out() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_table(page), "run make docs/formats.md"
