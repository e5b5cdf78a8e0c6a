"""The sections about an audit, gold labels and other methods."""

import numpy as np

from blindfuse import (
    AuditResult,
    Comparison,
    Responses,
    audit,
    check_on_gold,
    fuse,
    plan_audit,
    report_html,
    simulate,
)
from blindfuse.report.blocks import Chart, Table, percent
from tests.support.report_cases import HOSTILE, crowd, find_block, page_of


def audited(seed: int = 0) -> AuditResult:
    fusion = crowd(seed)
    plan = plan_audit(fusion, 60)
    return audit(fusion, plan, dict(zip(plan.items, fusion.labels[plan.positions], strict=True)))


def test_the_section_has_the_figures_of_the_audit() -> None:
    result = audited()
    page = page_of(result.fusion, audit=result)
    errors, differences, classes, annotators = (
        {row["name"]: row for row in block.rows}
        for block in page.sections[-1].blocks
        if isinstance(block, Table)
    )
    expected = {name: one.value for name, one in result.errors.items() if name != "fuse"}
    expected["fused labels"] = result.error.value
    assert {name: row["value"] for name, row in errors.items()} == expected
    assert list(errors) == sorted(expected, key=lambda name: expected[name])
    assert set(differences) == set(result.differences)
    shares = {name: one.value for name, one in result.class_shares.items()}
    assert {name: row["value"] for name, row in classes.items()} == shares
    rated = result.annotators
    checked = {rated.names[m]: rated.interval(m) for m in np.flatnonzero(rated.n_checked).tolist()}
    assert {name: row["value"] for name, row in annotators.items()} == {
        name: interval.value for name, interval in checked.items()
    }


def test_the_measured_error_comes_first_and_warnings_are_named() -> None:
    result = audited()
    page = page_of(result.fusion, audit=result)
    assert 'href="#audit"' in report_html(result.fusion, audit=result)
    assert 'href="#audit"' not in report_html(result.fusion)
    assert page.figures[0] == ("0.0\u00a0%", "error measured on 60 checked items")
    own = audit(result.fusion, None, result.labels)
    warnings = {one.heading: one.text for one in page_of(own.fusion, audit=own).warnings}
    assert "valid for items like those" in warnings["Audit, checked"]


def test_gold_labels_and_methods_have_sections() -> None:
    fusion = crowd()
    wrong = {fusion.responses.items[n]: "cat" for n in range(60)}
    check = check_on_gold(fusion, wrong)
    compared = [Comparison("fuse", 0.5, 0.0, 1.0, None), Comparison("KOS", None, None, 0.1, "No.")]
    page = page_of(fusion, gold=check, compared=compared)
    assert page.figures[0][0] == percent(check.error.value)
    assert percent(check.vote_error.value) in page.figures[0][1]
    assert page.warnings[0].heading == "Gold labels"
    points = find_block(page, "gold-labels", Chart).spec["datasets"]["rows"]
    assert [point["accuracy"] for point in points] == [each.accuracy.value for each in check.bins]
    table = find_block(page, "methods", Table)
    shown = [tuple(field.show(row) for field in table.fields) for row in table.rows]
    assert shown == [
        ("fuse", "50.00\u00a0%", "0.00\u00a0%", "1.00"),
        ("KOS: No.", "–", "–", "0.10"),
    ]


def test_hostile_names_are_text() -> None:
    drawn = simulate(60, len(HOSTILE), 2, np.random.default_rng(0))
    labels = np.array(HOSTILE[:2], dtype=object)[drawn.responses.matrix()]
    fusion = fuse(Responses.from_matrix(labels, missing=None, annotators=HOSTILE))
    result = audit(fusion, None, {item: fusion.labels[item] for item in range(20)})
    page = report_html(fusion, audit=result)
    assert "<script>window.pwned" not in page
    assert "<svg onload" not in page
