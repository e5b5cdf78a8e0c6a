"""`blindfuse fuse`: its output, its files and its options."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import blindfuse
from blindfuse import Model, fuse, read, simulate
from blindfuse.estimators.registry import METHODS
from tests.support.cli import read_votes, succeed, write_gold

pytestmark = pytest.mark.usefixtures("folder")


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "fused.csv": pl.read_csv,
    "fused.CSV": pl.read_csv,
    "fused.tsv": lambda path: pl.read_csv(path, separator="\t"),
    "fused.csv.gz": lambda path: pl.read_csv(gzip.decompress(path.read_bytes())),
    "fused.jsonl": pl.read_ndjson,
    "fused.ndjson.gz": lambda path: pl.read_ndjson(gzip.decompress(path.read_bytes())),
    "fused.parquet": pl.read_parquet,
}


@pytest.mark.parametrize("name", READERS)
def test_every_table_format_has_the_result_of_fuse(name: str, folder: Path) -> None:
    succeed("fuse", "votes.csv", "-o", name)
    frame, expected = READERS[name](folder / name), fuse(read_votes())
    tolerance = 1e-12 if name.endswith("parquet") else 5.1e-7
    assert frame.columns == [
        *("item", "label", "confidence", "margin", "needs_another_label"),
        *("p_cat", "p_cow", "p_dog"),
    ]
    assert frame["item"].to_list() == expected.responses.items.tolist()
    assert frame["label"].to_list() == expected.labels.tolist()
    posteriors = frame.select("p_cat", "p_cow", "p_dog").to_numpy()
    np.testing.assert_allclose(posteriors, expected.posteriors, atol=tolerance)
    first, second = np.sort(expected.posteriors, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(frame["confidence"], first, atol=tolerance)
    np.testing.assert_allclose(frame["margin"], first - second, atol=tolerance)
    assert frame["needs_another_label"].to_list() == (first < 0.9).tolist()


def test_standard_output_as_output_holds_only_csv() -> None:
    result = succeed("fuse", "votes.csv", "-o", "-")
    succeed("fuse", "votes.csv", "-o", "fused.csv")
    assert result.stdout == Path("fused.csv").read_text()
    assert "Fused" in result.stderr
    assert "Fused" not in result.stdout


def test_without_an_output_file_the_summary_is_printed() -> None:
    result = succeed("fuse", "votes.csv")
    assert "Fused" in result.stdout
    assert "read as a long table (CSV): item = 'item'" in result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "No labels were written; add `-o fused.csv`." in result.stderr
    assert not Path("fused.csv").exists()


def test_more_than_20_classes_have_no_posterior_columns() -> None:
    rows = [f"i{n},a{m},c{n % 21}\n" for n in range(63) for m in range(2)]
    Path("many.csv").write_text("item,annotator,label\n" + "".join(rows))
    assert "p_" not in succeed("fuse", "many.csv", "-o", "-").stdout.splitlines()[0]
    Path("fewer.csv").write_text("item,annotator,label\n" + "".join(rows).replace("c20", "c19"))
    assert succeed("fuse", "fewer.csv", "-o", "-").stdout.splitlines()[0].count("p_") == 20


def test_all_outputs_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        arguments.update(options, fusion=fusion)
        return "<html>ü</html>"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    outputs = ["--report", "r.html", "--annotators", "a.parquet", "--model", "m.npz"]
    result = succeed("fuse", "votes.csv", "-o", "fused.csv", *outputs)
    for name in ("fused.csv", "r.html", "a.parquet", "m.npz"):
        assert f"Wrote {name}" in result.stderr
    expected = fuse(read_votes())
    np.testing.assert_array_equal(Model.load("m.npz").confusions, expected.model.confusions)
    assert Path("r.html").read_text(encoding="utf-8") == "<html>ü</html>"
    assert arguments["title"] == "votes.csv"
    assert arguments["notes"] == read("votes.csv").notes
    assert arguments["gold"] is None
    assert [row.method for row in arguments["compared"]] == ["fuse", *METHODS]
    frame = pl.read_parquet("a.parquet")
    ratings = expected.diagnostics.annotators
    order = np.argsort(ratings.accuracy, kind="stable")
    assert frame["annotator"].to_list() == ratings.names[order].tolist()
    np.testing.assert_array_equal(frame["accuracy"], ratings.accuracy[order])
    np.testing.assert_array_equal(frame["accuracy_low"], ratings.low[order])
    np.testing.assert_array_equal(frame["responses"], ratings.n_responses[order])


@pytest.mark.parametrize("partitioned", [(), ("--partitioned",)])
def test_how_many_labels_a_saved_model_changes_is_noted(
    folder: Path, partitioned: tuple[str, ...]
) -> None:
    note = "confusion matrices and a prior only"
    assert note not in succeed("fuse", "votes.csv", "--model", "a.npz", *partitioned).stderr
    rng = np.random.default_rng(0)
    rows = [f"i{n},{m},{rng.integers(2)}\n" for n in range(50) for m in "ab"]
    Path("two.csv").write_text("item,annotator,label\n" + "".join(rows))
    result = succeed("fuse", "two.csv", "--model", "b.npz", *partitioned)
    table = read("two.csv").responses
    differ = np.sum(fuse(table).labels != Model.load("b.npz").labels(table))
    assert f"b.npz has {note}, and labels {differ} of 50" in " ".join(result.stderr.split())


def test_predict_gives_the_labels_that_the_note_counts(folder: Path) -> None:
    drawn = simulate(
        2000,
        15,
        4,
        np.random.default_rng(1),
        skill=0.2,
        missing=0.5,
        dependent_groups=[(0, 1, 2), (3, 4)],
        copy_probability=0.5,
    )
    table = drawn.responses
    columns = table.item_of_response(), table.by_item.codes, table.by_item.symbols
    rows = [f"{n},a{m},{k}\n" for n, m, k in zip(*columns, strict=True)]
    Path("copied.csv").write_text("item,annotator,label\n" + "".join(rows))
    gold = {f"{item}": int(drawn.truth[item]) for item in range(40)}
    Path("gold.csv").write_text("item,label\n" + "".join(f"{k},{v}\n" for k, v in gold.items()))
    options = ("-o", "fused.csv", "--model", "m.npz", "--gold", "gold.csv")
    result = succeed("fuse", "copied.csv", *options)
    succeed("predict", "m.npz", "copied.csv", "-o", "again.csv")
    fused, again = pl.read_csv("fused.csv"), pl.read_csv("again.csv")
    assert fused["item"].equals(again["item"])
    differ = (fused["label"] != again["label"]) & ~fused["item"].is_in(range(40))
    assert differ.sum() > 0
    noted = f"labels {differ.sum()} of {fused.height - 40:,} items"
    assert noted in " ".join(result.stderr.split())


def test_quiet_prints_nothing() -> None:
    result = succeed("fuse", "votes.csv", "-q", "-o", "fused.csv")
    assert (result.stdout, result.stderr) == ("", "")
    assert Path("fused.csv").exists()


def test_json_is_one_document_with_all_results() -> None:
    gold = write_gold()
    result = succeed("fuse", "votes.csv", "--json", "--gold", "gold.csv")
    document, expected = json.loads(result.stdout), fuse(read_votes(), gold=gold)
    assert document["method"] == expected.method
    assert document["why"] == expected.why
    assert document["classes"] == ["cat", "cow", "dog"]
    assert document["expected_error"] == expected.diagnostics.expected_error.value
    assert document["class_prior"] == expected.model.prior.tolist()
    assert (document["n_items"], document["n_annotators"]) == (300, 7)
    assert [row["label"] for row in document["items"]] == expected.labels.tolist()
    assert document["needs_another_label"] == sum(
        row["needs_another_label"] for row in document["items"]
    )
    assert {row["annotator"] for row in document["annotators"]} == {f"a{m}" for m in range(7)}
    assert document["gold"]["items"] == 40
    assert "Fused" not in result.stderr
