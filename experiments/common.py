"""What several experiments show alike, and the figures that several are asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.drawing import lines
from experiments.methods import FUSE, IN_NUMPY, OURS, PLAIN, SPECTRAL
from experiments.outcome import (
    Cell,
    Check,
    Columns,
    Picture,
    Section,
    Table,
    at_least,
    at_most,
    points,
    ratios,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.settings import Setting
from experiments.tasks import Task, synthetic

MANY = 10_000
"""Items from which on the oracle must be reached."""


def by_size(setting: Setting, sizes: Iterable[int], scale: Scale) -> Columns:
    """One column for each number of items."""
    return {
        f"N = {size:,}": {"source": setting.name, "n_items": size} for size in scale.sizes(*sizes)
    }


@dataclass(frozen=True)
class Sweep:
    """A setting at so many items while one parameter of its tasks takes several values.

    ``named`` makes a column's name of a value, as in ``"M = {}"``.
    """

    setting: Setting
    n_items: int
    parameter: str
    values: tuple[float, ...]
    named: str

    def size(self, scale: Scale) -> int:
        """The items that are within reach."""
        return scale.sizes(self.n_items)[0]

    def columns(self, scale: Scale) -> Columns:
        """One column for each value."""
        shared = {"source": self.setting.name, "n_items": self.size(scale)}
        return {
            self.named.format(value): {**shared, self.parameter: value} for value in self.values
        }

    def tasks(self, methods: Sequence[str], scale: Scale) -> list[Task]:
        """Every method on every draw at every value."""
        sizes = scale.sizes(self.n_items)
        return [
            task
            for value in self.values
            for task in synthetic(
                self.setting, methods, sizes, scale.seeds, **{self.parameter: value}
            )
        ]


def along(columns: Columns, parameter: str) -> dict[float, Mapping[str, object]]:
    """The same columns by the number that they differ in."""
    return {float(where[parameter]): where for where in columns.values()}


def show_times(
    title: str,
    methods: Sequence[str],
    columns: Columns,
    printed: Mapping[Cell, float],
    results: Results,
    section: Section,
) -> None:
    """A table of seconds, and the figures asked of it."""
    section.tables.append(
        tabulate(results, title, methods, columns, printed, kind="time", field="seconds")
    )
    section.checks += time_checks(section.title, results, columns)
    slower = [
        column
        for column, ratio in ratios(results, OURS, columns, SPECTRAL, "seconds").items()
        if ratio > 1
    ]
    if slower:
        section.notes.append(_why_slower(slower, columns, results))


def _why_slower(names: Sequence[str], columns: Columns, results: Results) -> str:
    """Why Algorithm 2 is slower than EM + Spectral in these columns."""
    said = []
    for name in names:
        sweeps = results.measured("sweeps", method=OURS, **columns[name])
        theirs = results.measured("seconds", method=SPECTRAL, **columns[name])
        if sweeps and theirs:
            said.append(f"{name} ({sweeps.mean:.0f} sweeps against {1000 * theirs.mean:.0f} ms)")
    return (
        f"{SPECTRAL} is ours too, compiled, and its time goes with the items. A sweep of {OURS} "
        "costs the same for few items as for many, since it goes over moments, and classes of a "
        f"few items take many sweeps. So it is the slower one at {'; '.join(said)}."
    )


def show_estimates(
    settings: Mapping[str, Columns], parameter: str, results: Results, section: Section
) -> None:
    """ε_CM and ε_π of Algorithm 2, a line a setting (Figures 2, 5 and 9)."""
    x = "N" if parameter == "n_items" else "M"
    rows = []
    for field, panel in (("confusion_error", "ε_CM"), ("prior_error", "ε_π")):
        for setting, columns in settings.items():
            for point in points(results, [OURS], along(columns, parameter), field, panel=panel):
                rows.append({**point, "method": setting})
        section.tables.append(estimates(f"{panel} of Algorithm 2", settings, field, results))
    chart = lines(rows, x, "mean error", panels=("ε_CM", "ε_π"), log_x=x == "N")
    caption = f"Errors of the confusion matrices (left) and of the prior (right) against {x}."
    section.pictures.append(Picture(section.name, caption, chart))


def estimates(title: str, settings: Mapping[str, Columns], field: str, results: Results) -> Table:
    """How far Algorithm 2's estimates are from the truth, setting by column."""
    measured = {}
    for setting, columns in settings.items():
        for column, where in columns.items():
            found = results.measured(field, method=OURS, **where)
            if found is not None:
                measured[setting, column] = found
    names = list(dict.fromkeys(column for _, column in measured))
    return Table(title, list(settings), names, {}, measured, "estimate")


def oracle_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """From 10⁴ items on, Algorithm 2 within 10 % of the oracle and ``fuse`` within 2 %."""
    many = {name: where for name, where in columns.items() if where["n_items"] >= MANY}
    found = []
    for row, limit in (("Alg. 2 MAP", 1.1), (FUSE, 1.02)):
        for column, ratio in ratios(results, row, many).items():
            found.append(at_most(f"{title}, {column}: {row} over Oracle MAP", ratio, limit, " ×"))
    return found


def time_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """Algorithm 2 against EM + Spectral and against plain Algorithm 1 of the same run."""
    found = []
    for column, ratio in ratios(results, OURS, columns, SPECTRAL, "seconds").items():
        what = f"{title}, {column}: seconds of {OURS} over {SPECTRAL}"
        found.append(at_most(what, ratio, 1.0, " ×"))
    first = {column: {**where, "seed": 0} for column, where in columns.items()}
    plain = ((IN_NUMPY, "seconds", "whole fits"), (PLAIN, "sweep_seconds", "sweeps alone"))
    for method, field, said in plain:
        for column, ratio in ratios(results, method, first, OURS, field).items():
            what = f"{title}, {column}: seconds of {method} over {OURS}, {said}"
            found.append(at_least(what, ratio, 10.0, " ×"))
    return found
