"""The table of annotators: the figures of the diagnostics, and what fits on the page."""

from typing import Any

import numpy as np
import pytest

from blindfuse import report_html
from blindfuse.report import annotators
from blindfuse.report.blocks import Listing
from tests.support.report_cases import crowd, find_block, page_of


def rows_of() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = find_block(page_of(crowd()), "annotators", Listing).rows
    return rows


def test_rows_have_the_figures_of_the_diagnostics() -> None:
    fusion = crowd()
    found, rows = fusion.diagnostics.annotators, rows_of()
    assert len(rows) == fusion.responses.n_annotators
    assert [row["responses"] for row in rows] == sorted(found.n_responses, reverse=True)
    for row in rows:
        m = fusion.responses.annotators.tolist().index(row["name"])
        assert row["responses"] == np.sum(fusion.responses.by_item.codes == m)
        assert row["accuracy"] == pytest.approx(found.accuracy[m], abs=5e-5)
        assert row["accuracy_low"] == pytest.approx(found.low[m], abs=5e-5)
        assert row["accuracy_high"] == pytest.approx(found.high[m], abs=5e-5)
        assert row["worst_class"] == found.worst_class[m]
        assert row["confused_with"] == found.confused_with[m]
        assert row["misfit"] == pytest.approx(fusion.diagnostics.fit.by_annotator[m], abs=0.005)
        assert ("no better than chance" in row["remarks"]) == found.spammer[m]
        assert ("worse than chance" in row["remarks"]) == found.adversary[m]
        assert row["matrix"] is not None
        for true, reported in np.ndindex(3, 3):
            expected = 1000 * fusion.model.confusions[m, reported, true]
            assert row["matrix"][true][reported] == pytest.approx(expected, abs=0.5)
    assert any(row["remarks"] for row in rows)


def test_the_class_with_the_largest_bias_is_over_reported() -> None:
    fusion = crowd()
    bias = fusion.diagnostics.annotators.bias
    for row in rows_of():
        m = fusion.responses.annotators.tolist().index(row["name"])
        if bias[m].max() >= 0.05:
            assert row["over_reported"] == bias[m].argmax()
            assert row["over_reported_by"] == pytest.approx(bias[m].max(), abs=5e-5)
        else:
            assert row["over_reported"] is None


def test_rows_without_a_matrix_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotators, "MAX_MATRIX_CELLS", 100)
    rows = rows_of()
    assert sum(row["matrix"] is None for row in rows) == 40 - 100 // 9
    assert all(row["matrix"] for row in rows if row["remarks"])
    assert f"{40 - 100 // 9} with fewer responses" in report_html(crowd())
