"""Every experiment by name, in the order of the paper."""

from collections.abc import Iterable, Sequence

from blindfuse import BadParameter
from blindfuse.errors import meant
from experiments import (
    adversaries,
    classifiers,
    crowdsourced,
    grouped_annotators,
    many_annotators,
    many_classes,
    skills,
    theorems,
    two_classes,
)
from experiments.ensembles import SUBSETS
from experiments.methods import PLAIN, UNAIDED
from experiments.outcome import Experiment
from experiments.running import Scale, in_order
from experiments.tasks import Task

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for family in (
        two_classes,
        many_classes,
        many_annotators,
        grouped_annotators,
        adversaries,
        classifiers,
        crowdsourced,
        theorems,
        skills,
    )
    for experiment in family.EXPERIMENTS
}

FULL = Scale(
    "full",
    runs=10,
    most_items=1_000_000,
    ensembles=tuple(SUBSETS),
    trained={"mnist": 3, "covtype": 3, "poker_synthetic": 1, "dota2": 3},
)
QUICK = Scale(
    "quick",
    runs=2,
    most_items=10_000,
    rows=5_000,
    ensembles=("magic", "connect4"),
    plain=(PLAIN,),
)
SMOKE = Scale(
    "smoke", runs=1, most_items=300, rows=500, ensembles=("magic",), crowds=("bird",), plain=()
)


def tasks_of(experiments: Iterable[Experiment], scale: Scale) -> list[Task]:
    """What these experiments need, each task once, in the order in which to run them."""
    needed = (task for experiment in experiments for task in experiment.tasks(scale))
    return in_order(
        task for task in needed if task.method not in UNAIDED or task.method in scale.plain
    )


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names; ``all``, or no name, is every one."""
    if not names or "all" in names:
        return list(EXPERIMENTS.values())
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise BadParameter(
            f"There is no experiment {unknown[0]!r}: {meant(unknown[0], ['all', *EXPERIMENTS])}"
        )
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]
