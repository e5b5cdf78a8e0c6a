"""`blindfuse fuse --partitioned`."""

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from blindfuse import fuse, fuse_stream, read
from blindfuse.readers import partitions
from tests.support.cli import run, succeed
from tests.support.long_tables import shuffled_votes, write_table


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return write_table(shuffled_votes(), tmp_path / "votes.csv")


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that no file fits into memory."""
    monkeypatch.setattr("blindfuse.cli.options.MEMORY_PER_FILE_BYTE", 10**12)


def read_output(path: Path) -> pl.DataFrame:
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path)
    return pl.read_csv(path, infer_schema=False, separator="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("extension", ["csv", "tsv", "jsonl"])
def test_labels_are_those_of_the_whole_file(
    tmp_path: Path, votes: Path, monkeypatch: pytest.MonkeyPatch, extension: str
) -> None:
    monkeypatch.setattr(partitions, "PARTITION_BYTES", 8_000)
    output = tmp_path / f"fused.{extension}"
    annotators, model = tmp_path / "annotators.csv", tmp_path / "model.npz"
    outputs = ("-o", output, "--annotators", annotators, "--model", model)
    result = succeed("fuse", votes, "--partitioned", *outputs)
    assert "partitions" in result.output
    whole = fuse(read(votes).responses)
    frame = read_output(output)
    labels = dict(zip(whole.responses.items, whole.predict(whole.responses), strict=True))
    assert dict(zip(frame["item"], frame["label"], strict=True)) == labels
    assert frame.height == len(labels)
    assert annotators.exists()
    assert model.exists()


def test_a_sample_of_the_items_is_stated(
    tmp_path: Path, votes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = partial(fuse_stream, max_responses=500)
    monkeypatch.setattr("blindfuse.cli.partitions.fuse_stream", small)
    result = succeed("fuse", votes, "--partitioned", "-o", tmp_path / "fused.csv")
    total = read(votes).responses.n_items
    assert f"items; the model labels all {total} items" in result.stderr
    assert read_output(tmp_path / "fused.csv").height == total


def test_notes_about_items_are_those_of_the_whole_file(tmp_path: Path) -> None:
    rows = "".join(f"{n},w{n % 3},{'yes' if n % 2 else 'no'}\n" for n in range(60))
    table = tmp_path / "votes.csv"
    table.write_text(f"id,worker,label\n{rows}", encoding="utf-8")
    note = "no item has more than one response"
    assert note in succeed("fuse", table).output
    assert note in succeed("fuse", table, "--partitioned", "-o", tmp_path / "fused.csv").output


@pytest.mark.usefixtures("little_memory")
def test_a_file_larger_than_memory_is_partitioned_by_default(tmp_path: Path, votes: Path) -> None:
    assert "partitions" in succeed("fuse", votes, "-o", tmp_path / "fused.csv").output


@pytest.mark.usefixtures("little_memory")
def test_an_unsupported_option_is_refused_with_the_reason_for_partitions(
    tmp_path: Path, votes: Path
) -> None:
    report = tmp_path / "report.html"
    refused = run("fuse", votes, "--report", report)
    assert refused.exit_code == 2
    message = " ".join(refused.output.split())
    assert "GB of memory are free; --whole reads them at once" in message
    succeed("fuse", votes, "--report", report, "--whole")
    assert report.exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--report", "report.html"],
        ["--json"],
        ["-o", "-"],
        ["-o", "fused.parquet"],
        ["-o", "fused.csv.gz"],
        ["--format", "wide"],
        ["--question", "which"],
    ],
)
def test_options_that_need_all_responses_at_once_are_refused(
    tmp_path: Path, votes: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("fuse", votes, "--partitioned", *options).exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.parametrize("place", ["file", "column", "ignored"])
def test_gold_labels_are_used_as_in_whole_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(partitions, "PARTITION_BYTES", 8_000)
    frame, options = shuffled_votes(), []
    items = frame["image"].unique(maintain_order=True)[:40]
    gold = pl.DataFrame({"image": items, "truth": ["dog"] * 40})
    if place == "file":
        extra = pl.DataFrame({"image": ["nobody"], "truth": ["dog"]})
        options = ["--gold", write_table(pl.concat([gold, extra]), tmp_path / "gold.csv")]
    else:
        frame = frame.join(gold, on="image", how="left")
        options = ["--no-gold"] if place == "ignored" else []
    votes = write_table(frame, tmp_path / "votes.csv")
    outputs = [tmp_path / "parts.csv", tmp_path / "whole.csv"]
    parts = succeed("fuse", votes, "--partitioned", "-o", outputs[0], *options)
    whole = succeed("fuse", votes, "--whole", "-o", outputs[1], *options)
    labels = [dict(read_output(path).select("item", "label").iter_rows()) for path in outputs]
    assert labels[0] == labels[1]
    assert ("gold" in parts.output) == ("gold" in whole.output)
    if place != "ignored":
        assert {labels[0][item] for item in items} == {"dog"}
    if place == "file":
        assert "'nobody'" in parts.output
