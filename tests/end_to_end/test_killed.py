"""``kill -9`` at any moment: every file is whole or absent, and a new run gives the same result."""

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
from experiments.running import Results
from tests.experiments.test_experiments import without_times

KILLS = [
    *range(2),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 17)),
]
"""Of fuse and of learning seventeen each, of reproduce twice as many: 68 in all."""

PATIENCE = 120.0


def start(words: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finish(words: list[str], folder: Path) -> float:
    """Run to the end; the seconds it took."""
    began = time.monotonic()
    assert start(words, folder).wait(timeout=PATIENCE) == 0
    return time.monotonic() - began


def kill(process: "subprocess.Popen[bytes]", folder: Path, rng: random.Random, took: float) -> None:
    """Kill at a random moment: of the whole run, or a moment after it began to write."""
    known = set(folder.rglob("*"))
    until = time.monotonic() + (PATIENCE if rng.random() < 0.6 else rng.random() * took)
    while process.poll() is None and time.monotonic() < until:
        if set(folder.rglob("*")) - known:
            until = min(until, time.monotonic() + rng.random() * 0.05)
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=PATIENCE) in (-signal.SIGKILL, 0)


FUSE = [
    *("-m", "blindfuse", "fuse", "../votes.csv", "--force", "-q", "-o", "fused.csv"),
    *("--annotators", "annotators.parquet", "--model", "model.npz", "--report", "report.html"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A folder with all that fuse writes when nobody kills it, and the seconds it takes."""
    folder = tmp_path_factory.mktemp("fused") / "whole"
    folder.mkdir()
    simulate = ["-m", "blindfuse", "simulate", "--items", "500", "-o", "../votes.csv"]
    finish(simulate, folder)
    return folder, finish(FUSE, folder)


def assert_whole(path: Path, like: Path) -> None:
    """The file says what its like says; reports differ in seconds only."""
    if path.suffix == ".html":
        assert path.read_text().endswith("</html>")
        assert abs(path.stat().st_size / like.stat().st_size - 1) < 0.01
    elif path.suffix == ".npz":
        one, other = Model.load(path), Model.load(like)
        np.testing.assert_array_equal(one.confusions, other.confusions)
        np.testing.assert_array_equal(one.prior, other.prior)
    elif path.suffix == ".parquet":
        assert pl.read_parquet(path).equals(pl.read_parquet(like))
    else:
        assert path.read_bytes() == like.read_bytes()


@pytest.mark.parametrize("seed", KILLS)
def test_fuse(seed: int, whole: tuple[Path, float]) -> None:
    expected, took = whole
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    kill(start(FUSE, folder), folder, random.Random(seed), took)
    for path in folder.iterdir():
        if not path.name.startswith("."):  # what was being written has another name
            assert_whole(path, expected / path.name)
    finish(FUSE, folder)
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {path.name for path in expected.iterdir()}
    for name in names:
        assert_whole(folder / name, expected / name)


REPRODUCE = """
import sys
from dataclasses import replace
from blindfuse.cli.main import main
from experiments import catalogue
catalogue.QUICK = replace(catalogue.SMOKE, most_items=200)
sys.argv = "blindfuse reproduce figure2 --quick --runs 3 --out out".split()
main()
"""


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("reproduced") / "whole"
    folder.mkdir()
    return folder, finish(["-c", REPRODUCE], folder)


@pytest.mark.parametrize("seed", KILLS)
def test_reproduce(seed: int, reproduced: tuple[Path, float]) -> None:
    expected, took = reproduced
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    rng = random.Random(seed)
    for _ in range(2):
        kill(start(["-c", REPRODUCE], folder), folder, rng, took)
        for path in (folder / "out").rglob("[!.]*.svg"):
            assert path.read_text().endswith("</svg>")
    finish(["-c", REPRODUCE], folder)
    one, other = (path / "out" for path in (folder, expected))
    results = [Results(out / "results" / "results.jsonl") for out in (one, other)]
    assert without_times(results[0]) == without_times(results[1])
    assert len(results[0].path.read_bytes().splitlines()) == len(results[0].found)
    pages = [(out / "reproduction.md").read_text() for out in (one, other)]
    headings = [[line for line in page.splitlines() if line.startswith("#")] for page in pages]
    assert headings[0] == headings[1]


LEARN = """
from pathlib import Path
import numpy as np
from blindfuse import BlindEnsemble, DawidSkene, simulate
responses = simulate(6000, 5, 3, np.random.default_rng(0), missing=0.2).responses
batches = [responses.select_items(part) for part in np.array_split(np.arange(6000), 6)]
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


@pytest.mark.parametrize("seed", KILLS)
def test_learning_from_batches(seed: int, learned: tuple[Path, float]) -> None:
    expected, took = learned
    folder = expected.with_name(f"killed-{seed}")
    folder.mkdir()
    kill(start(["-c", LEARN], folder), folder, random.Random(seed), took)
    finish(["-c", LEARN], folder)
    for method in (BlindEnsemble, DawidSkene):
        name = f"{method.__name__}.npz"
        one, other = (method().load_state(path / name) for path in (folder, expected))
        assert one.batches_ == other.batches_ == 6
        np.testing.assert_array_equal(one.model_.confusions, other.model_.confusions)
        found, wanted = (learner.statistics_.arrays() for learner in (one, other))
        for part, array in wanted.items():
            np.testing.assert_array_equal(found[part], array)
