"""Every kind of response has the same files, JSON document and report, by one path."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import blindfuse
from blindfuse.cli.fuse import EXCLUDED, fuse_command
from blindfuse.cli.fusing import KINDS
from blindfuse.cli.outputs import data_frame
from blindfuse.readers.reading import Kind
from blindfuse.result import Result
from blindfuse.simulation import simulate_scores
from tests.support.cli import refuse, succeed
from tests.support.multi_label import simulate_sets

pytestmark = pytest.mark.usefixtures("folder")

TABLES: dict[str, tuple[str, Kind, str]] = {
    "labels": ("votes.csv", "labels", "fuse"),
    "numbers": ("ratings.csv", "numbers", "fuse_numbers"),
    "scores": ("scores.csv", "scores", "fuse"),
    "multi_label": ("tags.csv", "sets", "fuse_sets"),
    "cluster": ("runs.csv", "labels", "fuse_clusters"),
}
"""The file, the kind and the function of blindfuse of each kind of response."""
WITHOUT_MODEL = ("numbers", "multi_label")


@pytest.fixture(autouse=True)
def tables(folder: Path) -> None:
    drawn = blindfuse.simulate_numbers(90, 6, seed=0)
    rows = drawn.numbers.item_of_response(), drawn.numbers.codes, drawn.numbers.values
    names = [f"i{n}" for n in rows[0]], [f"a{m}" for m in rows[1]]
    ratings = {"item": names[0], "annotator": names[1], "score": rows[2]}
    pl.DataFrame(ratings).write_csv("ratings.csv")
    scores = simulate_scores(90, 4, 11, 2, np.random.default_rng(0), separation=2.5).responses
    columns = {f"j{m}": column for m, column in enumerate(scores.matrix().T)}
    pl.DataFrame({"item": [f"i{n}" for n in range(90)], **columns}).write_csv("scores.csv")
    sets = simulate_sets(n_items=60, n_annotators=8, n_classes=4, seed=0)
    cells = ["|".join("abcd"[k] for k in members) or None for members in sets.sets]
    long = {"item": sets.items, "annotator": [f"a{m}" for m in sets.annotators], "label": cells}
    pl.DataFrame(long).write_csv("tags.csv")
    rng, truth = np.random.default_rng(0), np.arange(90) % 3
    runs = {f"run{m}": np.where(rng.random(90) < 0.1, 0, (truth + m) % 3) for m in range(5)}
    pl.DataFrame({"item": [f"i{n}" for n in range(90)], **runs}).write_csv("runs.csv")


def command_of(kind: str) -> list[str]:
    if kind == "cluster":
        return ["cluster", TABLES[kind][0]]
    option = [] if kind == "labels" else [f"--{kind.replace('_', '-')}"]
    return ["fuse", TABLES[kind][0], *option]


def expected(kind: str) -> Result:
    path, reads, function = TABLES[kind]
    data: Any = blindfuse.read(path, kind=reads)
    result: Result = getattr(blindfuse, function)(data.responses)
    return result


@pytest.mark.parametrize("kind", TABLES)
def test_files_and_documents_have_what_the_result_says(kind: str) -> None:
    result, command = expected(kind), command_of(kind)
    rated = "--runs" if kind == "cluster" else "--annotators"
    outputs = ["-o", "fused.parquet", rated, "rated.parquet", "--report", "report.html"]
    if kind not in WITHOUT_MODEL:
        outputs += ["--model", "model.npz"]
    printed = succeed(*command, *outputs)
    assert " ".join(result.size.split()) in " ".join(printed.stdout.split())
    for name, columns in (
        ("fused.parquet", result.item_columns()),
        ("rated.parquet", result.annotator_columns()),
    ):
        assert f"Wrote {name}" in printed.stderr
        assert pl.read_parquet(name).to_dict(as_series=False) == data_frame(columns).to_dict(
            as_series=False
        )
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"<h1><bdi>{TABLES[kind][0]}</bdi></h1>" in page
    assert len(page) < 3_000_000
    document = json.loads(succeed(*command, "--json").stdout)
    notes = document.pop("notes")
    stated = json.loads(json.dumps(result.to_json()))
    assert set(stated.pop("notes")) <= set(notes)
    assert document == stated
    assert "were written; add `-o" in succeed(*command).stderr


FIELDS: dict[str, list[tuple[str, str]]] = {
    "numbers": [("estimate", "values"), ("low", "low"), ("high", "high")],
    "multi_label": [("probability", "confidence"), ("p_b", "posteriors.1")],
    "cluster": [("label", "labels"), ("confidence", "confidence")],
}
"""Columns of items, and the fields of results that they hold."""
RATINGS = {
    "numbers": ("reliability", ["bias", "scale", "noise", "reliability"]),
    "multi_label": ("f1", ["recall", "recall_low", "recall_high", "precision", "f1"]),
}
"""The column that annotators are sorted by, and columns that are fields of ``annotators``."""


@pytest.mark.parametrize("kind", FIELDS)
def test_columns_hold_the_fields_of_the_result(kind: str) -> None:
    result: Any = expected(kind)
    columns = result.item_columns()
    for column, path in FIELDS[kind]:
        field, _, at = path.partition(".")
        values = getattr(result, field)
        np.testing.assert_array_equal(columns[column], values[:, int(at)] if at else values)
    if kind == "multi_label":
        assert columns["labels"].tolist() == ["|".join(members) for members in result.sets]
    rated = result.annotator_columns()
    if kind == "cluster":
        np.testing.assert_array_equal(rated["adjusted_rand_index"], np.sort(result.agreement))
        return
    by, names = RATINGS[kind]
    order = np.argsort(getattr(result.annotators, by), kind="stable")
    assert rated["annotator"].tolist() == result.annotators.names[order].tolist()
    for name in names:
        np.testing.assert_array_equal(rated[name], getattr(result.annotators, name)[order])


@pytest.mark.parametrize("kind", ["labels", "scores", "cluster"])
def test_a_saved_model_gives_the_same_labels(kind: str) -> None:
    path = TABLES[kind][0]
    succeed(*command_of(kind), "-o", "fused.csv", "--model", "model.npz")
    succeed("predict", "model.npz", path, "-o", "again.csv")
    fused, again = (pl.read_csv(name) for name in ("fused.csv", "again.csv"))
    assert fused["label"].to_list() == again["label"].to_list()
    for column in fused.select(pl.selectors.float()).columns:
        np.testing.assert_allclose(fused[column], again[column], atol=1.01e-6)


@pytest.mark.parametrize("kind", ["numbers", "multi_label"])
def test_gold_items_without_responses_are_skipped(kind: str) -> None:
    column, gold = ("estimate", "2.5") if kind == "numbers" else ("labels", "a|b")
    Path("gold.csv").write_text(f"item,label\ni1,{gold}\n1,{gold}\ni999,{gold}\n")
    result = succeed(*command_of(kind), "--gold", "gold.csv", "-o", "fused.csv")
    assert "'i999'" in result.stderr
    rows = pl.read_csv("fused.csv", infer_schema=False).filter(pl.col("item").is_in(["i1", "1"]))
    assert rows[column].to_list() == [gold]
    Path("other.csv").write_text(f"item,label\nq,{gold}\n")
    message = refuse(*command_of(kind), "--gold", "other.csv")
    assert "No item in other.csv has responses" in message


def test_classes_that_contain_the_separator_are_written_as_lists() -> None:
    Path("odd.csv").write_text("item,annotator,label\n1,a,x|y;z\n1,b,x|y\n", encoding="utf-8")
    succeed("fuse", "odd.csv", "--multi-label", "--separator", ";", "-o", "fused.csv")
    assert json.loads(pl.read_csv("fused.csv")["labels"][0])[0] == "x|y"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--classes", "a,b"], "are not among the classes"),
        (["--format", "wide", "--label", "label"], "leave out --label"),
    ],
)
def test_options_that_sets_contradict_are_refused(options: list[str], message: str) -> None:
    assert message in refuse(*command_of("multi_label"), *options)


VALUES = {
    "method": ["Wawa"],
    "prior_model": ["votes.csv"],
    "model": ["m.npz"],
    "checked": ["votes.csv"],
    "classes": ["a,b"],
    "separator": [";"],
    "fail_below": ["0.5"],
    "pass_class": ["a"],
}
"""The values of the options that take one."""


def option(name: str) -> list[str]:
    return [f"--{name.replace('_', '-')}", *VALUES.get(name, [])]


@pytest.mark.parametrize(
    ("first", "second"), [(name, other) for name, others in EXCLUDED.items() for other in others]
)
def test_options_that_exclude_each_other_are_refused(first: str, second: str) -> None:
    message = refuse("fuse", "votes.csv", *option(second), *option(first))
    assert message.endswith(
        f"{option(first)[0]} and {option(second)[0]} exclude each other. Leave one out."
    )


def test_the_exclusions_name_options_of_the_command() -> None:
    names = {parameter.name for parameter in fuse_command.params}
    assert set(chain(EXCLUDED, *EXCLUDED.values(), filter(None, KINDS))) <= names
    assert "--separator needs --multi-label" in refuse("fuse", "votes.csv", "--separator", ";")
