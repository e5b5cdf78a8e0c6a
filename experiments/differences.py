"""Why a measured cell differs from the printed one, in words chosen by what was measured."""

from dataclasses import dataclass

from experiments.methods import (
    BEST,
    EIGEN,
    EM,
    OURS,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
)
from experiments.outcome import Table

APART = 0.1
"""A ratio to the oracle differs from the printed one if it is further away than this share."""
POINTS = 0.3
"""An error on a crowd, or a gain over the vote, differs if it is so many points away."""
FEW = ("N = 100", "N = 1,000")
"""Columns in which an item is a tenth of a percent or more."""
SHORT = 0.1
"""Seconds in which a call does little beside being called."""
SURE = 2.0
"""Standard errors of our mean within which a cell counts as reproduced."""

CAUSES = {
    "draw": "The paper does not say how Γ_m were drawn. This row shows how hard the drawn "
    "annotators are, not how good a method is.",
    "solver": "We start at the majority vote instead of at random, weigh moments by co-labelled "
    "items, accelerate sweeps, end them where they gain less than noise, and shrink matrices by "
    "learned pseudo-labels.",
    "few items": "With so few items, matrices are estimated from few answers a class, and how much "
    "that costs depends on how the annotators were drawn; runs differ by {deviation}.",
    "unexplained": "No cause is known: here we are worse than the paper.",
    "uniform prior": "EM without class shares moves items to rare classes, until the annotators "
    "hold them back; ours and the paper's hold by different amounts. With shares estimated, the "
    "row below, EM does not do so.",
    "one weight": "The method gives each annotator one weight and so takes both classes for "
    "equally hard; what that costs depends on how lopsided the drawn matrices are.",
    "singular vector": "The method reads labels off one singular vector, which mixes skill with "
    "class shares; what that costs depends on the draw.",
    "code": "Other code on another machine: compiled loops on {threads} threads against MATLAB's, "
    "moments counted on bit sets, and items with equal answers handled once.",
    "fixed costs": "Seconds this small are the fixed cost of a call.",
    "classifiers": "The classifiers are scikit-learn's, not MATLAB's, and were trained on other "
    "rows: who is how good, and who errs with whom, is different.",
    "dependence": "Classifiers trained on the same features err together. Methods that take them "
    "as independent drift away from the truth, how far depends on the classifiers; `fuse` "
    "measures that and steps back.",
    "crowd": "The answers are the same, so it is the method that differs in what its paper leaves "
    "open: signs, floors, and items on which it has no opinion, whose classes share the credit.",
    "ties": "Classes that tie, and all classes where nobody answered, share the credit here; the "
    "paper gives such items to one class.",
    "rounds": "The paper does not say how many rounds EM ran, nor where it started from a tie; on "
    "annotators who are not independent both move it far.",
    "few answers": "The answers are the same, so it is the method that differs: ours starts at the "
    "vote, weighs moments by co-labelled items and shrinks the matrices of annotators with few "
    "labels; `fuse` goes on with EM.",
    "all annotators": "The paper could only run its few busiest annotators; these are all.",
}
"""What each cause says; names in braces are filled with what was measured."""


@dataclass(frozen=True)
class Difference:
    """Cells of one row that differ the same way for the same reason."""

    row: str
    better: bool
    cells: list[str]
    why: str


def differences(table: Table, threads: int) -> list[Difference]:
    """All cells of a table that differ from print, row by row."""
    found: dict[tuple[str, bool, str], list[str]] = {}
    for row in table.rows:
        for column in table.columns:
            place = row, column
            both = place in table.printed and place in table.measured
            if both and _comparable(table, column):
                verdict = _verdict(table, row, column)
                if verdict is not None:
                    better, words = verdict
                    why = _why(table, row, column, better, threads)
                    found.setdefault((row, better, why), []).append(f"{column} ({words})")
    return [Difference(row, better, cells, why) for (row, better, why), cells in found.items()]


def reproduced(table: Table) -> int:
    """How many cells are printed and measured, and do not differ."""
    return sum(
        place in table.measured and _comparable(table, place[1]) and not _verdict(table, *place)
        for place in table.printed
    )


def _comparable(table: Table, column: str) -> bool:
    """Whether there is something to compare a cell with: the oracle or the vote of its column."""
    reference = table.measured.get((table.reference, column))
    return table.kind in ("time", "crowd") or (
        reference is not None and reference.mean > 0 and (table.reference, column) in table.printed
    )


def _verdict(table: Table, row: str, column: str) -> tuple[bool, str] | None:
    """Whether we are better, and by what; None where the cell is reproduced."""
    printed, ours = table.printed[row, column], table.measured[row, column]
    if table.kind == "time":
        ratio = printed / max(ours.mean, 1e-9)
        faster = f"{ratio:.3g} × as fast" if ratio >= 1 else f"{1 / ratio:.3g} × as slow"
        return (ratio > 1, faster) if abs(ratio - 1) > APART else None
    if table.kind == "crowd":
        apart = ours.mean - printed
        return (apart < 0, f"{apart:+.2f} points") if abs(apart) > POINTS else None
    reference, shown = (
        table.measured[table.reference, column],
        table.printed[table.reference, column],
    )
    if table.kind == "synthetic":
        if row == table.reference:
            beyond = abs(ours.mean - printed) > max(SURE * ours.standard_error, APART * printed)
            words = f"{ours.mean:.2f} %, printed {printed:.2f} %"
            return (ours.mean < printed, words) if beyond else None
        theirs, measured = printed / shown, ours.mean / reference.mean
        noise = SURE * ours.standard_error / reference.mean
        if abs(measured - theirs) <= max(APART * theirs, noise):
            return None
        return measured < theirs, f"{measured:.3g} × the oracle, printed {theirs:.3g} ×"
    if row == table.reference:
        beyond = abs(ours.mean - printed) > POINTS
        return (ours.mean < printed, f"{ours.mean - printed:+.2f} points") if beyond else None
    theirs, measured = printed - shown, ours.mean - reference.mean
    if abs(measured - theirs) <= max(POINTS, SURE * ours.standard_error):
        return None
    return measured < theirs, f"{measured:+.2f} points to the vote, printed {theirs:+.2f}"


def _why(table: Table, row: str, column: str, better: bool, threads: int) -> str:
    cause = _cause(table, row, column, better)
    return CAUSES[cause].format(
        deviation=f"{table.measured[row, column].deviation:.2g} points",
        threads=threads,
    )


def _cause(table: Table, row: str, column: str, better: bool) -> str:
    if table.kind == "time":
        short = table.measured[row, column].mean < SHORT
        return "fixed costs" if short and not better else "code"
    if table.kind == "crowd":
        if table.title.startswith("All") and column != "bird":
            return "all annotators"
        by_row = {VOTE: "ties", EM: "rounds", SPECTRAL: "rounds"}
        return "few answers" if row.startswith(OURS) else by_row.get(row, "crowd")
    if table.kind == "real":
        return "classifiers" if row in (BEST, VOTE, PUBLISHED_KOS, EIGEN, TE) else "dependence"
    if row.startswith(OURS):
        return "solver" if better else "few items" if column in FEW else "unexplained"
    by_row = {
        EM: "uniform prior",
        SPECTRAL: "uniform prior",
        PUBLISHED_KOS: "singular vector",
        EIGEN: "one weight",
        TE: "one weight",
        SML: "one weight",
    }
    return by_row.get(row, "draw")
