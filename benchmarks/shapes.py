"""Time of ``fuse`` on tables of every shape, compared with a fit of Dawid–Skene."""

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from blindfuse import DawidSkene, Responses, fuse
from blindfuse.datasets import load
from report import Check, Section, public_data

FACTOR, SECONDS = 3, 1.0
"""``fuse`` may take this many times as long as Dawid–Skene, and this much longer."""
API_SHAPE = 64_727, 4, 31
"""Items, annotators and classes of the largest table of prediction services."""


def tables() -> Section:
    """Processor seconds of one thread, the shorter of two calls after one that compiles."""
    section = Section(
        "Speed of awkward shapes: `fuse` compared with DawidSkene",
        ["table", "items", "annotators", "classes", "fuse / (3 × DawidSkene + 1 s)", "method"],
        note="Processor time of one thread, because the allowance of one second is absolute and "
        "other processes would use part of it.",
    )
    folder = public_data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, responses in _tables(Path(folder)):
            method = fuse(responses, threads=1).method
            own = _shortest(lambda r=responses: fuse(r, threads=1))  # type: ignore[misc]
            fit = _shortest(lambda r=responses: DawidSkene(threads=1).fit(r))  # type: ignore[misc]
            ratio = own / (FACTOR * fit + SECONDS)
            shape = responses.n_items, responses.n_annotators, responses.n_classes
            section.rows.append([name, *(f"{n:,}" for n in shape), f"{ratio:.2f}", method])
            section.checks.append(Check(f"{name}: share of the allowed time", ratio, 1))
            print(*section.rows[-1], flush=True)
    return section


def _tables(folder: Path) -> Iterator[tuple[str, Responses]]:
    for path in sorted((folder / "crowd").iterdir()):
        yield path.name, load(path.name, folder).responses
    for path in sorted((folder / "ensembles").glob("*.npz")):
        yield path.stem, Responses.from_matrix(np.load(path)["answers"])
    yield "31 classes, 4 services", _services(*API_SHAPE)


def _services(n_items: int, n_annotators: int, n_classes: int) -> Responses:
    """Simulated prediction services: some items are hard for all, and then the same class wins."""
    rng = np.random.default_rng(0)
    truth, decoy = rng.integers(n_classes, size=(2, n_items, 1))
    hard = rng.random((n_items, 1)) < 0.2
    draw = rng.random((n_items, n_annotators))
    matrix = np.where(draw < np.where(hard, 0.3, 0.9), truth, decoy)
    matrix = np.where(draw > 0.97, rng.integers(n_classes, size=draw.shape), matrix)
    return Responses.from_matrix(matrix, classes=np.arange(n_classes))


def _shortest(function: Callable[[], object]) -> float:
    times = []
    for _ in range(2):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)
