"""Labels and posteriors of every method on every crowd of a folder, to compare two versions.

    python benchmarks/snapshot.py ../shared/data before          # in one checkout
    python benchmarks/snapshot.py ../shared/data after before    # in another: compares as well

writes one file per table and method. With a second folder, differences above 1e-12 are listed.
"""

import csv
import gzip
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindfuseError, Responses, fuse
from blindfuse.estimators.registry import METHODS

TOLERANCE = 1e-12
RENAMED = {"LatentSubtypes": "ItemKinds", "MixedMembership": "MixedItems"}
"""Methods that had another name in version 0.1."""
LEFT_OUT = {("millionaire", "MMSR")}
"""MMSR forms a dense matrix of all pairs of annotators, 11 GB for 37,332 of them."""

Arrays = dict[str, NDArray[Any]]


def responses_in(folder: Path) -> Responses:
    with gzip.open(folder / "labels.csv.gz", "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return Responses.from_long(*zip(*rows, strict=True))


def result(run: Callable[[], tuple[NDArray[Any], NDArray[Any]]]) -> Arrays:
    try:
        labels, posteriors = run()
    except BlindfuseError as error:
        return {"error": np.array(type(error).__name__)}
    return {"labels": labels.astype(str), "posteriors": posteriors}


def runs(responses: Responses) -> dict[str, Callable[[], tuple[NDArray[Any], NDArray[Any]]]]:
    def fit(name: str) -> Callable[[], tuple[NDArray[Any], NDArray[Any]]]:
        def run() -> tuple[NDArray[Any], NDArray[Any]]:
            fitted = METHODS[name]().fit(responses)
            return fitted.labels_, fitted.posteriors_

        return run

    def fused() -> tuple[NDArray[Any], NDArray[Any]]:
        fusion = fuse(responses)
        return fusion.labels, fusion.posteriors

    return {name: fit(name) for name in METHODS} | {"fuse": fused}


def difference(now: Arrays, before: Arrays) -> float:
    """The largest difference of posteriors, infinite where labels differ or one run failed."""
    if "error" in now or "error" in before:
        return 0.0 if ("error" in now) == ("error" in before) else np.inf
    if not np.array_equal(now["labels"], before["labels"].astype(str)):
        return np.inf
    return float(np.abs(now["posteriors"] - before["posteriors"]).max(initial=0.0))


def main(data: str, out: str, before: str | None = None) -> None:
    Path(out).mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    compared, worst, differing = 0, 0.0, list[str]()
    folders = sorted((Path(data) / "crowd").iterdir(), key=lambda path: path.name)
    for folder in folders:
        responses = responses_in(folder)
        for name, run in runs(responses).items():
            if (folder.name, name) in LEFT_OUT:
                continue
            now = result(run)
            np.savez(Path(out) / f"{folder.name}.{name}.npz", **now)  # type: ignore[arg-type]
            if before is not None:
                earlier = Path(before) / f"{folder.name}.{RENAMED.get(name, name)}.npz"
                found = difference(now, dict(np.load(earlier, allow_pickle=True)))
                compared, worst = compared + 1, max(worst, found)
                if found > TOLERANCE:
                    differing.append(f"{folder.name} {name}: {found:.2g}")
        print(folder.name, flush=True)
    if before is not None:
        print(f"{compared} results compared, largest difference {worst:.2g}")
        print(*differing, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
