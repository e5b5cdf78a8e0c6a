"""`blindfuse predict`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import Model, read, simulate
from blindfuse.simulation import simulate_scores
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")

HEADER = "item,annotator,label\n"


def test_new_items_are_labelled_with_the_model() -> None:
    header, *rows = Path("votes.csv").read_text().splitlines(keepends=True)
    Path("old.csv").write_text(header + "".join(rows[:1000]))
    Path("new.csv").write_text(header + "".join(rows[1000:]))
    succeed("fuse", "old.csv", "--model", "m.npz")
    result = succeed("predict", "m.npz", "new.csv", "-o", "-")
    new, model = read("new.csv").responses, Model.load("m.npz")
    frame = pl.read_csv(result.stdout.encode())
    assert frame["item"].to_list() == new.items.tolist()
    assert frame["label"].to_list() == model.labels(new).tolist()
    np.testing.assert_allclose(frame["confidence"], model.posteriors(new).max(axis=1), atol=5.1e-7)
    document = json.loads(succeed("predict", "m.npz", "new.csv", "--json").stdout)
    assert document["expected_error"] is None
    assert document["needs_another_label"] == frame["needs_another_label"].sum()
    printed = succeed("predict", "m.npz", "new.csv").stdout
    assert "Labelled" in printed
    assert "with one more response" in " ".join(printed.split())
    Path("stranger.csv").write_text(f"{header}i1,Zoe,cat\n")
    assert "'Zoe'" in refuse("predict", "m.npz", "stranger.csv")
    assert "does not contain a blindfuse model" in refuse("predict", "votes.csv", "new.csv")


def test_a_model_with_numeric_names_matches_the_text_in_files() -> None:
    simulation = simulate(50, 4, 2, np.random.default_rng(3), skill=0.5)
    simulation.model.save("m.npz")
    write_matrix("numbers.csv", simulation.responses.matrix())
    document = json.loads(succeed("predict", "m.npz", "numbers.csv", "--json").stdout)
    expected = simulation.model.labels(simulation.responses)
    assert [int(row["label"]) for row in document["items"]] == expected.tolist()


def write_matrix(path: str, matrix: np.ndarray[Any, Any]) -> None:
    rows = [f"{n},{m},{k}\n" for (n, m), k in np.ndenumerate(matrix) if k >= 0]
    Path(path).write_text(HEADER + "".join(rows))


def independent(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return simulate(400, 8, 3, rng, skill=0.3, missing=0.3).responses.matrix()


def correlated(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    copied: dict[str, Any] = {"dependent_groups": [(0, 1, 2), (3, 4)], "copy_probability": 0.6}
    return simulate(600, 9, 3, rng, skill=0.3, missing=0.2, **copied).responses.matrix()


def partly_correlated(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    copied: dict[str, Any] = {"dependent_groups": [(0, 1)], "copy_probability": 0.35}
    return simulate(300, 8, 2, rng, skill=0.3, **copied).responses.matrix()


def one_sided(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Every source reports one class or nothing."""
    truth, own = rng.integers(2, size=500), np.arange(10) % 2
    fires = rng.random((500, 10)) < np.where(truth[:, None] == own, 0.5, 0.1)
    return np.where(fires, own, -1)


def two_annotators(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return simulate(200, 2, 3, rng, skill=0.4).responses.matrix()


def clicks(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return rng.integers(2, size=(150, 5))


def two_per_item(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    matrix = np.array(simulate(300, 6, 2, rng, skill=0.4).responses.matrix())
    for row in matrix:
        row[rng.choice(6, 4, replace=False)] = -1
    return matrix


def scores(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return simulate_scores(200, 4, 11, 2, rng, separation=2.0).responses.matrix()


def random_scores(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return rng.integers(11, size=(89, 5))


def two_judges(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return simulate_scores(150, 2, 6, 3, rng).responses.matrix()


@pytest.mark.parametrize(
    ("draw", "options"),
    [
        (independent, []),
        (independent, ["--gold", "gold.csv"]),
        (independent, ["--ordered"]),
        (independent, ["--abstentions"]),
        (correlated, []),
        (correlated, ["--gold", "gold.csv"]),
        (partly_correlated, []),
        (one_sided, []),
        (two_annotators, []),
        (two_per_item, []),
        (clicks, []),
        (scores, ["--scores"]),
        (random_scores, ["--scores"]),
        (two_judges, ["--scores"]),
        (correlated, ["--partitioned"]),
        (correlated, ["--method", "dawid-skene"]),
    ],
)
def test_predict_gives_what_fuse_gave(draw: Any, options: Sequence[str]) -> None:
    matrix = draw(np.random.default_rng(5))
    write_matrix("votes.csv", matrix)
    gold = range(0, 60, 3) if "--gold" in options else ()
    Path("gold.csv").write_text("item,label\n" + "".join(f"{n},{n % 2}\n" for n in gold))
    succeed("fuse", "votes.csv", *options, "--model", "m.npz", "-o", "fused.csv")
    succeed("predict", "m.npz", "votes.csv", "-o", "again.csv")
    fused, again = (
        pl.read_csv(path).sort("item").filter(~pl.col("item").is_in(list(gold)))
        for path in ("fused.csv", "again.csv")
    )
    assert fused.columns == again.columns
    assert fused["label"].to_list() == again["label"].to_list()
    for column in fused.select(pl.selectors.float()).columns:
        np.testing.assert_allclose(fused[column], again[column], atol=1.01e-6)
