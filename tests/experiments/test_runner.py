from pathlib import Path

from experiments.methods import ALG_2, EM, VOTE
from experiments.results import Results
from experiments.runner import estimate_time, order_tasks, run_tasks
from experiments.settings import TABLE_1, TABLE_2
from experiments.tasks import Task
from tests.support.experiment_cases import small_task


def test_tasks_with_a_result_are_not_run_again(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.add(small_task(VOTE), {"error": 12.5})
    started: list[Task] = []
    tasks = [small_task(VOTE), small_task("KOS"), small_task(VOTE)]
    assert run_tasks(tasks, results, before=started.append) == {}
    assert started == [small_task(VOTE), small_task("KOS")]
    assert results.by_task[small_task(VOTE)] == {"error": 12.5}
    assert "error" in results.by_task[small_task("KOS")]


def test_unavailable_data_are_reported_and_have_no_results(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    tasks = [Task("bird", VOTE), Task("bird", EM), small_task(VOTE)]
    unavailable = run_tasks(tasks, results, str(tmp_path))
    assert list(unavailable) == ["bird"]
    assert "no dataset 'bird'" in unavailable["bird"]
    assert list(results.by_task) == [small_task(VOTE)]


def test_estimated_time_is_proportional_to_size(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.add(Task(TABLE_1.name, VOTE, 0, 1_000), {"spent": 2.0})
    tasks = [Task(TABLE_1.name, VOTE, seed, size) for seed in (0, 1) for size in (1_000, 10_000)]
    (estimate,) = estimate_time(tasks, results)
    assert (estimate.tasks, estimate.seconds) == (3, 2 + 20 + 20)
    results.add(Task(TABLE_1.name, ALG_2, 0, 1_000), {"spent": 5.0, "sweep_seconds": 4.0})
    (with_sweeps,) = estimate_time([Task(TABLE_1.name, ALG_2, 0, 10_000)], results)
    assert with_sweeps.seconds == 4 + 10
    (other_setting,) = estimate_time([Task(TABLE_2.name, VOTE, 0, 2_000)], results)
    assert other_setting.seconds == 4
    (dataset,) = estimate_time([Task("mnist", VOTE)], results)
    assert dataset.seconds is None
    (other_method,) = estimate_time([Task(TABLE_1.name, EM, 0, 10)], results)
    assert other_method.seconds is None


def test_methods_on_the_same_data_run_consecutively() -> None:
    tasks = [small_task(method, seed) for method in (VOTE, EM) for seed in (0, 1)]
    assert [(task.seed, task.method) for task in order_tasks(tasks)] == [
        (0, VOTE),
        (0, EM),
        (1, VOTE),
        (1, EM),
    ]
