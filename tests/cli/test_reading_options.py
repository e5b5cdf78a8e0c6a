"""Options about labels reach the reader, of whole files and of partitions; spreadsheets."""

from pathlib import Path

import polars as pl
import pytest

from blindfuse import fuse, read
from blindfuse.readers import partitions
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "PARTITION_BYTES", 5_000)


def change_votes(**columns: pl.Expr) -> None:
    pl.read_csv("votes.csv", infer_schema=False).with_columns(**columns).write_csv("votes.csv")


@pytest.mark.parametrize("way", ["--whole", "--partitioned"])
@pytest.mark.parametrize(
    ("options", "arguments", "note"),
    [
        ([], {}, "labels treated as missing: 'NA'"),
        (["--keep-na"], {"keep_na": True}, "--fold-case"),
        (["--fold-case"], {"fold_case": True}, "most frequent spelling"),
        (["--missing", "CAT,COW"], {"missing": ["CAT", "COW"]}, "'CAT', 'COW'"),
        (["--repeats", "last"], {"repeats": "last"}, "labels treated as missing"),
        (["--question", "animal"], {"question": "animal"}, "read as"),
    ],
)
def test_options_are_those_of_read(
    way: str, options: list[str], arguments: dict[str, object], note: str
) -> None:
    """Some labels are NA, some in capitals, some repeated, and there is another question."""
    label, place = pl.col("label"), pl.int_range(pl.len()) % 7
    spelled = pl.when(place == 3).then(label.str.to_uppercase()).otherwise(label)
    change_votes(label=pl.when(place == 0).then(pl.lit("NA")).otherwise(spelled))
    if "--question" in options:
        votes = pl.read_csv("votes.csv", infer_schema=False).with_columns(question=pl.lit("animal"))
        sizes = votes.with_columns(question=pl.lit("size"), label=pl.lit("big"))
        pl.concat([votes, sizes]).write_csv("votes.csv")
        assert "several questions" in refuse("fuse", "votes.csv", way)
    elif "--repeats" in options:
        votes = pl.read_csv("votes.csv", infer_schema=False)
        pl.concat([votes, votes[::5].with_columns(label=pl.lit("cow"))]).write_csv("votes.csv")
        assert "more than once" in refuse("fuse", "votes.csv", way, "--repeats", "error")
    result = succeed("fuse", "votes.csv", way, *options, "-o", "fused.csv")
    expected = fuse(read("votes.csv", **arguments).responses)  # type: ignore[call-overload]
    labels = dict(zip(expected.items.tolist(), expected.labels.tolist(), strict=True))
    frame = pl.read_csv("fused.csv", infer_schema=False)
    assert dict(zip(frame["item"], frame["label"], strict=True)) == labels
    assert note in result.output


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
    assert "--spreadsheet" in refuse("fuse", "votes.csv", "-o", "fused.parquet", "--spreadsheet")
