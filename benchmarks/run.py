"""Measure what the documentation promises, print it, and write docs/benchmarks.md.

Run with ``make bench``. Times are ratios within one run: seconds depend on the machine. Crowd sets
are read from the folder that BLINDFUSE_DATA names; without it they are left out, and said to be.
"""

from collections.abc import Callable
from pathlib import Path

import accuracy
import crowd_kit
import machine_limits
import reading
import scaling
import side_by_side
import speed
import startup
import ten_million
import trust
import voting
from report import Check, Section, environment, to_markdown, to_text

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"

SECTIONS: list[Callable[[], Section]] = [
    accuracy.oracle,
    speed.acceleration,
    speed.majority_votes,
    accuracy.crowds,
    accuracy.held_out,
    accuracy.methods,
    accuracy.uniform_prior,
    accuracy.polished,
    trust.votes,
    trust.independent,
    trust.ensembles,
    trust.copiers,
    trust.intervals,
    trust.ordered,
    trust.asking,
    voting.classifiers,
    speed.linear,
    accuracy.adversaries,
    speed.imports,
    crowd_kit.labels,
    crowd_kit.cost,
    side_by_side.complete,
    side_by_side.sparse,
    machine_limits.counting,
    machine_limits.e_step,
    scaling.items,
    scaling.annotators,
    scaling.classes,
    ten_million.ten_million,
    startup.startup,
    reading.long_csv,
]


def main() -> None:
    sections = []
    for measure in SECTIONS:
        section = measure()
        print(to_text(section), flush=True)
        sections.append(section)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(to_markdown(sections, environment()))
    checks: list[Check] = [check for section in sections for check in section.checks]
    missed = [check for check in checks if not check.holds]
    print(f"{len(checks) - len(missed)} of {len(checks)} figures hold.")
    for check in missed:
        print(f"  {check}")


if __name__ == "__main__":
    main()
