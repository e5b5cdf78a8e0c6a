"""``blindfuse cluster``: one class per item from a file of clusterings."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.cli.test_main import run_command


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 3
    columns = {
        f"run{m}": np.where(rng.random(300) < 0.1, rng.integers(3, size=300), (truth + m) % 3)
        for m in range(8)
    }
    path = tmp_path / "runs.csv"
    pl.DataFrame({"item": [f"i{n}" for n in range(300)], **columns}).write_csv(path)
    return path
