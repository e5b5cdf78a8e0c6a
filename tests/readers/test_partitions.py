"""Partitions of a long table hold the same responses as the whole table."""

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindfuse import BlindfuseError, Responses, read
from blindfuse.readers.partitions import read_partitions
from tests.support.long_tables import shuffled_votes, write_table
from tests.support.reader_files import labels_by_name


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "arrow"])
def test_partitions_hold_the_same_responses(tmp_path: Path, extension: str) -> None:
    for seed in range(3):
        path = write_table(shuffled_votes(seed), tmp_path / f"votes{seed}.{extension}")
        whole = read(path)
        size = path.stat().st_size
        for partition_bytes in (size // 7, 2 * size):
            with read_partitions(path, partition_bytes=partition_bytes) as partitions:
                tables = list(partitions())
                assert len(tables) == len(partitions.files) <= 8
                assert (len(tables) > 2) == (partition_bytes < size)
                assert partitions.columns == whole.columns
                folder = partitions.files[0].parents[1]
            assert not folder.exists()
            joined: dict[tuple[str, str], str] = {}
            for table in tables:
                part = labels_by_name(table)
                assert not {item for item, _ in joined} & {item for item, _ in part}
                joined |= part
            assert joined == labels_by_name(whole.responses)


# Names and labels that the rules of values join, drop or keep apart.
ITEMS = st.sampled_from(["1", "1.0", "01", "q1", "q1 ", " q1", "NA", "7.0", "7"])
NAMES = st.sampled_from(["ann", "ann ", "Ann", "2", "2.0", "none"])
VALUES = st.sampled_from(
    ["1", "1.0", "2", "-1", "cat", "Cat", "cat ", "NA", "null", "error", "invalid", "?", None, ""]
)
WHOLE_NUMBERS = st.sampled_from(["1", "1.0", "2", "2.0", "30"])


@pytest.mark.parametrize("extension", ["csv", "parquet"])
@pytest.mark.parametrize("items", [ITEMS, WHOLE_NUMBERS], ids=["items", "whole numbers"])
@settings(max_examples=40)
@given(data=st.data())
def test_any_values_are_read_alike_in_partitions(
    extension: str, items: st.SearchStrategy[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(items, NAMES, VALUES), min_size=1, max_size=25))
    flags = {name: data.draw(st.booleans()) for name in ("keep_na", "fold_case")}
    options: dict[str, Any] = {**flags, "missing": data.draw(st.sampled_from([None, "?"]))}
    schema = dict.fromkeys(("item", "annotator", "label"), pl.String)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    with tempfile.TemporaryDirectory() as folder:
        path = write_table(frame, Path(folder) / f"votes.{extension}")
        try:
            whole = read(path, **options)
        except BlindfuseError:
            with (
                pytest.raises(BlindfuseError),
                read_partitions(path, partition_bytes=20, **options) as partitions,
            ):
                list(partitions())
            return
        with read_partitions(path, partition_bytes=20, **options) as partitions:
            tables = list(partitions())
    joined = {cell: label for table in tables for cell, label in labels_by_name(table).items()}
    assert joined == labels_by_name(whole.responses)
    assert sum(len(table.items) for table in tables) == whole.responses.n_items
    assert all(table.classes.tolist() == whole.responses.classes.tolist() for table in tables)
    checks = ("Check", "no item has more")
    expected = [note for note in whole.notes if not note.startswith(checks)]
    assert [*partitions.notes, *partitions.repeat_notes] == expected
    long = Responses.from_long(*(frame[name].to_list() for name in schema), **options)
    assert labels_by_name(long) == labels_by_name(whole.responses)


def test_gold_labels_are_those_of_the_whole_file(tmp_path: Path) -> None:
    """In a column of true labels: where it has one value per item, and that is a class."""
    votes = shuffled_votes()
    number = pl.col("image").cast(pl.Int64)
    truths = {
        "some": pl.when(number % 7 == 0).then(pl.lit(" cat ")),
        "unknown": pl.when(number % 5 == 0).then(pl.lit("bird")).otherwise(pl.lit("dog")),
        "several": pl.col("answer"),
    }
    for name, truth in truths.items():
        path = write_table(votes.with_columns(truth=truth), tmp_path / f"{name}.csv")
        whole = read(path)
        with read_partitions(path, partition_bytes=8_000) as partitions:
            assert len(partitions.files) > 1
            assert dict(partitions.gold) == dict(whole.gold)
            gold_notes = [note for note in whole.notes if "truth" in note]
            assert [note for note in partitions.notes if "gold" in note][-len(gold_notes) :]
        assert bool(whole.gold) == (name != "several")
