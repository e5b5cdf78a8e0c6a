import json
from pathlib import Path

import pytest

from experiments.methods import EM, VOTE
from experiments.results import Results, RunSummary
from tests.support.experiment_cases import small_task


def test_results_of_this_version_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    for seed in range(3):
        results.add(small_task(VOTE, seed), {"error": float(seed)})
    with path.open("a") as file:
        old = {"task": small_task(EM).parameters(), "version": "0.0.1", "found": {"error": 9.0}}
        file.write(json.dumps(old) + "\n")
        file.write("no JSON\n")
        file.write(json.dumps({"task": {"colour": 1}, "version": "0.1.0", "found": {}}) + "\n")
    again = Results(path)
    assert again.by_task == results.by_task
    assert again.values("error", method=VOTE) == [0, 1, 2]
    assert again.summary("error", method=VOTE) == RunSummary(1, 1, 3)
    assert again.summary("error", method=EM) is None


@pytest.mark.parametrize("missing_bytes", [1, 10, 40])
def test_an_incomplete_line_is_removed(tmp_path: Path, missing_bytes: int) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    for seed in range(2):
        results.add(small_task(VOTE, seed), {"error": float(seed)})
    content = path.read_bytes()
    path.write_bytes(content[:-missing_bytes])
    again = Results(path)
    assert list(again.by_task) == [small_task(VOTE, 0)]
    again.add(small_task(VOTE, 1), {"error": 1.0})
    assert path.read_bytes() == content
