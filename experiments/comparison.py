"""Compare measured with printed numbers, and explain the differences."""

from dataclasses import dataclass

from experiments.experiment import Table
from experiments.methods import (
    ALG_2,
    BEST,
    EIGEN,
    EM,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
)

RATIO_TOLERANCE = 0.1
"""Maximum relative difference of a ratio or a time from the printed one."""
POINT_TOLERANCE = 0.3
"""Maximum difference in percentage points of an error on real data from the printed one."""
STANDARD_ERRORS = 2.0
"""A mean within this number of standard errors of the printed number is reproduced."""
FEW_ITEMS = ("N = 100", "N = 1,000")
"""Columns in which one item is at least a tenth of a percent."""
SHORT_SECONDS = 0.1
"""Time below which the fixed cost of a call dominates."""

EXPLANATIONS = {
    "draw": "The paper does not say how Γ_m were drawn. This row depends on the drawn annotators "
    "more than on the method.",
    "solver": "blindfuse starts at the majority vote instead of at random, weights moments by the "
    "number of co-labelled items, accelerates sweeps, stops when the gain is below the sampling "
    "noise, and shrinks confusion matrices by learned pseudo-counts.",
    "few items": "With so few items, each column of a confusion matrix is estimated from few "
    "responses, and the cost depends on the drawn annotators; the standard deviation over runs is "
    "{deviation}.",
    "unexplained": "The cause is not known: blindfuse is worse than the paper here.",
    "uniform prior": "EM with a uniform prior assigns too many items to rare classes; how many "
    "depends on the drawn annotators. EM with an estimated prior, the row “EM + MV, π estimated”, "
    "does not.",
    "one weight": "The method gives each annotator one weight, which treats both classes as "
    "equally hard; the cost depends on how asymmetric the drawn confusion matrices are.",
    "singular vector": "The method reads labels from one singular vector, which mixes annotator "
    "skill with the class prior; the cost depends on the drawn annotators.",
    "code": "The code and the machine differ: compiled loops on {threads} threads instead of "
    "MATLAB, moments counted on bit sets, and items with equal responses processed once.",
    "fixed costs": "The time is dominated by the fixed cost of a call.",
    "classifiers": "The classifiers are scikit-learn's instead of MATLAB's and were trained on "
    "other rows, so their accuracies and correlated errors differ.",
    "dependence": "Classifiers trained on the same features have correlated errors. Methods that "
    "assume conditional independence lose accuracy, by an amount that depends on the classifiers; "
    "`fuse` measures the correlation and chooses its method accordingly.",
    "crowd": "The responses are the same, so the difference is in what the method's paper leaves "
    "open: signs, lower bounds, and items without a preferred class, which count as a tie of all "
    "classes here.",
    "ties": "Tied classes, and all classes of an item without responses, share the item here; the "
    "paper assigns such an item to one class.",
    "iterations": "The paper does not give the number of EM iterations, nor how ties are broken in "
    "the start; with dependent annotators both change the result considerably.",
    "few responses": "The responses are the same, so the method differs: blindfuse starts at the "
    "majority vote, weights moments by co-labelled items and shrinks the confusion matrices of "
    "annotators with few labels; `fuse` continues with EM.",
    "all annotators": "The paper could only use its few most active annotators; this row uses all.",
}
"""Explanations of differences; names in braces are replaced by measured values."""


@dataclass(frozen=True)
class Difference:
    """Cells of one row that differ in the same direction for the same reason."""

    row: str
    better: bool
    cells: list[str]
    explanation: str


def find_differences(table: Table, threads: int) -> list[Difference]:
    """Return all cells of a table that differ from the printed ones, grouped by row and reason."""
    cells: dict[tuple[str, bool, str], list[str]] = {}
    for row in table.rows:
        for column in table.columns:
            in_both = (row, column) in table.printed and (row, column) in table.measured
            if in_both and _is_comparable(table, column):
                difference = _difference(table, row, column)
                if difference is not None:
                    better, amount = difference
                    explanation = _explanation(table, row, column, better, threads)
                    cells.setdefault((row, better, explanation), []).append(f"{column} ({amount})")
    return [Difference(*key[:2], names, key[2]) for key, names in cells.items()]


def count_reproduced(table: Table) -> int:
    """Count the cells that are printed and measured, and do not differ."""
    return sum(
        cell in table.measured and _is_comparable(table, cell[1]) and not _difference(table, *cell)
        for cell in table.printed
    )


def _is_comparable(table: Table, column: str) -> bool:
    """Return whether the column has the reference that its cells are compared by, if any."""
    reference = table.measured.get((table.reference, column))
    return table.kind in ("time", "crowd") or (
        reference is not None and reference.mean > 0 and (table.reference, column) in table.printed
    )


def _difference(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    """Return whether the cell is better than printed, and by how much; None if reproduced."""
    compare = {
        "time": _difference_in_time,
        "crowd": _difference_in_points,
        "synthetic": _difference_from_oracle,
        "real": _difference_from_vote,
    }
    return compare[table.kind](table, row, column)


def _difference_in_time(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    speedup = table.printed[row, column] / max(table.measured[row, column].mean, 1e-9)
    if abs(speedup - 1) <= RATIO_TOLERANCE:
        return None
    return speedup > 1, (
        f"{speedup:.3g} × as fast" if speedup >= 1 else f"{1 / speedup:.3g} × as slow"
    )


def _difference_in_points(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    difference = table.measured[row, column].mean - table.printed[row, column]
    if abs(difference) <= POINT_TOLERANCE:
        return None
    return difference < 0, f"{difference:+.2f} points"


def _difference_from_oracle(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    """Compare ratios to the oracle of the same column; compare the oracle by its error."""
    printed, measured = table.printed[row, column], table.measured[row, column]
    if row == table.reference:
        noise = STANDARD_ERRORS * measured.standard_error
        if abs(measured.mean - printed) <= max(noise, RATIO_TOLERANCE * printed):
            return None
        return measured.mean < printed, f"{measured.mean:.2f} %, printed {printed:.2f} %"
    oracle = table.measured[table.reference, column].mean
    printed_ratio = printed / table.printed[table.reference, column]
    ratio = measured.mean / oracle
    noise = STANDARD_ERRORS * measured.standard_error / oracle
    if abs(ratio - printed_ratio) <= max(RATIO_TOLERANCE * printed_ratio, noise):
        return None
    return ratio < printed_ratio, f"{ratio:.3g} × the oracle, printed {printed_ratio:.3g} ×"


def _difference_from_vote(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    """Compare differences from the majority vote; compare the majority vote by its error."""
    if row == table.reference:
        return _difference_in_points(table, row, column)
    measured = table.measured[row, column]
    printed_gap = table.printed[row, column] - table.printed[table.reference, column]
    gap = measured.mean - table.measured[table.reference, column].mean
    if abs(gap - printed_gap) <= max(POINT_TOLERANCE, STANDARD_ERRORS * measured.standard_error):
        return None
    return gap < printed_gap, f"{gap:+.2f} points from the vote, printed {printed_gap:+.2f}"


def _explanation(table: Table, row: str, column: str, better: bool, threads: int) -> str:
    return EXPLANATIONS[_explanation_key(table, row, column, better)].format(
        deviation=f"{table.measured[row, column].deviation:.2g} points",
        threads=threads,
    )


def _explanation_key(table: Table, row: str, column: str, better: bool) -> str:
    if table.kind == "time":
        is_short = table.measured[row, column].mean < SHORT_SECONDS
        return "fixed costs" if is_short and not better else "code"
    if table.kind == "crowd":
        if table.title.startswith("All") and column != "bird":
            return "all annotators"
        by_row = {VOTE: "ties", EM: "iterations", SPECTRAL: "iterations"}
        return "few responses" if row.startswith(ALG_2) else by_row.get(row, "crowd")
    if table.kind == "real":
        return "classifiers" if row in (BEST, VOTE, PUBLISHED_KOS, EIGEN, TE) else "dependence"
    if row.startswith(ALG_2):
        return "solver" if better else "few items" if column in FEW_ITEMS else "unexplained"
    by_row = {
        EM: "uniform prior",
        SPECTRAL: "uniform prior",
        PUBLISHED_KOS: "singular vector",
        EIGEN: "one weight",
        TE: "one weight",
        SML: "one weight",
    }
    return by_row.get(row, "draw")
