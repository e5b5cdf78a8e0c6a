"""Tasks and results for the tests of the experiments."""

from typing import Any

from experiments.results import Results
from experiments.settings import TABLE_1
from experiments.tasks import Task

TIMES = {"seconds", "sweep_seconds", "spent", "memory"}
"""Measurements that differ from run to run."""


def without_times(results: Results) -> dict[Task, dict[str, Any]]:
    return {
        task: {name: value for name, value in measurements.items() if name not in TIMES}
        for task, measurements in results.by_task.items()
    }


def small_task(method: str, seed: int = 0) -> Task:
    return Task(TABLE_1.name, method, seed, 200)
