"""The audit section of the page."""

import numpy as np
import pytest

from blindfuse import AuditResult, Responses, audit, fuse, plan_audit, report_html, simulate
from blindfuse.report.audit import audit_section
from tests.support.report_cases import HOSTILE, contents_of, crowd


def audited(seed: int = 0) -> AuditResult:
    fusion = crowd(seed)
    plan = plan_audit(fusion, 60)
    return audit(fusion, plan, dict(zip(plan.items, fusion.labels[plan.positions], strict=True)))


def test_the_section_has_the_figures_of_the_audit() -> None:
    result = audited()
    found = audit_section(result)
    errors = {row.name: row.estimate for row in found.errors}
    assert errors.pop("fused labels") == result.error
    assert errors == {name: one for name, one in result.errors.items() if name != "fuse"}
    assert {row.name: row.estimate for row in found.differences} == result.differences
    assert {row.name: row.estimate for row in found.classes} == result.class_shares
    checked = {row.name: row.count for row in found.annotators}
    counts = result.annotators.n_checked
    names = result.annotators.names.tolist()
    assert checked == {names[m]: counts[m] for m in np.flatnonzero(counts).tolist()}
    values = [row.estimate.value for row in found.errors]
    assert values == sorted(values)


def test_the_measured_error_comes_first_and_warnings_are_named() -> None:
    result = audited()
    contents = contents_of(result.fusion, audit=result)
    assert contents.key_figures[0].description == "error measured on 60 checked items"
    assert contents.key_figures[0].value == "0.0\u00a0%"
    own = audit(result.fusion, None, result.labels)
    warnings = {one.heading: one.text for one in contents_of(own.fusion, audit=own).warnings}
    assert "valid for items like those" in warnings["Audit, checked"]
    assert contents_of(result.fusion).audit is None


@pytest.mark.parametrize("with_audit", [True, False])
def test_the_page_has_the_section_only_with_an_audit(with_audit: bool) -> None:
    result = audited()
    page = report_html(result.fusion, audit=result if with_audit else None)
    assert ('<section id="audit"' in page) == with_audit
    assert ('href="#audit"' in page) == with_audit


def test_hostile_names_are_text() -> None:
    drawn = simulate(60, len(HOSTILE), 2, np.random.default_rng(0))
    labels = np.array(HOSTILE[:2], dtype=object)[drawn.responses.matrix()]
    fusion = fuse(Responses.from_matrix(labels, missing=None, annotators=HOSTILE))
    result = audit(fusion, None, {item: fusion.labels[item] for item in range(20)})
    page = report_html(fusion, audit=result)
    assert "<script>window.pwned" not in page
    assert "<svg onload" not in page
