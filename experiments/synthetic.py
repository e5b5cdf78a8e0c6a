"""Tables I to VII and Figures 2 to 11: simulated annotators, one parameter varied at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from experiments.charts import line_chart
from experiments.experiment import (
    Check,
    Experiment,
    Figure,
    Section,
    Table,
    at_least,
    at_most,
    chart_points,
    mean_ratios,
    printed_cells,
    row_summary,
    tabulate,
)
from experiments.methods import (
    ALG_2,
    ALG_2_FIXED_PRIOR,
    EIGEN,
    EM,
    EM_PRIOR,
    FUSE,
    GROUP_COUNTS,
    NUMPY_ALG_1,
    ORACLE,
    PLAIN_ALG_1,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
    grouped_name,
)
from experiments.printed import PRINTED_ROWS
from experiments.results import Results
from experiments.scale import Scale
from experiments.settings import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_6,
    FIGURE_7,
    FIGURE_10,
    FIGURE_11,
    TABLE_1,
    TABLE_2,
    Setting,
)
from experiments.sweeps import (
    COLUMN_NAMES,
    Sweep,
    draw_errors,
    oracle_checks,
    show_errors,
    show_estimation_errors,
    show_times,
)

ShowChecks = Callable[[Sweep, Table, Results, Scale, Section], None]

SIZES, LARGE_SIZES = (100, 1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
ANNOTATORS = (5, 10, 20, 30)
SKILLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
ADVERSARIES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)

PEERS = (VOTE, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR)
BINARY_PEERS = (VOTE, PUBLISHED_KOS, EIGEN, TE, SML, EM, SPECTRAL, EM_PRIOR)
OURS = ("Alg. 2 ML", "Alg. 2 MAP", FUSE)
ORACLES = ("Oracle ML", "Oracle MAP")
GROUPED = tuple(map(grouped_name, GROUP_COUNTS))

CLOSE_RATIO = 1.1
"""Ratio of the paper's Algorithm 2 to its oracle up to which the two are called close."""
ROUNDING = 0.005
"""Half of the last digit that Tables I and II print."""
HALF = 0.5


def _errors(
    name: str,
    title: str,
    description: str,
    sweep: Sweep,
    peers: Sequence[str],
    show_checks: ShowChecks,
    oracles: Sequence[str] = ORACLES,
) -> Experiment:
    """Errors of methods at every value, with the figure if the paper has one."""
    rows = (*peers, *OURS, *oracles)

    def show(results: Results, scale: Scale, section: Section) -> None:
        table = show_errors(sweep, rows, results, scale, section, printed(name, sweep))
        if not table.printed:
            draw_errors(sweep, rows, results, scale, section)
        show_checks(sweep, table, results, scale, section)

    tasks = partial(sweep.tasks, (*peers, ALG_2, FUSE, ORACLE))
    return Experiment(name, title, description, tasks, show)


def _times(
    name: str, title: str, description: str, sweep: Sweep, methods: Sequence[str]
) -> Experiment:
    """Seconds of methods at every value; printed ones are comparable at the full size only."""

    def show(results: Results, scale: Scale, section: Section) -> None:
        is_fixed = sweep.parameter != "n_items"
        heading = "Seconds" + (f", N = {sweep.size(scale):,}" if is_fixed else "")
        is_full = not is_fixed or sweep.size(scale) == sweep.n_items
        times = printed(name, sweep) if is_full else {}
        show_times(heading, methods, sweep.columns(scale), times, results, section)

    description = f"Classification time in seconds, {description}"
    return Experiment(name, title, description, partial(sweep.tasks, methods), show)


def _estimates(name: str, title: str, description: str, *sweeps: Sweep) -> Experiment:
    """Errors of the confusion matrices and the prior of Algorithm 2."""

    def line(sweep: Sweep, scale: Scale) -> str:
        if sweep.parameter == "n_items":
            return sweep.setting.name
        return f"K = {len(sweep.setting.prior)}, N = {sweep.size(scale):,}"

    def show(results: Results, scale: Scale, section: Section) -> None:
        by_name = {line(sweep, scale): sweep for sweep in sweeps}
        show_estimation_errors(by_name, results, scale, section)

    return Experiment(
        name,
        title,
        description,
        lambda scale: [task for sweep in sweeps for task in sweep.tasks((ALG_2,), scale)],
        show,
    )


def printed(name: str, sweep: Sweep) -> dict[tuple[str, str], float]:
    """Return the paper's numbers of a table by row and column."""
    columns = [COLUMN_NAMES[sweep.parameter].format(value) for value in sweep.values]
    return printed_cells(columns, PRINTED_ROWS.get(name, {}))


def _check_two_classes(
    sweep: Sweep, table: Table, results: Results, scale: Scale, section: Section
) -> None:
    section.checks += oracle_checks(section.title, results, sweep.columns(scale))
    section.checks += close_to_oracle_checks(section.title, table)


def close_to_oracle_checks(title: str, table: Table) -> list[Check]:
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


def _check_many_classes(
    sweep: Sweep, table: Table, results: Results, scale: Scale, section: Section
) -> None:
    columns = sweep.columns(scale)
    checks = oracle_checks(section.title, results, columns)
    section.checks += checks
    if not all(check.passed for check in checks):
        section.notes.append(_rare_class_note(sweep.setting, scale))
    for column, ratio in mean_ratios(results, ALG_2_FIXED_PRIOR, columns, "Alg. 2 MAP").items():
        compared = f"{ALG_2_FIXED_PRIOR} over Alg. 2 MAP, “lower quality” in the paper"
        name = f"{section.title}, {column}: {compared}"
        section.checks.append(at_least(name, ratio, 1.0, " ×"))


def _rare_class_note(setting: Setting, scale: Scale) -> str:
    rarest = min(setting.prior)
    items = ", ".join(f"{rarest * size:.0f} at N = {size:,}" for size in scale.sizes(*LARGE_SIZES))
    return (
        f"The rarest class has {100 * rarest:.2g} % of the items: {items}. With a few dozen items, "
        "its contribution to the moments is below their sampling noise, so its column of a "
        "confusion matrix fits the noise and the class takes items from common classes. EM, with "
        "which `fuse` continues, is closer to the oracle."
    )


def _check_annotators(
    sweep: Sweep, table: Table, results: Results, scale: Scale, section: Section
) -> None:
    columns = sweep.columns(scale)
    errors = [row_summary(results, "Alg. 2 MAP", "error", **where) for where in columns.values()]
    means = [error.mean for error in errors if error is not None]
    decreases = all(late <= early for early, late in pairwise(means))
    shown = " → ".join(f"{mean:.3g}" for mean in means)
    name = f"{section.title}: the error of Alg. 2 MAP decreases with M"
    section.checks.append(Check(name, "decreasing", shown, decreases))
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", columns, VOTE).items():
        name = f"{section.title}, {column}: Alg. 2 MAP over {VOTE}"
        section.checks.append(at_most(name, ratio, 1.0, " ×"))


def _check_adversaries(
    sweep: Sweep, table: Table, results: Results, scale: Scale, section: Section
) -> None:
    columns = sweep.columns(scale)
    below = {column: where for column, where in columns.items() if where["adversaries"] < HALF}
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", below).items():
        name = f"{section.title}, {column}: Alg. 2 MAP over Oracle MAP"
        section.checks.append(at_most(name, ratio, 1.1, " ×"))
    above = {column: where for column, where in columns.items() if where["adversaries"] > HALF}
    for column, ratio in mean_ratios(results, "Alg. 2 MAP", above).items():
        name = f"{section.title}, {column}: Alg. 2 MAP fails, as every blind method must"
        section.checks.append(Check(name, "> 2 × Oracle MAP", f"{ratio:.3g} ×", ratio > 2))


def _check_skill(
    sweep: Sweep, table: Table, results: Results, scale: Scale, section: Section
) -> None:
    columns = sweep.columns(scale)
    vote = mean_ratios(results, VOTE, columns)
    for column, ratio in mean_ratios(results, FUSE, columns).items():
        name = f"{section.title}, {column}: {FUSE} at most {VOTE}, both over Oracle MAP"
        passed = ratio <= vote[column]
        section.checks.append(Check(name, f"≤ {vote[column]:.3g} ×", f"{ratio:.3g} ×", passed))


def _show_groups(results: Results, scale: Scale, section: Section) -> None:
    columns, by_size = IN_GROUPS.columns(scale), IN_GROUPS.by_value(scale)
    rows = (VOTE, *GROUPED, "Oracle MAP")
    section.tables = [
        tabulate(results, "Error in percent", rows, columns, {}, kind="synthetic"),
        tabulate(results, "Seconds", GROUPED, columns, {}, kind="time", field="seconds"),
    ]
    panels = "error %", "seconds"
    points = [
        *chart_points(results, rows, by_size, panel=panels[0]),
        *chart_points(results, GROUPED, by_size, "seconds", panel=panels[1]),
    ]
    chart = line_chart(points, "N", "", panels=panels)
    section.figures.append(Figure(section.name, "Error (left) and seconds (right).", chart))
    largest = dict([list(columns.items())[-1]])
    for method in GROUPED[1:]:
        for field, limit in (("error", 1.1), ("seconds", 1.0)):
            for column, ratio in mean_ratios(results, method, largest, GROUPED[0], field).items():
                name = f"{section.title}, {column}: {field} of {method} over L = 1"
                section.checks.append(at_most(name, ratio, limit, " ×"))


TWO_CLASSES = [Sweep(setting, "n_items", SIZES) for setting in (TABLE_1, TABLE_2)]
FIVE, SEVEN = (Sweep(setting, "n_items", LARGE_SIZES) for setting in (FIGURE_3, FIGURE_4))
MANY = [
    Sweep(setting, "n_annotators", ANNOTATORS, size)
    for setting, size in ((FIGURE_6, 1_000_000), (FIGURE_7, 1_000_000), (FIGURE_7, 5_000))
]
IN_GROUPS = Sweep(FIGURE_10, "n_items", LARGE_SIZES)
BY_ADVERSARIES = Sweep(FIGURE_11, "adversaries", ADVERSARIES, 1_000_000)
BY_SKILL = Sweep(FIGURE_3, "skill", SKILLS, 10_000)

_TIMED = (EM, SPECTRAL, EM_PRIOR, ALG_2)
_BASELINES = (PLAIN_ALG_1, NUMPY_ALG_1, FUSE)
_TIMED_CLASSES = (PUBLISHED_KOS, *_TIMED, ALG_2_FIXED_PRIOR, *_BASELINES)
_TIMED_ANNOTATORS = (PUBLISHED_KOS, *_TIMED, *_BASELINES)
_TWO = "K = 2, M = 10"
_FIVE = "K = 5, π = (0.2404, 0.2679, 0.0731, 0.1950, 0.2236), M = 10"
_SEVEN = "K = 7, π = (0.2347, 0.0230, 0.0705, 0.1477, 0.2659, 0.0043, 0.2539), M = 10"
_THREE_BY_M = "K = 3, π = (0.2318, 0.4713, 0.2969)"
_FIVE_BY_M = "K = 5, π = (0.3596, 0.1553, 0.1229, 0.3258, 0.0364)"
_ERROR = "Classification error,"

EXPERIMENTS = [
    _errors(
        *("table1", "Table I", f"{_ERROR} {_TWO}, π = (0.9003, 0.0997)."),
        *(TWO_CLASSES[0], BINARY_PEERS, _check_two_classes),
    ),
    _errors(
        *("table2", "Table II", f"{_ERROR} {_TWO}, π = (0.5856, 0.4144)."),
        *(TWO_CLASSES[1], BINARY_PEERS, _check_two_classes),
    ),
    _times(
        *("table3", "Table III", f"{_TWO}, π = (0.5856, 0.4144)."),
        *(TWO_CLASSES[1], (PUBLISHED_KOS, EIGEN, TE, SML, *_TIMED, *_BASELINES)),
    ),
    _estimates(
        *("figure2", "Figure 2", f"Estimation errors of Algorithm 2, {_TWO}."), *TWO_CLASSES
    ),
    _errors(
        *("figure3", "Figure 3", f"{_ERROR} {_FIVE}."),
        *(FIVE, (*PEERS, ALG_2_FIXED_PRIOR), _check_many_classes),
    ),
    _times("table4", "Table IV", f"{_FIVE}.", FIVE, _TIMED_CLASSES),
    _errors(
        *("figure4", "Figure 4", f"{_ERROR} {_SEVEN}."),
        *(SEVEN, (*PEERS, ALG_2_FIXED_PRIOR), _check_many_classes),
    ),
    _times("table5", "Table V", f"{_SEVEN}.", SEVEN, _TIMED_CLASSES),
    _estimates(
        *("figure5", "Figure 5", "Estimation errors of Algorithm 2, K = 5 and K = 7, M = 10."),
        *(FIVE, SEVEN),
    ),
    _errors(
        *("figure6", "Figure 6", f"{_ERROR} {_THREE_BY_M}, N = 10⁶."),
        *(MANY[0], PEERS, _check_annotators),
    ),
    _times("table6", "Table VI", f"{_THREE_BY_M}, N = 10⁶.", MANY[0], _TIMED_ANNOTATORS),
    _errors(
        *("figure7", "Figure 7", f"{_ERROR} {_FIVE_BY_M}, N = 10⁶."),
        *(MANY[1], PEERS, _check_annotators),
    ),
    _times("table7", "Table VII", f"{_FIVE_BY_M}, N = 10⁶.", MANY[1], _TIMED_ANNOTATORS),
    _errors(
        *("figure8", "Figure 8", f"{_ERROR} {_FIVE_BY_M}, N = 5,000."),
        *(MANY[2], PEERS, _check_annotators),
    ),
    _estimates(
        *("figure9", "Figure 9", "Estimation errors of Algorithm 2 against M, K = 3 and K = 5."),
        *MANY,
    ),
    Experiment(
        "figure10",
        "Figure 10",
        "Error and time with annotators in L groups, K = 3, π = (0.3096, 0.3416, 0.3488), M = 30.",
        partial(IN_GROUPS.tasks, (VOTE, *GROUPED, ORACLE)),
        _show_groups,
    ),
    _errors(
        "figure11",
        "Figure 11",
        "Error with a share α of adversaries, K = 3, π = (0.31, 0.34, 0.35), N = 10⁶, M = 10. "
        "The rows of an adversary's confusion matrix are shifted by one class. The paper stops at "
        "50 %.",
        *(BY_ADVERSARIES, PEERS, _check_adversaries, ORACLES[1:]),
    ),
]

SKILL = _errors(
    "skill",
    "Skill",
    "The paper only says that Γ_m are drawn at random and better than random. Here each column "
    "is uniform on the simplex with its largest entry on the diagonal, mixed with the identity "
    "with weight skill: skill 0, used in all other experiments, is the unmixed column, "
    "and skill 1 is a perfect annotator. K = 5, π of Figure 3, M = 10.",
    *(BY_SKILL, PEERS, _check_skill, ORACLES[1:]),
)
"""How the results depend on the skill of the annotators, which the paper does not state."""
