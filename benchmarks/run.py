"""Measure the numbers that the documentation quotes, print them, and write docs/benchmarks.md.

Run with ``make bench``. Times are ratios within one run, because seconds depend on the machine.
Datasets are read from the folder in BLINDFUSE_DATA; without it, their sections stay as they are.
Named sections, as in ``make bench SECTIONS="speed.acceleration trust.ordered"``, are measured
alone, and the other sections of the page stay unchanged.
"""

import sys
from importlib import import_module
from pathlib import Path

from report import (
    Check,
    NoData,
    Section,
    View,
    draw,
    environment,
    from_page,
    to_markdown,
    to_page,
    to_text,
    write_table,
)

ROOT = Path(__file__).parents[1]
PAGE, FIGURES, TABLES = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "figures", ROOT / "bench"

SECTIONS = (
    "accuracy.oracle",
    "speed.acceleration",
    "speed.majority_votes",
    "accuracy.held_out",
    "accuracy.methods",
    "accuracy.em_after_blind_ensemble",
    "never_worse.all_tables_with_truth",
    "never_worse.variants",
    "never_worse.listed_items",
    "ablation.parts",
    "awkward_tables.generated",
    "awkward_tables.ties",
    "awkward_tables.no_information",
    "trust.ordered",
    "expected_error.left_out",
    "expected_error.independent",
    "expected_error.independent_small",
    "expected_error.hard_families",
    "expected_error.class_shares",
    "annotators.simulated",
    "annotators.families",
    "annotators.public",
    "annotators.diagnostics",
    "trust.choosing_labels",
    "audits.intervals",
    "audits.decisions",
    "audits.planning",
    "voting.classifiers",
    "soft_voting.probabilities",
    "clusterings.kmeans_runs",
    "clusterings.large",
    "accuracy.adversaries",
    "shapes.tables",
    "crowd_kit.labels",
    "crowd_kit.cost",
    "side_by_side.complete",
    "side_by_side.sparse",
    "scaling.items",
    "scaling.annotators",
    "scaling.classes",
    "ten_million.ten_million",
    "startup.first_run",
    "reading.long_csv",
    "ratings.simulated",
    "ratings.families",
    "ratings.public",
    "ratings.scale_errors",
    "ratings.speed",
    "comparisons.agreement",
    "comparisons.public",
    "comparisons.simulated",
    "comparisons.speed",
    "several_labels.simulated",
    "several_labels.families",
    "symbols.scores",
    "symbols.simulated",
    "symbols.weak_supervision",
)
"""A module and a function each, in the order of the page. A module is imported when it is measured,
so that sections which compare with no other library need none."""

VIEWS = {
    "accuracy.adversaries": View("", ("vote %", "BlindEnsemble %", "oracle %")),
    "annotators.families": View("", ("coverage", "bias, points", "width", "error")),
    "annotators.public": View("", ("correlation", "spread", "coverage")),
    "annotators.simulated": View("family", ("correlation", "spread", "coverage"), "coverage"),
    "audits.intervals": View(
        "checks", ("covers error %", "errors of methods %", "differences %", "classes %")
    ),
    "audits.decisions": View("", ("vote", "blind", "after", "switched %")),
    "awkward_tables.generated": View("kind", ("vote", "difference"), "difference"),
    "crowd_kit.labels": View(
        "method", ("agreement %", "explained %", "time of crowd-kit / blindfuse")
    ),
    "expected_error.class_shares": View("", ("off by", "votes off by", "covered %")),
    "never_worse.all_tables_with_truth": View(
        "table", ("vote", "fuse", "difference", "limit", "expected", "method")
    ),
    "never_worse.listed_items": View("family", ("listed %", "error % of listed", "of the others")),
    "never_worse.variants": View(
        "family", ("vote %", "mean difference", "above the limit", "largest")
    ),
    "ratings.families": View("", ("fuse_numbers", "mean", "median", "standardized mean")),
    "scaling.annotators": View("per label", ("slope",)),
    "scaling.classes": View("per label", ("slope",)),
    "scaling.items": View("per label", ("slope",)),
    "several_labels.families": View(
        "", ("F1", "majority’s F1", "wrong sets %", "majority’s wrong sets %")
    ),
    "shapes.tables": View("", ("fuse / (3 × DawidSkene + 1 s)",)),
    "voting.classifiers": View(
        "features", ("vote %", "after fit %", "after adapt %", "worst seed")
    ),
}
"""Sections of which the page shows groups of rows."""


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"There is no section {unknown[0]}. The sections are {', '.join(SECTIONS)}.")
    page = from_page(PAGE.read_text()) if names else {}
    checks: list[Check] = []
    for name in names or SECTIONS:
        module, function = name.split(".")
        try:
            section: Section = getattr(import_module(module), function)()
        except NoData:
            print(f"{name} is left out: set BLINDFUSE_DATA to the folder of the datasets.")
            continue
        print(to_text(section), flush=True)
        page[section.title] = describe(name, section)
        PAGE.write_text(to_page(page, environment()))
        checks += section.checks
    failed = [check for check in checks if not check.passed]
    print(f"{len(checks) - len(failed)} of {len(checks)} checks passed.")
    for check in failed:
        print(f"  {check}")


def describe(name: str, section: Section) -> str:
    """Write the whole table and the figure of a section, and return its text."""
    write_table(section, TABLES / f"{name}.csv")
    view = VIEWS.get(name)
    if view is None or view.drawn is None:
        return to_markdown(section, view)
    figure = f"bench_{name.replace('.', '_')}.svg"
    draw(section, view, FIGURES / figure)
    return to_markdown(section, view, figure)


if __name__ == "__main__":
    main(sys.argv[1:])
