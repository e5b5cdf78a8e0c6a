import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from experiments.methods import ALG_2, EM, VOTE
from experiments.results import Results
from experiments.runner import estimate_time, order_tasks, run_tasks
from experiments.settings import TABLE_1, TABLE_2
from experiments.tasks import Task
from tests.support.experiment_cases import small_task, without_times

ROOT = Path(__file__).parents[2]
RUN_48_TASKS = """
import sys, time
from pathlib import Path
from experiments.results import Results
from experiments.runner import run_tasks
from experiments.tasks import Task
tasks = [Task("Table I, K = 2", method, seed, 300)
         for seed in range(12) for method in ("Majority Voting", "KOS", "TE", "Oracle")]
run_tasks(tasks, Results(Path(sys.argv[1])), before=lambda task: time.sleep(float(sys.argv[2])))
"""


def test_a_killed_run_continues_where_it_stopped(tmp_path: Path) -> None:
    def start(path: Path, pause: float) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", RUN_48_TASKS, path, str(pause)], cwd=ROOT)

    complete, killed = tmp_path / "complete.jsonl", tmp_path / "killed.jsonl"
    assert start(complete, 0).wait(timeout=120) == 0
    for _ in range(2):
        before = killed.stat().st_size if killed.exists() else 0
        process = start(killed, 0.05)
        deadline = time.monotonic() + 60
        while not (killed.exists() and killed.stat().st_size > before):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(timeout=30) == -signal.SIGKILL
        assert len(Results(killed).by_task) < 48
    survived = killed.read_bytes()
    assert start(killed, 0).wait(timeout=120) == 0
    assert killed.read_bytes().startswith(survived)
    assert without_times(Results(killed)) == without_times(Results(complete))
    assert len(killed.read_bytes().splitlines()) == 48


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
