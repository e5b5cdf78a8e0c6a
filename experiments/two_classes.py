"""Tables I to III and Figure 2: two classes, ten annotators, 100 to 100,000 items."""

from functools import partial

from experiments.common import columns_by_size, oracle_checks, show_estimation_errors, show_times
from experiments.experiment import (
    Cell,
    Check,
    Experiment,
    Section,
    Table,
    printed_cells,
    tabulate,
)
from experiments.methods import (
    ALG_2,
    EIGEN,
    EM,
    EM_PRIOR,
    FUSE,
    NUMPY_ALG_1,
    ORACLE,
    PLAIN_ALG_1,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
)
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import TABLE_1, TABLE_2, Setting
from experiments.tasks import Task, synthetic_tasks

SIZES = (100, 1_000, 10_000, 100_000)
NAMES = [f"N = {size:,}" for size in SIZES]
OTHERS = (VOTE, PUBLISHED_KOS, EIGEN, TE, SML, EM, SPECTRAL, EM_PRIOR)
METHODS = (*OTHERS, ALG_2, FUSE, ORACLE)
ROWS = (*OTHERS, "Alg. 2 ML", "Alg. 2 MAP", FUSE, "Oracle ML", "Oracle MAP")
TIMED = (
    PUBLISHED_KOS,
    EIGEN,
    TE,
    SML,
    EM,
    SPECTRAL,
    EM_PRIOR,
    ALG_2,
    PLAIN_ALG_1,
    NUMPY_ALG_1,
    FUSE,
)

CLOSE_RATIO = 1.1
"""Ratio of the paper's Algorithm 2 to its oracle up to which the two are called close."""
ROUNDING = 0.005
"""Half of the last digit that Tables I and II print."""

PRINTED_1 = printed_cells(
    NAMES,
    {
        VOTE: (6.3, 7.08, 7.04, 7.13),
        PUBLISHED_KOS: (27.70, 33.33, 32.21, 32.53),
        EIGEN: (6.30, 5.75, 5.69, 5.64),
        TE: (4.20, 4.91, 4.61, 4.67),
        SML: (15.80, 11.38, 11.82, 12.26),
        EM: (21.2, 27.67, 26.50, 27.01),
        SPECTRAL: (17.7, 27.72, 26.50, 27.01),
        "Alg. 2 ML": (6.30, 2.70, 1.97, 1.87),
        "Alg. 2 MAP": (2.40, 1.40, 1.13, 1.11),
        "Oracle ML": (1.6, 2.05, 1.81, 1.86),
        "Oracle MAP": (1.1, 1.31, 1.11, 1.11),
    },
)
PRINTED_2 = printed_cells(
    NAMES,
    {
        VOTE: (8.10, 8.27, 8.27, 8.19),
        PUBLISHED_KOS: (8.30, 6.46, 6.65, 6.58),
        EIGEN: (7.40, 6.35, 6.39, 6.21),
        TE: (10.20, 6.04, 6.35, 6.20),
        SML: (13.10, 8.47, 4.66, 4.61),
        EM: (6.60, 5.15, 4.93, 4.87),
        SPECTRAL: (6.60, 5.15, 4.93, 4.87),
        "Alg. 2 ML": (6.50, 4.86, 4.66, 4.61),
        "Alg. 2 MAP": (6.20, 4.85, 4.59, 4.51),
        "Oracle ML": (4.10, 4.86, 4.66, 4.61),
        "Oracle MAP": (3.90, 4.81, 4.58, 4.50),
    },
)
PRINTED_3 = printed_cells(
    NAMES,
    {
        PUBLISHED_KOS: (0.013, 0.004, 0.005, 0.05),
        EIGEN: (0.003, 0.002, 0.005, 0.03),
        TE: (0.003, 0.001, 0.012, 0.10),
        SML: (0.04, 0.09, 0.76, 11.98),
        EM: (0.01, 0.02, 0.12, 1.47),
        SPECTRAL: (1.48, 1.55, 1.58, 3.00),
        ALG_2: (1.82, 2.32, 2.05, 3.01),
    },
)


def _tasks(setting: Setting, methods: tuple[str, ...], scale: Scale) -> list[Task]:
    return synthetic_tasks(setting, methods, scale.sizes(*SIZES), scale.seeds)


def _show_errors(
    setting: Setting,
    printed: dict[Cell, float],
    results: Results,
    scale: Scale,
    section: Section,
) -> None:
    columns = columns_by_size(setting, SIZES, scale)
    table = tabulate(
        results,
        "Error in percent",
        ROWS,
        columns,
        printed,
        kind="synthetic",
        reference="Oracle MAP",
    )
    section.tables.append(table)
    section.checks += oracle_checks(section.title, results, columns)
    section.checks += _close_to_oracle_checks(section.title, table)


def _close_to_oracle_checks(title: str, table: Table) -> list[Check]:
    """Where the paper is close to its oracle, blindfuse must be at least as close to its own.

    The paper's ratio is the largest that its rounded numbers allow.
    """
    checks = []
    for column in table.columns:
        for rule in ("MAP", "ML"):
            row, oracle = (f"Alg. 2 {rule}", column), (f"Oracle {rule}", column)
            if row not in table.printed or table.measured[oracle].mean == 0:
                continue
            if table.printed[row] / table.printed[oracle] > CLOSE_RATIO:
                continue
            limit = (table.printed[row] + ROUNDING) / (table.printed[oracle] - ROUNDING)
            ratio = table.measured[row].mean / table.measured[oracle].mean
            name = f"{title}, {column}: {row[0]} over {oracle[0]}, where the paper is close"
            checks.append(Check(name, f"≤ {limit:.4f} ×", f"{ratio:.4f} ×", ratio <= limit))
    return checks


def _show_times(results: Results, scale: Scale, section: Section) -> None:
    show_times(
        "Seconds", TIMED, columns_by_size(TABLE_2, SIZES, scale), PRINTED_3, results, section
    )


def _show_estimation_errors(results: Results, scale: Scale, section: Section) -> None:
    settings = {
        setting.name: columns_by_size(setting, SIZES, scale) for setting in (TABLE_1, TABLE_2)
    }
    show_estimation_errors(settings, "n_items", results, section)


_SHARED = "K = 2, M = 10"
EXPERIMENTS = [
    Experiment(
        "table1",
        "Table I",
        f"Classification error, {_SHARED}, π = (0.9003, 0.0997).",
        partial(_tasks, TABLE_1, METHODS),
        partial(_show_errors, TABLE_1, PRINTED_1),
    ),
    Experiment(
        "table2",
        "Table II",
        f"Classification error, {_SHARED}, π = (0.5856, 0.4144).",
        partial(_tasks, TABLE_2, METHODS),
        partial(_show_errors, TABLE_2, PRINTED_2),
    ),
    Experiment(
        "table3",
        "Table III",
        f"Classification time in seconds, {_SHARED}, π = (0.5856, 0.4144).",
        partial(_tasks, TABLE_2, TIMED),
        _show_times,
    ),
    Experiment(
        "figure2",
        "Figure 2",
        f"Estimation errors of Algorithm 2, {_SHARED}.",
        lambda scale: _tasks(TABLE_1, (ALG_2,), scale) + _tasks(TABLE_2, (ALG_2,), scale),
        _show_estimation_errors,
    ),
]
