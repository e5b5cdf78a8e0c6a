import pytest

from blindfuse import BadParameter
from experiments.catalogue import EXPERIMENTS, required_tasks, select_experiments
from experiments.methods import METHODS
from experiments.scale import FULL, QUICK, SMOKE


def test_every_task_has_a_known_method_and_is_run_once() -> None:
    for scale in (FULL, QUICK, SMOKE):
        tasks = required_tasks(EXPERIMENTS.values(), scale)
        assert len(tasks) == len(set(tasks))
        assert {task.method for task in tasks} <= METHODS.keys()
        keys = [task.data_key for task in tasks]
        changes = [
            key for key, previous in zip(keys, [None, *keys], strict=False) if key != previous
        ]
        assert len(changes) == len(set(changes)), "tasks on the same data are consecutive"
    assert {task.seed for task in required_tasks(EXPERIMENTS.values(), FULL)} == set(range(10))


def test_experiments_are_selected_by_name() -> None:
    assert select_experiments([]) == select_experiments(["all"]) == list(EXPERIMENTS.values())
    selected = select_experiments(["table9", "figure11", "table9"])
    assert [experiment.name for experiment in selected] == ["table9", "figure11"]
    with pytest.raises(BadParameter, match=r"'tabel1': did you mean 'table1'\?"):
        select_experiments(["tabel1"])
    numbered = {f"table{number}" for number in range(1, 10)}
    numbered |= {f"figure{number}" for number in range(2, 12)}
    assert set(EXPERIMENTS) == numbered | {"theorem1", "theorem2", "skill"}
