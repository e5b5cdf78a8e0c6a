"""Tables, figures and checks that several experiments share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.charts import line_chart
from experiments.experiment import (
    Cell,
    Check,
    Columns,
    Figure,
    Section,
    Table,
    at_least,
    at_most,
    chart_points,
    mean_ratios,
    tabulate,
)
from experiments.methods import ALG_2, FUSE, NUMPY_ALG_1, PLAIN_ALG_1, SPECTRAL
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import Setting
from experiments.tasks import Task, synthetic_tasks

ORACLE_MIN_ITEMS = 10_000
"""Number of items from which the error must be close to that of the oracle."""


def columns_by_size(setting: Setting, sizes: Iterable[int], scale: Scale) -> Columns:
    """Return one column per number of items."""
    return {
        f"N = {size:,}": {"source": setting.name, "n_items": size} for size in scale.sizes(*sizes)
    }


@dataclass(frozen=True)
class ParameterGrid:
    """A setting with a fixed number of items and several values of one task parameter.

    ``column_name`` formats a value, as in ``"M = {}"``.
    """

    setting: Setting
    n_items: int
    parameter: str
    values: tuple[float, ...]
    column_name: str

    def size(self, scale: Scale) -> int:
        """Return the number of items at this scale."""
        return scale.sizes(self.n_items)[0]

    def columns(self, scale: Scale) -> Columns:
        """Return one column per value."""
        shared = {"source": self.setting.name, "n_items": self.size(scale)}
        return {
            self.column_name.format(value): {**shared, self.parameter: value}
            for value in self.values
        }

    def tasks(self, methods: Sequence[str], scale: Scale) -> list[Task]:
        """Return one task per method, value and seed."""
        sizes = scale.sizes(self.n_items)
        return [
            task
            for value in self.values
            for task in synthetic_tasks(
                self.setting, methods, sizes, scale.seeds, **{self.parameter: value}
            )
        ]


def columns_by_value(columns: Columns, parameter: str) -> dict[float, Mapping[str, object]]:
    """Return the columns by the value of the parameter in which they differ."""
    return {float(where[parameter]): where for where in columns.values()}


def show_times(
    title: str,
    methods: Sequence[str],
    columns: Columns,
    printed: Mapping[Cell, float],
    results: Results,
    section: Section,
) -> None:
    """Add a table of seconds and its checks."""
    section.tables.append(
        tabulate(results, title, methods, columns, printed, kind="time", field="seconds")
    )
    section.checks += time_checks(section.title, results, columns)
    slower = [
        column
        for column, ratio in mean_ratios(results, ALG_2, columns, SPECTRAL, "seconds").items()
        if ratio > 1
    ]
    if slower:
        section.notes.append(_slower_note(slower, columns, results))


def _slower_note(names: Sequence[str], columns: Columns, results: Results) -> str:
    """Explain why Algorithm 2 is slower than EM + Spectral in these columns."""
    details = []
    for name in names:
        sweeps = results.summary("sweeps", method=ALG_2, **columns[name])
        spectral = results.summary("seconds", method=SPECTRAL, **columns[name])
        if sweeps and spectral:
            milliseconds = 1000 * spectral.mean
            details.append(f"{name} ({sweeps.mean:.0f} sweeps against {milliseconds:.0f} ms)")
    return (
        f"{SPECTRAL} is blindfuse's own compiled code, and its time is proportional to the number "
        f"of items. The time of a sweep of {ALG_2} does not depend on the number of items, because "
        "it uses moments, and classes with few items need many sweeps. So "
        f"{ALG_2} is slower at {'; '.join(details)}."
    )


def show_estimation_errors(
    settings: Mapping[str, Columns], parameter: str, results: Results, section: Section
) -> None:
    """Add ε_CM and ε_π of Algorithm 2, one line per setting (Figures 2, 5 and 9)."""
    x = "N" if parameter == "n_items" else "M"
    points = []
    for field, panel in (("confusion_error", "ε_CM"), ("prior_error", "ε_π")):
        for setting, columns in settings.items():
            by_value = columns_by_value(columns, parameter)
            for point in chart_points(results, [ALG_2], by_value, field, panel=panel):
                points.append({**point, "method": setting})
        title = f"{panel} of Algorithm 2"
        section.tables.append(estimation_error_table(title, settings, field, results))
    chart = line_chart(points, x, "mean error", panels=("ε_CM", "ε_π"), log_x=x == "N")
    caption = f"Errors of the confusion matrices (left) and of the prior (right) against {x}."
    section.figures.append(Figure(section.name, caption, chart))


def estimation_error_table(
    title: str, settings: Mapping[str, Columns], field: str, results: Results
) -> Table:
    """Return the errors of Algorithm 2's estimates by setting and column."""
    measured = {
        (setting, column): summary
        for setting, columns in settings.items()
        for column, where in columns.items()
        if (summary := results.summary(field, method=ALG_2, **where)) is not None
    }
    names = list(dict.fromkeys(column for _, column in measured))
    return Table(title, list(settings), names, {}, measured, "estimate")


def oracle_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """From 10⁴ items on, Algorithm 2 must be within 10 % of the oracle and ``fuse`` within 2 %."""
    large = {name: where for name, where in columns.items() if where["n_items"] >= ORACLE_MIN_ITEMS}
    return [
        at_most(f"{title}, {column}: {row} over Oracle MAP", ratio, limit, " ×")
        for row, limit in (("Alg. 2 MAP", 1.1), (FUSE, 1.02))
        for column, ratio in mean_ratios(results, row, large).items()
    ]


def time_checks(title: str, results: Results, columns: Columns) -> list[Check]:
    """Compare the time of Algorithm 2 with EM + Spectral and unaccelerated Algorithm 1."""
    checks = []
    for column, ratio in mean_ratios(results, ALG_2, columns, SPECTRAL, "seconds").items():
        name = f"{title}, {column}: seconds of {ALG_2} over {SPECTRAL}"
        checks.append(at_most(name, ratio, 1.0, " ×"))
    first_run = {column: {**where, "seed": 0} for column, where in columns.items()}
    baselines = (
        (NUMPY_ALG_1, "seconds", "whole fit"),
        (PLAIN_ALG_1, "sweep_seconds", "sweeps only"),
    )
    for method, field, scope in baselines:
        for column, ratio in mean_ratios(results, method, first_run, ALG_2, field).items():
            name = f"{title}, {column}: seconds of {method} over {ALG_2}, {scope}"
            checks.append(at_least(name, ratio, 10.0, " ×"))
    return checks
