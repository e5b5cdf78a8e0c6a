"""Run tasks one by one, keep each result on disk at once, and go on where a run stopped."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from blindfuse import BlindfuseError, __version__
from experiments.ensembles import FULL_ROWS
from experiments.methods import UNAIDED
from experiments.settings import SETTINGS
from experiments.tasks import Found, Task, run_task


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is.

    Monte Carlo runs and most items; of Table VIII rows (None for all), sets, and runs of those sets
    whose classifiers take minutes; crowds of Table IX; which plain forms of Algorithm 1 are timed.
    """

    name: str
    runs: int
    most_items: int
    rows: int | None = None
    ensembles: tuple[str, ...] = ()
    trained: Mapping[str, int] = field(default_factory=dict)
    crowds: tuple[str, ...] = ("adult", "trec", "bird")
    plain: tuple[str, ...] = UNAIDED

    def sizes(self, *asked: int) -> list[int]:
        """The numbers of items asked for, as far as they are within reach."""
        return [size for size in asked if size <= self.most_items] or [self.most_items]

    @property
    def seeds(self) -> range:
        return range(self.runs)


@dataclass(frozen=True)
class Measured:
    """The mean over Monte Carlo runs, and their standard deviation."""

    mean: float
    deviation: float
    runs: int

    @classmethod
    def of(cls, values: list[float]) -> "Measured | None":
        if not values:
            return None
        return cls(fmean(values), stdev(values) if len(values) > 1 else 0.0, len(values))

    @property
    def standard_error(self) -> float:
        return float(self.deviation / self.runs**0.5)


class Results:
    """What tasks gave, one JSON line each in a file that only grows.

    A line counts if it is whole and of this version of the package: a run that was killed while it
    wrote loses that line, and nothing else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[Task, Found] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(0)
            text = file.read()
            whole = text.rfind(b"\n") + 1
            file.truncate(whole)
        for line in text[:whole].splitlines():
            self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            if row["version"] == __version__:
                self.found[Task(**row["task"])] = row["found"]
        except (ValueError, KeyError, TypeError):
            return

    def add(self, task: Task, found: Found) -> None:
        row = {"task": task.parameters(), "version": __version__, "found": found}
        with self.path.open("ab") as file:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.found[task] = found

    def values(self, field: str, **where: Any) -> list[float]:
        """This number of every result whose task has these parameters, by seed."""
        chosen = [
            (task.seed, found[field])
            for task, found in self.found.items()
            if field in found and all(getattr(task, name) == value for name, value in where.items())
        ]
        return [float(value) for _, value in sorted(chosen)]

    def measured(self, field: str, **where: Any) -> Measured | None:
        return Measured.of(self.values(field, **where))

    def restricted(self, tasks: Iterable[Task]) -> "Results":
        """Only what these tasks gave: a folder may hold results of larger and smaller runs."""
        chosen = Results.__new__(Results)
        chosen.path = self.path
        chosen.found = {task: self.found[task] for task in tasks if task in self.found}
        return chosen


Report = Callable[[Task], None]


def in_order(tasks: Iterable[Task]) -> list[Task]:
    """Each task once, those on the same answers together, so that these are drawn once."""
    by_data: dict[Task, dict[Task, None]] = {}
    for task in tasks:
        by_data.setdefault(task.data, {})[task] = None
    return [task for together in by_data.values() for task in together]


def run_all(
    tasks: Iterable[Task],
    results: Results,
    folder: str | None = None,
    *,
    before: Report = lambda task: None,
) -> dict[str, str]:
    """Run what has no result yet; sources that cannot be had, and why."""
    left_out: dict[str, str] = {}
    for task in in_order(tasks):
        before(task)
        if task not in results.found and task.source not in left_out:
            try:
                results.add(task, run_task(task, folder))
            except BlindfuseError as reason:
                left_out[task.source] = str(reason)
    return left_out


@dataclass(frozen=True)
class Estimate:
    """What is left of one source and method: tasks, and seconds by what is known so far."""

    source: str
    method: str
    left: int
    seconds: float | None


def estimate(tasks: Iterable[Task], results: Results) -> list[Estimate]:
    """Seconds of tasks that have no result, from those that have one."""
    left: dict[tuple[str, str], list[float | None]] = {}
    for task in in_order(tasks):
        if task not in results.found:
            left.setdefault((task.source, task.method), []).append(_expected(task, results))
    return [
        Estimate(*name, len(found), None if None in found else sum(map(float, filter(None, found))))
        for name, found in left.items()
    ]


def _expected(task: Task, results: Results) -> float | None:
    """Seconds in proportion to size, from the nearest task of this method, of this source if any.

    Sweeps over explicit moments do not grow with items. Classifiers of one set tell nothing about
    those of another.
    """
    known = [
        (other.source != task.source, other.n_annotators != task.n_annotators, other, found)
        for other, found in results.found.items()
        if other.method == task.method
        and "spent" in found
        and (other.source == task.source or {other.source, task.source} <= SETTINGS.keys())
    ]
    if not known:
        return None
    size = _size(task)
    *_, other, found = min(
        known, key=lambda row: (row[0], row[1], abs(_size(row[2]) - size), row[3]["spent"])
    )
    sweeps = float(found.get("sweep_seconds", 0.0))
    return sweeps + (float(found["spent"]) - sweeps) * max(1.0, size / _size(other))


def _size(task: Task) -> float:
    """Items × annotators × classes², which most methods' time goes with."""
    if task.source not in SETTINGS:
        return float(task.n_items or FULL_ROWS.get(task.source, 1)) * 15
    setting = SETTINGS[task.source]
    annotators = task.n_annotators or setting.n_annotators
    return float((task.n_items or 1) * annotators * len(setting.prior) ** 2)
