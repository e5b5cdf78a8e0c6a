"""Run tasks one by one, store each result at once, and estimate the remaining time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from blindfuse import BlindfuseError
from experiments.results import Results
from experiments.settings import SETTINGS
from experiments.tasks import Task, run_task
from experiments.trained_classifiers import FULL_ROWS


def order_tasks(tasks: Iterable[Task]) -> list[Task]:
    """Return each task once, grouped by data, so that the data are simulated or loaded once."""
    by_data: dict[Task, dict[Task, None]] = {}
    for task in tasks:
        by_data.setdefault(task.data_key, {})[task] = None
    return [task for group in by_data.values() for task in group]


def run_tasks(
    tasks: Iterable[Task],
    results: Results,
    folder: str | None = None,
    *,
    before: Callable[[Task], None] = lambda task: None,
) -> dict[str, str]:
    """Run the tasks without a result; return the sources that are unavailable, with the reason."""
    unavailable: dict[str, str] = {}
    for task in order_tasks(tasks):
        before(task)
        if task not in results.by_task and task.source not in unavailable:
            try:
                results.add(task, run_task(task, folder))
            except BlindfuseError as error:
                unavailable[task.source] = str(error)
    return unavailable


@dataclass(frozen=True)
class TimeEstimate:
    """Remaining tasks of a source and method, and their estimated seconds, None if unknown."""

    source: str
    method: str
    tasks: int
    seconds: float | None


def estimate_time(tasks: Iterable[Task], results: Results) -> list[TimeEstimate]:
    """Estimate the seconds of the tasks without a result from those with one."""
    remaining: dict[tuple[str, str], list[float | None]] = {}
    for task in order_tasks(tasks):
        if task not in results.by_task:
            seconds = remaining.setdefault((task.source, task.method), [])
            seconds.append(_estimated_seconds(task, results))
    return [
        TimeEstimate(
            source, method, len(seconds), None if None in seconds else sum(filter(None, seconds))
        )
        for (source, method), seconds in remaining.items()
    ]


def _estimated_seconds(task: Task, results: Results) -> float | None:
    """Scale the time of the most similar task of this method in proportion to the size.

    The time of sweeps over explicit moments does not depend on the number of items. Times of one
    real dataset are not used for another.
    """
    known = [
        (other.source != task.source, other.n_annotators != task.n_annotators, other, measurements)
        for other, measurements in results.by_task.items()
        if other.method == task.method
        and "spent" in measurements
        and (other.source == task.source or {other.source, task.source} <= SETTINGS.keys())
    ]
    if not known:
        return None
    size = _size(task)
    *_, other, measurements = min(
        known, key=lambda row: (row[0], row[1], abs(_size(row[2]) - size), row[3]["spent"])
    )
    sweeps = float(measurements.get("sweep_seconds", 0.0))
    return sweeps + (float(measurements["spent"]) - sweeps) * max(1.0, size / _size(other))


def _size(task: Task) -> float:
    """Return items × annotators × classes², to which the time of most methods is proportional."""
    if task.source not in SETTINGS:
        return float(task.n_items or FULL_ROWS.get(task.source, 1)) * 15
    setting = SETTINGS[task.source]
    annotators = task.n_annotators or setting.n_annotators
    return float((task.n_items or 1) * annotators * len(setting.prior) ** 2)
