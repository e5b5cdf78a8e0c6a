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


def kill(
    process: "subprocess.Popen[bytes]", folder: Path, rng: random.Random, seconds: float
) -> None:
    """Kill at a random time within ``seconds``, or shortly after the process creates a file."""
    existing = set(folder.rglob("*"))
    deadline = time.monotonic() + (
        TIMEOUT_SECONDS if rng.random() < 0.6 else rng.random() * seconds
    )
    while process.poll() is None and time.monotonic() < deadline:
        if set(folder.rglob("*")) - existing:
            deadline = min(deadline, time.monotonic() + rng.random() * 0.05)
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=TIMEOUT_SECONDS) in (-signal.SIGKILL, 0)


FUSE = [
    *("-m", "blindfuse", "fuse", "../votes.csv", "--force", "-q", "-o", "fused.csv"),
    *("--annotators", "annotators.parquet", "--model", "model.npz", "--report", "report.html"),
]


@pytest.fixture(scope="module")
def fused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A folder with all output of an undisturbed run of fuse, and its seconds."""
    folder = tmp_path_factory.mktemp("fused") / "whole"
    folder.mkdir()
    simulate = ["-m", "blindfuse", "simulate", "--items", "500", "-o", "../votes.csv"]
    finish(simulate, folder)
    return folder, finish(FUSE, folder)


def assert_same_content(path: Path, expected: Path) -> None:
    """The file equals the expected one; reports differ only in their times."""
    if path.suffix == ".html":
        assert path.read_text().endswith("</html>")
        assert abs(path.stat().st_size / expected.stat().st_size - 1) < 0.01
    elif path.suffix == ".npz":
        one, other = Model.load(path), Model.load(expected)
        np.testing.assert_array_equal(one.confusions, other.confusions)
        np.testing.assert_array_equal(one.prior, other.prior)
    elif path.suffix == ".parquet":
        assert pl.read_parquet(path).equals(pl.read_parquet(expected))
    else:
        assert path.read_bytes() == expected.read_bytes()


@every_seed
def test_killed_fuse(seed: int, fused: tuple[Path, float]) -> None:
    expected, seconds = fused
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    kill(start(FUSE, folder), folder, random.Random(seed), seconds)
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


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("reproduced") / "whole"
    folder.mkdir()
    return folder, finish(["-c", REPRODUCE], folder)


@every_seed
def test_killed_experiments(seed: int, reproduced: tuple[Path, float]) -> None:
    expected, seconds = reproduced
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    rng = random.Random(seed)
    for _ in range(2):
        kill(start(["-c", REPRODUCE], folder), folder, rng, seconds)
        for path in (folder / "out").rglob("[!.]*.svg"):
            assert path.read_text().endswith("</svg>")
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


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("learned") / "whole"
    folder.mkdir()
    return folder, finish(["-c", LEARN], folder)


@every_seed
def test_killed_partial_fit(seed: int, learned: tuple[Path, float]) -> None:
    expected, seconds = learned
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    kill(start(["-c", LEARN], folder), folder, random.Random(seed), seconds)
    finish(["-c", LEARN], folder)
    for method in (BlindEnsemble, DawidSkene):
        name = f"{method.__name__}.npz"
        one, other = (method().load_state(path / name) for path in (folder, expected))
        assert one.batches_ == other.batches_ == 6
        np.testing.assert_array_equal(one.model_.confusions, other.model_.confusions)
        resumed, undisturbed = (learner.statistics_.arrays() for learner in (one, other))
        for name, array in undisturbed.items():
            np.testing.assert_array_equal(resumed[name], array)
