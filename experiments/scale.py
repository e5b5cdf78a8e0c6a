"""Scales of a reproduction: full, quick, and the smallest one for tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from experiments.methods import PLAIN_ALG_1, UNACCELERATED
from experiments.trained_classifiers import SUBSETS


@dataclass(frozen=True)
class Scale:
    """Size of a reproduction.

    Attributes
    ----------
    runs, max_items
        Monte Carlo runs, and the maximum number of simulated items.
    datasets, dataset_rows, dataset_runs
        datasets of Table VIII, the number of rows to sample from each (None for all), and the runs
        of those datasets whose classifiers take minutes per run.
    crowds
        crowds of Table IX.
    unaccelerated
        unaccelerated forms of Algorithm 1 to run.
    """

    name: str
    runs: int
    max_items: int
    dataset_rows: int | None = None
    datasets: tuple[str, ...] = ()
    dataset_runs: Mapping[str, int] = field(default_factory=dict)
    crowds: tuple[str, ...] = ("adult", "trec", "bird")
    unaccelerated: tuple[str, ...] = UNACCELERATED

    def sizes(self, *sizes: int) -> list[int]:
        """Return those numbers of items that do not exceed ``max_items``, or else that."""
        return [size for size in sizes if size <= self.max_items] or [self.max_items]

    @property
    def seeds(self) -> range:
        return range(self.runs)


FULL = Scale(
    "full",
    runs=10,
    max_items=1_000_000,
    datasets=tuple(SUBSETS),
    dataset_runs={"mnist": 3, "covtype": 3, "poker_synthetic": 1, "dota2": 3},
)
QUICK = Scale(
    "quick",
    runs=2,
    max_items=10_000,
    dataset_rows=5_000,
    datasets=("magic", "connect4"),
    unaccelerated=(PLAIN_ALG_1,),
)
SMOKE = Scale(
    "smoke",
    runs=1,
    max_items=300,
    dataset_rows=500,
    datasets=("magic",),
    crowds=("bird",),
    unaccelerated=(),
)
