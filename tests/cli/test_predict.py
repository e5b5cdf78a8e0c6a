"""`blindfuse predict`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import Model, read, simulate
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


@pytest.mark.parametrize(
    "options",
    [
        ["--gold", "gold.csv"],
        ["--ordered"],
        ["--abstentions"],
        ["--partitioned"],
        ["--method", "dawid-skene"],
    ],
)
def test_predict_gives_what_fuse_gave(options: Sequence[str]) -> None:
    """Annotators copy each other; tests/model has other tables."""
    rng, groups = np.random.default_rng(5), [(0, 1, 2), (3, 4)]
    copying: Any = {"dependent_groups": groups, "copy_probability": 0.6}
    drawn = simulate(600, 9, 3, rng, skill=0.3, missing=0.2, **copying)
    write_matrix("votes.csv", drawn.responses.matrix())
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
