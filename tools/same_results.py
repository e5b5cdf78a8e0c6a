"""Results of every public call on public and generated tables, to compare two versions.

    python tools/same_results.py OUT [BEFORE] [--quick] [--only PATTERN] [--data FOLDER]

writes ``OUT/TABLE/CALL.npz``. With the folder of an earlier run, differences above 1e-9 are listed
by call and result, and texts that differ. PATTERN selects calls, such as ``crowd-*/fuse*`` or
``read/*``; PYTHONPATH says which version runs. The calls are in compared_calls.py.
"""

import argparse
import fnmatch
import itertools
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blindfuse as bf
from compared_calls import (
    command_calls,
    file_calls,
    generated_tables,
    keep_files,
    public_tables,
)

TOLERANCE = 1e-9
TEXTS = {"why", "notes", "questions", "summary()", "stdout", "stderr", "message"}
"""What is listed apart, because words may change."""
QUICK = 9_000
"""Responses above which ``--quick`` leaves out a table."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def as_array(value: Any) -> NDArray[Any]:
    """Numbers as they are, anything else as text, so that files need no pickle."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.array([])
    if array.dtype.kind in "biuf" and (array.size or isinstance(value, np.ndarray)):
        return array
    if isinstance(value, Mapping):
        return np.array(sorted(repr(pair) for pair in value.items()), dtype=str)
    is_text = isinstance(value, str) or not np.iterable(value)
    return np.array(str(value) if is_text else [str(part) for part in value], dtype=str)


def result(run: Callable[[], dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """What a call returns as arrays, or its error."""
    try:
        return {name: as_array(value) for name, value in run().items() if value is not None}
    except bf.BlindfuseError as error:
        return {"error": np.array(type(error).__name__), "message": np.array(str(error))}


def difference(now: NDArray[Any], before: NDArray[Any]) -> float:
    """The largest difference of numbers, also of those within text; infinite if text differs."""
    if now.shape != before.shape:
        return np.inf
    if now.dtype.kind in "biuf" and before.dtype.kind in "biuf":
        now, before = now.astype(float), before.astype(float)
        same = (now == before) | (np.isnan(now) & np.isnan(before))
        apart = np.nan_to_num(np.abs(np.where(same, 0, now - before)), nan=np.inf)
        return float(apart.max(initial=0.0))
    worst = 0.0
    for a, b in zip(map(str, now.ravel()), map(str, before.ravel()), strict=True):
        if NUMBER.split(a) != NUMBER.split(b):
            return np.inf
        numbers = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
        worst = max([worst, *(abs(float(x) - float(y)) for x, y in numbers)])
    return worst


def _summarize(found: list[tuple[float, str]]) -> str:
    """How many tables differ in a result, and the one that differs most."""
    if not found:
        return "no earlier result"
    apart, table = max(found)
    return f"{len(found)} tables, at most {apart:.2g} ({table})"


def main() -> None:
    """Run the calls, and compare them if there is a folder of an earlier run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[3] / "shared" / "data")
    parser.add_argument("--generated", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"blindfuse of {Path(bf.__file__).parent}", flush=True)
    if options.before is None:
        keep_files(options.out / "files")
    tables = itertools.chain(
        [("read", file_calls((options.before or options.out) / "files"))],
        [("cli", command_calls())],
        generated_tables(32 if options.quick else options.generated),
        public_tables(options.data, *((QUICK, QUICK) if options.quick else (250_000, 500_000))),
    )
    compared = 0
    kinds = "texts differ", "not compared", "results differ"
    listed: dict[str, dict[str, list[tuple[float, str]]]] = {kind: {} for kind in kinds}
    for name, run in ((f"{table}/{call}", run) for table, calls in tables for call, run in calls):
        if not fnmatch.fnmatch(name, options.only):
            continue
        path = options.out / f"{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        now = result(run)
        np.savez(path, allow_pickle=False, **now)
        if options.before is None:
            continue
        if not (options.before / f"{name}.npz").exists():
            listed["not compared"][name] = []
            continue
        compared, was = compared + 1, dict(np.load(options.before / f"{name}.npz"))
        for key in sorted({*now, *was}):
            apart = difference(now[key], was[key]) if key in now and key in was else np.inf
            if apart > TOLERANCE:
                kind = "texts differ" if key in TEXTS else "results differ"
                table, _, call = name.partition("/")
                listed[kind].setdefault(f"{call} {key}", []).append((apart, table))
    if options.before is not None:
        print(f"{compared} calls compared")
        for kind, groups in listed.items():
            lines = [f"{call}: {_summarize(found)}" for call, found in sorted(groups.items())]
            print(f"{kind}: {len(lines)}", *lines, sep="\n  ")
        sys.exit(bool(listed["results differ"]))


if __name__ == "__main__":
    main()
