"""The expected error of families of tables that its relation was not fitted to."""

import warnings
from statistics import fmean
from unittest.mock import patch

from accuracy import LEFT_OUT
from blindfuse import NotConverged, fuse
from blindfuse.metrics import calibration_error, error_rate
from calibration import Record, gather_records, leave_families_out, summarize
from experiments.calibration_tables import (
    KINDS,
    data_folder,
    public_tables,
    trained_tables,
)
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2
from report import Check, Section
from version_0_1 import CALIBRATION_ERRORS

HEADER = [
    *("family", "tables", "actual %", "expected %", "covered %", "high/low"),
    *("actual − expected", "absolute"),
]


def left_out() -> Section:
    """Intervals of public and generated tables, with their family left out of the fit."""
    section = Section("Expected error of families that were left out of the fit", HEADER)
    if data_folder() is None:
        section.note = LEFT_OUT
        return section
    records = gather_records()
    relations = leave_families_out(records)
    public = [one for one in records if one.family not in KINDS and not one.variant]
    groups: dict[str, list[Record]] = {}
    for record in [*public, *(one for one in records if one.family in KINDS)]:
        groups.setdefault(record.family, []).append(record)
    groups["all public tables"] = public
    for name, group in groups.items():
        figures = summarize(group, relations)
        row = [f"{value:.3g}" for value in figures.values()]
        section.rows.append([name, *row])
    figures = summarize(public, relations)
    section.checks = [
        Check("covered by the 80 % interval, %", figures["coverage"], 77, at_most=False),
        Check("high / low, median", figures["width"], 3.0),
        Check("|mean of actual − expected|, points", abs(figures["difference"]), 2.0),
        Check("mean of |actual − expected|, points", figures["absolute"], 5.0),
    ]
    section.note = (
        "The relation has four slopes, an intercept and a spread. Which figures it uses was "
        "chosen with these tables in view; the coefficients for a family come from all others. All "
        "ensembles are one family."
    )
    return section


def posteriors() -> Section:
    """Calibration error of posteriors, recalibrated without the family of the table."""
    section = Section(
        "Calibration error of fused posteriors, families left out",
        ["table", "error %", "calibration error", "of version 0.1"],
    )
    folder = data_folder()
    if folder is None:
        section.note = LEFT_OUT
        return section
    relations = leave_families_out(gather_records())
    ours = []
    for table in [*public_tables(folder), *trained_tables(folder)]:
        if table.name not in CALIBRATION_ERRORS:
            continue
        responses, truth = table.load()
        truth[truth >= responses.n_classes] = -1
        relation = relations[table.family]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            with patch(
                "blindfuse.diagnostics.calibration.fitted_relation",
                lambda relation=relation: relation,
            ):
                fusion = fuse(responses)
        ours.append(calibration_error(fusion.posteriors, truth))
        error = 100 * error_rate(fusion.posteriors, truth)
        before = CALIBRATION_ERRORS[table.name]
        section.rows.append([table.name, f"{error:.1f}", f"{ours[-1]:.3f}", f"{before:.3f}"])
    ratio = fmean(ours) / fmean(CALIBRATION_ERRORS.values())
    section.checks = [Check("mean calibration error / that of version 0.1", ratio, 0.6)]
    return section


def independent() -> Section:
    """The settings of Section V-A, in which annotators are conditionally independent."""
    section = Section(
        "Expected error of conditionally independent annotators, mean of 5 seeds",
        ["setting", "N", "actual %", "expected %", "high/low", "covered %"],
    )
    for setting in (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4):
        for n_items in (10_000, 100_000):
            rows = []
            for seed in range(5):
                drawn = setting.draw(n_items, seed)
                fusion = fuse(drawn.responses)
                error, expected = (fusion.labels != drawn.truth).mean(), fusion.expected_error
                covered = expected.low <= error <= expected.high
                rows.append((error, expected.value, expected.high / expected.low, covered))
            error, value, width, covered = (fmean(column) for column in zip(*rows, strict=True))
            section.rows.append(
                [
                    *(setting.name, f"{n_items:,}", f"{100 * error:.2f}", f"{100 * value:.2f}"),
                    *(f"{width:.2f}", f"{100 * covered:.0f}"),
                ]
            )
            where = f"{setting.name}, N = {n_items:,}"
            section.checks.append(
                Check(f"{where}: |expected / actual − 1|", abs(value / error - 1), 0.1)
            )
    return section
