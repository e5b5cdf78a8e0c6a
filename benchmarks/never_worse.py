"""fuse compared with the majority vote on every table that has a truth, by family."""

from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from experiments.calibration_tables import tables_with_truth
from experiments.table_variants import MAX_ITEMS
from measured_tables import Record, measure_tables
from report import Check, Section, public_data

Floats = NDArray[np.float64]

MIN_GAIN = {
    "crowds": 3.6,
    "APIs": 2.8,
    "juries": 4.5,
    "weak supervision": 2.9,
    "trained ensembles": 0.27,
}
"""Points by which the mean error of a family must be below the vote's."""
MAX_ABOVE, MAX_EXCESS = 2, 2.0
"""Tables that may be above their limit, and points by which these may be worse than the vote."""
VARIANT_SEEDS = range(2)
MAX_VARIANTS_ABOVE = 0.05
"""Share of variants on which fuse may exceed its limit; noise alone exceeds 2.3 % of them."""
MANY_LISTED = 0.95
"""Share of listed items from which on a list is useless."""
LIMIT_NOTE = (
    "The limit is 0.3 points, and at least two standard errors of the paired difference, which a "
    "method that is as good as the vote exceeds in 2.3 % of the tables."
)


def all_tables_with_truth() -> Section:
    """Error of fuse minus the vote's on every table, and its mean by family."""
    section = Section(
        "fuse compared with the majority vote on every table with a truth, error %",
        ["family", "table", "vote", "fuse", "difference", "limit", "expected", "method"],
    )
    folder = public_data()
    records = measure_tables(tables_with_truth(folder))
    records.sort(key=_family)
    for record in records:
        errors = record.errors
        cells = [f"{x:.2f}" for x in (errors.vote, errors.fused, errors.difference, errors.limit)]
        cells.append("" if record.expected is None else f"{100 * record.expected:.1f}")
        section.rows.append([_family(record), record.name, *cells, record.method])
    above = [record for record in records if record.errors.is_above]
    stored = [record for record in above if _family(record) != "trained ensembles"]
    worst = max(record.errors.difference for record in records)
    primes = next(record for record in records if record.name == "llm_primes")
    section.checks = [
        Check("tables above their limit, without trained ensembles", len(stored), MAX_ABOVE),
        Check("tables above their limit", len(above), MAX_ABOVE),
        Check("largest difference, points", worst, MAX_EXCESS),
        Check("llm_primes: fuse minus the vote, points", primes.errors.difference, 0.0),
        *(_gain(records, family) for family in MIN_GAIN),
    ]
    named = "; ".join(
        f"{one.name} by {one.errors.difference:.2f} (limit {one.errors.limit:.2f})" for one in above
    )
    section.note = (
        f"{LIMIT_NOTE} Above it: {named or 'none'}. Juries are the four sets of LLM judges; the "
        "networks of shape_* count as crowds. Trained ensembles are fifteen classifiers as in "
        "Section V-B and eleven others, none of them trained on the rows it labels."
    )
    return section


def _family(record: Record) -> str:
    """The family by which gains are averaged."""
    if record.family == "ensembles" and " " in record.name:
        return "trained ensembles"
    return {"shapes": "crowds", "ensembles": "other ensembles"}.get(record.family, record.family)


def _gain(records: list[Record], family: str) -> Check:
    gains = [-record.errors.difference for record in records if _family(record) == family]
    name = f"{family}: mean gain over the vote on {len(gains)} tables, points"
    return Check(name, fmean(gains), MIN_GAIN[family], at_most=False)


def variants() -> Section:
    """Error of fuse minus the vote's on variants of all tables, by family and variant."""
    section = Section(
        "fuse compared with the majority vote on variants of the tables, points",
        ["family", "variant", "tables", "vote %", "mean difference", "above the limit", "largest"],
    )
    folder = public_data()
    tables = list(tables_with_truth(folder))
    records = [one for seed in VARIANT_SEEDS for one in measure_tables(tables, seed)]
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=_family):
        groups.setdefault((_family(record), record.variant), []).append(record)
    groups["all", "all"] = records
    for (family, variant), found in groups.items():
        section.rows.append([family, variant, str(len(found)), *_summarize(found)])
    above = fmean(record.errors.is_above for record in records)
    difference = fmean(record.errors.difference for record in records)
    section.checks = [
        Check("share of tables above their limit, %", 100 * above, 100 * MAX_VARIANTS_ABOVE),
        Check("mean difference, points", difference, 0.0),
    ]
    section.note = (
        f"Each table with a truth, at most {MAX_ITEMS:,} items of it, {len(VARIANT_SEEDS)} draws "
        f"of each variant (experiments/table_variants.py). {LIMIT_NOTE} The constants of the rule "
        "were chosen with other draws of these variants in view."
    )
    return section


def _summarize(found: list[Record]) -> list[str]:
    differences = [record.errors.difference for record in found]
    above = sum(record.errors.is_above for record in found)
    vote = fmean(record.errors.vote for record in found)
    return [f"{vote:.1f}", f"{fmean(differences):+.2f}", str(above), f"{max(differences):+.1f}"]


def listed_items() -> Section:
    """How many items one more response could change, and how many of these are wrong."""
    section = Section(
        "Items that need another label",
        ["family", "table", "responses per item", "listed %", "error % of listed", "of the others"],
    )
    folder = public_data()
    tables = list(tables_with_truth(folder))
    records = measure_tables(tables)
    for record in sorted(records, key=_family):
        listed = record.listed
        errors = [
            "" if x is None else f"{100 * x:.1f}" for x in (listed.error, listed.error_of_others)
        ]
        number = f"{record.responses_per_item:.1f}"
        row = [_family(record), record.name, number, f"{100 * listed.share:.1f}", *errors]
        section.rows.append(row)
    several = [
        one
        for one in records + measure_tables(tables, VARIANT_SEEDS[0])
        if one.responses_per_item >= 3
    ]
    many = fmean(record.listed.share >= MANY_LISTED for record in several)
    error, others = _mean_errors(records)
    section.checks = [
        Check(
            f"share of {len(several)} tables and variants with three or more responses per item "
            "that list at least 95 % of the items, %",
            100 * many,
            2.0,
        ),
        Check("mean error of listed items / of the others", error / others, 2.0, at_most=False),
    ]
    section.note = (
        "An item is listed if one more response, by a good annotator, could change its label. The "
        "errors are averaged over tables that have items with a truth on either side."
    )
    return section


def _mean_errors(records: list[Record]) -> tuple[float, float]:
    """The mean error of listed items and of the others."""
    both = [
        (listed.error, listed.error_of_others)
        for listed in (record.listed for record in records)
        if listed.error is not None and listed.error_of_others is not None
    ]
    error, others = np.mean(both, axis=0)
    return float(error), float(others)
