"""Results of tasks on disk, and their means over Monte Carlo runs."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from blindfuse import __version__
from experiments.tasks import Measurements, Task


@dataclass(frozen=True)
class RunSummary:
    """The mean over Monte Carlo runs, and their standard deviation."""

    mean: float
    deviation: float
    runs: int

    @classmethod
    def of(cls, values: list[float]) -> "RunSummary | None":
        if not values:
            return None
        return cls(fmean(values), stdev(values) if len(values) > 1 else 0.0, len(values))

    @property
    def standard_error(self) -> float:
        return float(self.deviation / self.runs**0.5)


class Results:
    """Measurements by task, one JSON line per task in an append-only file.

    Incomplete lines and lines of another version of the package are ignored, so a run that was
    killed while it wrote a line loses only this line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_task: dict[Task, Measurements] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(0)
            text = file.read()
            complete = text.rfind(b"\n") + 1
            file.truncate(complete)
        for line in text[:complete].splitlines():
            self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            if row["version"] == __version__:
                self.by_task[Task(**row["task"])] = row["found"]
        except (ValueError, KeyError, TypeError):
            return

    def add(self, task: Task, measurements: Measurements) -> None:
        """Append the measurements of a task to the file."""
        row = {"task": task.parameters(), "version": __version__, "found": measurements}
        with self.path.open("ab") as file:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.by_task[task] = measurements

    def values(self, field: str, **where: Any) -> list[float]:
        """Return this measurement of all tasks with these parameters, ordered by seed."""
        matching = [
            (task.seed, measurements[field])
            for task, measurements in self.by_task.items()
            if field in measurements
            and all(getattr(task, name) == value for name, value in where.items())
        ]
        return [float(value) for _, value in sorted(matching)]

    def summary(self, field: str, **where: Any) -> RunSummary | None:
        """Return the mean of this measurement over the tasks with these parameters."""
        return RunSummary.of(self.values(field, **where))

    def restrict_to(self, tasks: Iterable[Task]) -> "Results":
        """Return the results of these tasks; the file may also have those of other scales."""
        restricted = Results.__new__(Results)
        restricted.path = self.path
        restricted.by_task = {task: self.by_task[task] for task in tasks if task in self.by_task}
        return restricted
