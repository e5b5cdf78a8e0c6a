"""Files that the tests of the commands read."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import simulate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run the test in a folder with votes.csv and truth.csv; no temporary file may be left."""
    monkeypatch.chdir(tmp_path)
    simulation = simulate(300, 7, 3, np.random.default_rng(0), skill=0.4, missing=0.3)
    names, rows = np.array(["cat", "cow", "dog"]), simulation.responses.by_item
    pl.DataFrame(
        {
            "item": [f"i{n}" for n in simulation.responses.item_of_response()],
            "annotator": [f"a{m}" for m in rows.codes],
            "label": names[rows.symbols],
        }
    ).write_csv("votes.csv")
    pl.DataFrame(
        {"item": [f"i{n}" for n in range(300)], "truth": names[simulation.truth]}
    ).write_csv("truth.csv")
    yield tmp_path
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
