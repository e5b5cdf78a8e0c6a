"""SIGKILL at any time leaves each file complete or absent, and a new run gives the same result."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import BlindEnsemble, DawidSkene, Model
from experiments.results import Results
from tests.support.cli import succeed
from tests.support.experiment_cases import without_times

every_seed = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 17))]
)
TIMEOUT_SECONDS = 120.0
ROOT = Path(__file__).parents[2]


def start(arguments: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    """Run Python in the folder, with the experiments of this clone importable."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finish(arguments: list[str], folder: Path) -> float:
    """Run to the end and return the seconds."""
    started = time.monotonic()
    assert start(arguments, folder).wait(timeout=TIMEOUT_SECONDS) == 0
    return time.monotonic() - started


def run_and_kill(
    arguments: list[str], folder: Path, seed: int, kills: int = 1
) -> tuple[Path, Path]:
    """Run to the end in one folder, and kill runs in another; return both folders.

    They are killed at a random time, or shortly after the process creates a file.
    """
    whole, killed = folder / "whole", folder / "killed"
    whole.mkdir()
    killed.mkdir()
    seconds, rng = finish(arguments, whole), random.Random(seed)
    for _ in range(kills):
        process, existing = start(arguments, killed), set(killed.rglob("*"))
        wait = TIMEOUT_SECONDS if rng.random() < 0.6 else rng.random() * seconds
        deadline = time.monotonic() + wait
        while process.poll() is None and time.monotonic() < deadline:
            if set(killed.rglob("*")) - existing:
                deadline = min(deadline, time.monotonic() + rng.random() * 0.05)
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=TIMEOUT_SECONDS) in (-signal.SIGKILL, 0)
        for path in killed.rglob("[!.]*.svg"):
            assert path.read_text().endswith("</svg>")
    return whole, killed


FUSE = [
    *("-m", "blindfuse", "fuse", "../votes.csv", "--force", "-q", "-o", "fused.csv"),
    *("--annotators", "annotators.parquet", "--model", "model.npz", "--report", "report.html"),
]


def assert_same_content(path: Path, expected: Path) -> None:
    """The file equals the expected one; reports differ only in their times."""
    if path.suffix == ".html":
        assert path.read_text().endswith("</html>")
        assert abs(path.stat().st_size / expected.stat().st_size - 1) < 0.01
    elif path.suffix == ".npz":
        resumed, whole = Model.load(path), Model.load(expected)
        np.testing.assert_array_equal(resumed.confusions, whole.confusions)
        np.testing.assert_array_equal(resumed.prior, whole.prior)
    elif path.suffix == ".parquet":
        assert pl.read_parquet(path).equals(pl.read_parquet(expected))
    else:
        assert path.read_bytes() == expected.read_bytes()


@every_seed
def test_killed_fuse(seed: int, tmp_path: Path) -> None:
    succeed("simulate", "--items", 500, "-o", tmp_path / "votes.csv")
    expected, folder = run_and_kill(FUSE, tmp_path, seed)
    for path in folder.iterdir():
        if not path.name.startswith("."):  # hidden files are temporary
            assert_same_content(path, expected / path.name)
    finish(FUSE, folder)
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {path.name for path in expected.iterdir()}
    for name in names:
        assert_same_content(folder / name, expected / name)


REPRODUCE = """
from dataclasses import replace
from experiments import scale
from experiments.__main__ import command
scale.QUICK = replace(scale.SMOKE, max_items=200)
command("figure2 --quick --runs 3 --out out".split())
"""


@every_seed
def test_killed_experiments(seed: int, tmp_path: Path) -> None:
    expected, folder = run_and_kill(["-c", REPRODUCE], tmp_path, seed, kills=2)
    finish(["-c", REPRODUCE], folder)
    outputs = [path / "out" for path in (folder, expected)]
    results = [Results(output / "results" / "results.jsonl") for output in outputs]
    assert without_times(results[0]) == without_times(results[1])
    assert len(results[0].path.read_bytes().splitlines()) == len(results[0].by_task)
    pages = [(output / "reproduction.md").read_text() for output in outputs]
    headings = [[line for line in page.splitlines() if line.startswith("#")] for page in pages]
    assert headings[0] == headings[1]


LEARN = """
from pathlib import Path
import numpy as np
from blindfuse import BlindEnsemble, DawidSkene, simulate
responses = simulate(6000, 5, 3, np.random.default_rng(0), missing=0.2).responses
batches = [responses.select_items(rows) for rows in np.array_split(np.arange(6000), 6)]
for method in (BlindEnsemble, DawidSkene):
    state = Path(f"{method.__name__}.npz")
    learner = method().load_state(state) if state.exists() else method()
    for number in range(getattr(learner, "batches_", 0), len(batches)):
        learner.partial_fit(batches[number], number=number, forget=4000).save_state(state)
"""


@every_seed
def test_killed_partial_fit(seed: int, tmp_path: Path) -> None:
    expected, folder = run_and_kill(["-c", LEARN], tmp_path, seed)
    finish(["-c", LEARN], folder)
    for method in (BlindEnsemble, DawidSkene):
        name = f"{method.__name__}.npz"
        one, other = (method().load_state(path / name) for path in (folder, expected))
        assert one.batches_ == other.batches_ == 6
        np.testing.assert_array_equal(one.model_.confusions, other.model_.confusions)
        resumed, undisturbed = (learner.statistics_.arrays() for learner in (one, other))
        for name, array in undisturbed.items():
            np.testing.assert_array_equal(resumed[name], array)
