"""`blindfuse fuse`: its output, its files and its report."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import blindfuse
from blindfuse import fuse, read
from blindfuse.cli import fusing
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
        *("item", "label", "confidence", "margin", "needs_another_label", "gain"),
        *("p_cat", "p_cow", "p_dog"),
    ]
    assert frame["item"].to_list() == expected.responses.items.tolist()
    assert frame["label"].to_list() == expected.labels.tolist()
    posteriors = frame.select("p_cat", "p_cow", "p_dog").to_numpy()
    np.testing.assert_allclose(posteriors, expected.posteriors, atol=tolerance)
    first, second = np.sort(expected.posteriors, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(frame["confidence"], first, atol=tolerance)
    np.testing.assert_allclose(frame["margin"], first - second, atol=tolerance)
    ratings = expected.item_ratings
    assert frame["needs_another_label"].to_list() == ratings.needs_another_label.tolist()
    np.testing.assert_allclose(frame["gain"], ratings.gain, atol=tolerance)


def test_writing_labels_computes_no_diagnostics() -> None:
    fusion = fuse(read_votes())
    assert len(fusion.item_columns()["item"]) == 300
    assert "diagnostics" not in vars(fusion)


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
    error, shares = expected.expected_error, expected.diagnostics.class_shares
    assert error is not None
    assert document["expected_error"] == error.value
    assert document["expected_error_low"] == error.low
    assert document["expected_error_high"] == error.high
    assert document["expected_error_if_independent"] == error.if_independent
    assert list(document["agreement"]) == ["value", "low", "high"]
    assert document["class_shares"]["dog"] == {
        name: getattr(shares, name)[2] for name in ("share", "low", "high", "votes")
    }
    assert document["class_prior"] == expected.model.prior.tolist()
    assert (document["n_items"], document["n_annotators"]) == (300, 7)
    assert [row["label"] for row in document["items"]] == expected.labels.tolist()
    assert document["needs_another_label"] == sum(
        row["needs_another_label"] for row in document["items"]
    )
    assert {row["annotator"] for row in document["annotators"]} == {f"a{m}" for m in range(7)}
    assert document["gold"]["items"] == 40
    assert "Fused" not in result.stderr


def test_what_the_responses_do_not_tell_is_null() -> None:
    rows = [f"i{n},a,{n % 2}\n" for n in range(30)]
    Path("one.csv").write_text("item,annotator,label\n" + "".join(rows))
    document = json.loads(succeed("fuse", "one.csv", "--json").stdout)
    for end in ("", "_low", "_high", "_if_independent"):
        assert document[f"expected_error{end}"] is None
    assert document["agreement"] is None
    assert document["class_shares"]["0"]["low"] is None
    printed = " ".join(succeed("fuse", "one.csv").stdout.split())
    assert "by 1 annotator to" in printed
    assert "Not stated: the responses do not tell. Check 30 items with" in printed
    assert "accuracy" not in printed


@pytest.mark.parametrize(
    ("all_up_to", "fast_up_to", "compared"),
    [(-1, 0, ["fuse", *fusing.FAST_METHODS]), (-1, -1, []), (0, 0, ["fuse", *METHODS])],
)
def test_a_report_compares_the_methods_that_are_fast_enough(
    monkeypatch: pytest.MonkeyPatch, all_up_to: int, fast_up_to: int, compared: list[str]
) -> None:
    n_responses = read_votes().n_responses
    arguments: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        arguments.update(options)
        return "x"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    monkeypatch.setattr(fusing, "MAX_RESPONSES_ALL_METHODS", n_responses + all_up_to)
    monkeypatch.setattr(fusing, "MAX_RESPONSES_FAST_METHODS", n_responses + fast_up_to)
    gold = write_gold()
    succeed("fuse", "votes.csv", "--report", "r.html", "--gold", "gold.csv")
    assert arguments["title"] == "votes.csv"
    assert arguments["notes"] == read("votes.csv").notes
    assert [row.method for row in arguments["compared"]] == compared
    assert arguments["gold"].items == len(gold)
    if compared:  # the fusion without gold labels is reused
        assert arguments["compared"][0].seconds is None
        assert arguments["compared"][0].error == arguments["gold"].error.value
