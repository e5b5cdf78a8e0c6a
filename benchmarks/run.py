"""Measure the numbers that the documentation quotes, print them, and write docs/benchmarks.md.

Run with ``make bench``. Times are ratios within one run, because seconds depend on the machine.
Datasets are read from the folder in BLINDFUSE_DATA; without it, their sections are left out. Named
sections, as in ``make bench SECTIONS="speed.response_sweeps trust.copying"``, are measured alone,
and the other sections of the page stay unchanged.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import ablation
import accuracy
import annotators
import audits
import awkward_tables
import clusterings
import crowd_kit
import expected_error
import machine_limits
import never_worse
import ratings
import reading
import scaling
import several_labels
import shapes
import side_by_side
import soft_voting
import speed
import startup
import symbols
import ten_million
import trust
import version_0_1
import voting
from report import Check, Section, environment, from_page, to_markdown, to_page, to_text

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

SECTIONS: list[Callable[[], Section]] = [
    accuracy.oracle,
    speed.acceleration,
    speed.majority_votes,
    accuracy.crowds,
    accuracy.held_out,
    accuracy.methods,
    accuracy.uniform_prior,
    accuracy.em_after_blind_ensemble,
    never_worse.all_tables_with_truth,
    never_worse.variants,
    never_worse.listed_items,
    never_worse.depth,
    ablation.parts,
    awkward_tables.generated,
    awkward_tables.ties,
    awkward_tables.no_information,
    trust.majority_vote,
    trust.independent,
    trust.ensembles,
    trust.copying,
    trust.intervals,
    trust.ordered,
    expected_error.left_out,
    expected_error.posteriors,
    expected_error.independent,
    expected_error.independent_small,
    expected_error.hard_families,
    annotators.simulated,
    annotators.families,
    annotators.public,
    annotators.order,
    annotators.diagnostics,
    trust.choosing_labels,
    audits.intervals,
    audits.decisions,
    audits.planning,
    voting.classifiers,
    soft_voting.probabilities,
    clusterings.kmeans_runs,
    clusterings.large,
    speed.response_sweeps,
    version_0_1.sweeps,
    accuracy.adversaries,
    speed.imports,
    shapes.tables,
    crowd_kit.labels,
    crowd_kit.cost,
    side_by_side.complete,
    side_by_side.sparse,
    machine_limits.counting,
    machine_limits.e_step,
    machine_limits.sparse_e_step,
    scaling.items,
    scaling.annotators,
    scaling.classes,
    ten_million.ten_million,
    startup.startup,
    startup.first_run,
    reading.long_csv,
    ratings.simulated,
    ratings.families,
    ratings.public,
    ratings.scale_errors,
    ratings.speed,
    several_labels.simulated,
    several_labels.families,
    several_labels.single_choices,
    symbols.scores,
    symbols.simulated,
    symbols.weak_supervision,
    symbols.cost,
]


def main(names: list[str]) -> None:
    known = {f"{measure.__module__}.{measure.__name__}": measure for measure in SECTIONS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"There is no section {unknown[0]}. The sections are {', '.join(known)}.")
    page = from_page(PAGE.read_text()) if names else {}
    checks: list[Check] = []
    for name in names or known:
        section = known[name]()
        print(to_text(section), flush=True)
        page[section.title] = to_markdown(section)
        PAGE.write_text(to_page(page, environment()))
        checks += section.checks
    failed = [check for check in checks if not check.passed]
    print(f"{len(checks) - len(failed)} of {len(checks)} checks passed.")
    for check in failed:
        print(f"  {check}")


if __name__ == "__main__":
    main(sys.argv[1:])
