"""Options about labels and repeated responses, and what the commands say about the input."""

from pathlib import Path

import polars as pl
import pytest

from blindfuse.readers import partitions
from tests.support.cli import refuse, run, succeed

pytestmark = pytest.mark.usefixtures("folder")

BOTH_WAYS = pytest.mark.parametrize("way", ["--whole", "--partitioned"])


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "PARTITION_BYTES", 5_000)


def labels(*options: str) -> tuple[dict[str, str], str]:
    """The fused labels by item, and all that was printed."""
    result = succeed("fuse", "votes.csv", *options, "-o", "fused.csv", "--force")
    frame = pl.read_csv("fused.csv", infer_schema=False)
    return dict(zip(frame["item"], frame["label"], strict=True)), result.output


def change_votes(**columns: pl.Expr) -> None:
    pl.read_csv("votes.csv", infer_schema=False).with_columns(**columns).write_csv("votes.csv")


@BOTH_WAYS
def test_markers_are_missing_unless_they_are_kept(way: str) -> None:
    is_first = pl.col("item").hash(1) % 4 == 0
    change_votes(label=pl.when(is_first).then(pl.lit("NA")).otherwise("label"))
    fused, output = labels(way)
    assert "NA" not in fused.values()
    assert "labels treated as missing: 'NA'" in output
    assert "NA" in labels(way, "--keep-na")[0].values()
    assert "NA" in labels(way, "--classes", "cat,cow,dog,NA")[0].values()


@BOTH_WAYS
def test_missing_and_fold_case_change_the_classes(way: str) -> None:
    change_votes(
        label=pl.when(pl.col("annotator") == "a1")
        .then(pl.col("label").str.to_uppercase())
        .otherwise("label")
    )
    assert "--fold-case" in labels(way)[1]
    assert set(labels(way, "--fold-case")[0].values()) == {"cat", "cow", "dog"}
    fused, output = labels(way, "--missing", "CAT,COW,DOG")
    assert set(fused.values()) == {"cat", "cow", "dog"}
    assert "'CAT', 'COW', 'DOG'" in output


@BOTH_WAYS
def test_labels_do_not_depend_on_the_order_of_rows(way: str) -> None:
    votes = pl.read_csv("votes.csv", infer_schema=False)
    twice = pl.concat([votes, votes[::3].with_columns(label=pl.lit("cow")), votes[::6]])
    fused = []
    for seed in range(3):
        twice.sample(fraction=1, shuffle=True, seed=seed).write_csv("votes.csv")
        fused.append(labels(way))
    assert fused[0][0] == fused[1][0] == fused[2][0]
    assert "contradictory responses treated as missing" in fused[0][1]
    assert "contradictory" not in labels(way, "--repeats", "last")[1]
    assert "more than once" in run("fuse", "votes.csv", way, "--repeats", "error").output


def test_a_question_can_be_read_in_partitions() -> None:
    votes = pl.read_csv("votes.csv", infer_schema=False)
    sizes = votes.with_columns(label=pl.lit("big"), question=pl.lit("size"))
    expected = labels("--partitioned")[0]
    pl.concat([votes.with_columns(question=pl.lit("animal")), sizes]).write_csv("votes.csv")
    assert "several questions" in refuse("fuse", "votes.csv", "--partitioned")
    assert labels("--partitioned", "--question", "animal")[0] == expected
    assert "'shape'" in refuse("fuse", "votes.csv", "--partitioned", "--question", "shape")


def test_signs_of_a_mistaken_column_are_noted_before_anything_is_written() -> None:
    change_votes(label=pl.lit("w1") + (pl.col("item").hash(2) % 30).cast(pl.String).str.zfill(2))
    assert "there are 30 classes" in labels()[1]
    assert "there are 30 classes" in labels("--partitioned")[1]


# Spreadsheets

FORMULAS = {"cat": "=1+1", "cow": "-1", "dog": "@x"}


@pytest.mark.parametrize("extension", ["csv", "tsv", "csv.gz"])
def test_formulas_are_written_as_text_only_for_spreadsheets(extension: str) -> None:
    change_votes(label=pl.col("label").replace(FORMULAS), annotator="+" + pl.col("annotator"))
    separator = "\t" if extension == "tsv" else ","
    for options, prefix in (((), ""), (("--spreadsheet",), "'")):
        files = ("-o", f"fused.{extension}", "--annotators", "annotators.csv", "--force")
        succeed("fuse", "votes.csv", *files, *options)
        fused = pl.read_csv(Path(f"fused.{extension}"), infer_schema=False, separator=separator)
        assert set(fused["label"]) == {prefix + word for word in FORMULAS.values()}
        assert fused.columns[-3:] == ["p_-1", "p_=1+1", "p_@x"]
        annotators = pl.read_csv("annotators.csv", infer_schema=False)["annotator"]
        assert set(annotators.str.slice(0, 1 + len(prefix))) == {f"{prefix}+"}
        piped = succeed("fuse", "votes.csv", "-o", "-", *options).stdout
        assert (",'-1," in piped) == (prefix == "'")


def test_other_outputs_are_not_for_spreadsheets() -> None:
    assert "--spreadsheet" in refuse("fuse", "votes.csv", "-o", "fused.parquet", "--spreadsheet")
