"""`blindfuse predict`."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import Model, read, simulate
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


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
    own_error = 1 - model.posteriors(new).max(axis=1).mean()
    assert document["expected_error_low"] <= own_error <= document["expected_error"]
    assert document["expected_error"] <= document["expected_error_high"] < 1
    printed = succeed("predict", "m.npz", "new.csv").stdout
    assert "Labelled" in printed
    assert "ignores correlated errors" not in printed
    Path("stranger.csv").write_text(f"{header}i1,Zoe,cat\n")
    assert "'Zoe'" in refuse("predict", "m.npz", "stranger.csv")
    assert "does not contain a blindfuse model" in refuse("predict", "votes.csv", "new.csv")


def test_a_model_with_numeric_names_matches_the_text_in_files() -> None:
    simulation = simulate(50, 4, 2, np.random.default_rng(3), skill=0.5)
    simulation.model.save("m.npz")
    rows = [f"{n},{m},{simulation.responses.matrix()[n, m]}\n" for n in range(50) for m in range(4)]
    Path("numbers.csv").write_text("item,annotator,label\n" + "".join(rows))
    document = json.loads(succeed("predict", "m.npz", "numbers.csv", "--json").stdout)
    expected = simulation.model.labels(simulation.responses)
    assert [int(row["label"]) for row in document["items"]] == expected.tolist()


def test_confidences_that_promise_too_few_errors_are_noted() -> None:
    rng = np.random.default_rng(0)
    truth, lure = rng.integers(2, size=(2, 600))
    misled = np.where(rng.random((600, 8)) < 0.5, truth[:, None], lure[:, None])
    rows = [f"{n},{m},{k}\n" for n, row in enumerate(misled) for m, k in enumerate(row)]
    Path("misled.csv").write_text("item,annotator,label\n" + "".join(rows))
    succeed("fuse", "misled.csv", "--model", "m.npz")
    assert "ignores correlated errors" in succeed("predict", "m.npz", "misled.csv").stdout
