"""All experiments by name, in the order of the paper."""

from collections.abc import Iterable, Sequence

from blindfuse import BadParameter
from blindfuse.errors import suggest
from experiments import classifier_ensembles, crowdsourced, synthetic, theorems
from experiments.experiment import Experiment
from experiments.methods import UNACCELERATED
from experiments.runner import order_tasks
from experiments.scale import Scale
from experiments.tasks import Task

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *synthetic.EXPERIMENTS,
        *classifier_ensembles.EXPERIMENTS,
        *crowdsourced.EXPERIMENTS,
        *theorems.EXPERIMENTS,
        synthetic.SKILL,
    )
}


def required_tasks(experiments: Iterable[Experiment], scale: Scale) -> list[Task]:
    """Return the tasks of these experiments, each once, in the order in which to run them."""
    tasks = (task for experiment in experiments for task in experiment.tasks(scale))
    return order_tasks(
        task
        for task in tasks
        if task.method not in UNACCELERATED or task.method in scale.unaccelerated
    )


def select_experiments(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments with these names; no names, or ``all``, select every experiment."""
    if not names or "all" in names:
        return list(EXPERIMENTS.values())
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise BadParameter(
            f"There is no experiment {unknown[0]!r}: {suggest(unknown[0], ['all', *EXPERIMENTS])}"
        )
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]
