"""``blindfuse cluster``: one class per item from a file of clusterings."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.support.cli import run

TRUTH = np.arange(300) % 3


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    columns = {
        f"run{m}": np.where(rng.random(300) < 0.1, rng.integers(3, size=300), (TRUTH + m) % 3)
        for m in range(8)
    }
    path = tmp_path / "runs.csv"
    pl.DataFrame({"item": [f"i{n}" for n in range(300)], **columns}).write_csv(path)
    return path


def test_the_number_of_classes_is_chosen_and_names_are_taken(runs: Path) -> None:
    chosen = json.loads(run("cluster", runs, "--json", "-q").stdout)
    assert chosen["classes"] == [0, 1, 2]
    assert chosen["n_runs"] == 8
    assert len(chosen["items"]) == 300
    named = json.loads(run("cluster", runs, "--json", "-q", "--classes", "a,b,c").stdout)
    assert named["classes"] == ["a", "b", "c"]
    assert {row["label"] for row in named["items"]} == {"a", "b", "c"}
    assert "3 classes were chosen by held-out prediction" in " ".join(
        run("cluster", runs).output.split()
    )


def test_long_tables_and_missing_clusters_are_read(runs: Path, tmp_path: Path) -> None:
    wide = pl.read_csv(runs)
    long = wide.unpivot(index="item", variable_name="annotator", value_name="label")
    noise = long.with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == 0).then(-1).otherwise("label").alias("label")
    )
    path = tmp_path / "long.csv"
    noise.write_csv(path)
    result = json.loads(
        run("cluster", path, "--classes", 3, "--missing", "-1", "--json", "-q").stdout
    )
    assert sum(row["items"] for row in result["runs"]) == 2400 - 343
    labels = {row["item"]: row["label"] for row in result["items"]}
    assert adjusted_rand_score(TRUTH, [labels[f"i{n}"] for n in range(300)]) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--classes", 9], "--classes 9 is more than the 3 clusters"),
        (["--classes", 1], "--classes 1 must be"),
        (["--annotator", "run0"], "There is only one clustering"),
        (["-o", "nowhere/out.csv"], "the folder nowhere does not exist"),
    ],
)
def test_bad_input_is_refused(runs: Path, options: list[object], message: str) -> None:
    result = run("cluster", runs, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize("names", [["012", "abc", "xyz"], ["0123", "abcd", "wxyz"]])
def test_clusters_may_have_names_of_their_own_in_each_run(tmp_path: Path, names: list[str]) -> None:
    rng, K = np.random.default_rng(0), len(names[0])
    truth = np.arange(200) % K
    columns = {
        f"run {name}": np.array([*name])[np.where(rng.random(200) < 0.1, 0, truth)]
        for name in names
    }
    frame = pl.DataFrame({"item": np.arange(200), **columns, "seconds": rng.random(200)})
    frame.write_csv(tmp_path / "own.csv")
    document = json.loads(run("cluster", tmp_path / "own.csv", "--json", "-q").stdout)
    assert document["n_runs"] == 3
    labels = [row["label"] for row in document["items"]]
    assert adjusted_rand_score(truth, labels) > 0.9


def test_numbers_of_clusters_are_not_taken_for_scores(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(14, size=600)
    columns = {f"run{m}": rng.permutation(14)[truth] for m in range(4)}
    pl.DataFrame({"item": np.arange(600), **columns}).write_csv(tmp_path / "many.csv")
    result = run("cluster", tmp_path / "many.csv", "--classes", 14)
    assert result.exit_code == 0, result.output
    assert "--scores" not in result.output
