"""``read``: formats, kinds, and tables that no reader takes."""

import json
from pathlib import Path

import pytest

from blindfuse import BadFile, BadParameter, read
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
    assert_refused(lambda: read(stream("," * 1_000_000)), "is not a table of responses")
    record = json.dumps([{f"c{n}": n for n in range(30_000)}])
    assert_refused(lambda: read(stream(record)), "20,000 columns")


# Ratings and scores

RATINGS = "item,annotator,score,gold\na,x,1.5,1\na,y,NA,1\nb,x,error,\nb,y,3,\nb,y,5,\n"


def test_numbers_are_ratings_with_gold_values() -> None:
    found = read(stream(RATINGS), kind="numbers")
    assert found.responses.values.tolist() == [1.5, 4.0]
    assert found.responses.items.tolist() == ["a", "b"]
    assert found.gold == {"a": 1.0}
    assert "1 value treated as missing: error" in " ".join(found.notes).replace("'", "")


def test_scores_have_levels_between_classes() -> None:
    rows = [f"q{n},{who},{(n + len(who)) % 5}" for n in range(20) for who in ("x", "yy", "zzz")]
    text = "\n".join(["item,annotator,score", *rows])
    found = read(stream(text), kind="scores", classes=["bad", "good"])
    assert found.responses.classes.tolist() == ["bad", "good"]
    assert found.responses.n_symbols == 5


def test_other_texts_and_kinds_are_refused() -> None:
    with pytest.raises(BadFile, match=r"row 1 .*'good' cannot be read as a finite number"):
        read(stream("item,annotator,score\na,x,good\n"), kind="numbers")
    with pytest.raises(BadParameter, match="kind='ratings' must be one of 'labels'"):
        read(stream(RATINGS), kind="ratings")  # type: ignore[call-overload]
