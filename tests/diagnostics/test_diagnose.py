"""All diagnostics together: the ordered paragraphs, unusual tables and public crowds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blindfuse import Responses, fuse
from blindfuse.diagnostics.diagnose import diagnose
from tests.conftest import Crowds
from tests.support.diagnostics_cases import crowd, diagnosed
from tests.support.fusion_cases import fuse_case


@pytest.mark.parametrize(
    "table",
    [
        np.tile(np.arange(12)[:, None] % 3, (1, 4)),
        np.array([[0, 1], [1, 1], [0, 0]]),
        np.array([[0, 1, -1], [1, 1, -1], [0, 0, -1], [-1, -1, -1]]),
        np.array([[0, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
        np.ones((10, 4), dtype=int),
    ],
    ids=["agreement", "two annotators", "no responses", "no overlap", "one class"],
)
def test_unusual_tables_are_diagnosed_without_warning(table: Any) -> None:
    found, _ = diagnosed(Responses.from_matrix(table, classes=np.arange(max(3, table.max() + 1))))
    assert np.isfinite(found.fit.misfit)
    assert np.isfinite(found.annotators.low).all()
    assert "nan" not in found.summary()


@pytest.mark.parametrize("name", ["temp", "bird"])
def test_public_crowds_are_diagnosed(crowds: Crowds, name: str) -> None:
    found = fuse(crowds[name].responses).diagnostics
    assert np.isfinite(found.annotators.accuracy).all()
    assert found.summary().count("\n") == len(found.paragraphs()) - 1


def test_paragraphs_are_in_order_and_one_line_each() -> None:
    found = fuse_case("plain", 0).diagnostics
    assert found.information is not None
    paragraphs = found.paragraphs()
    assert [one.heading for one in paragraphs] == [
        *("Expected error", "Agreement", "Classes", "Items", "Annotators", "Coverage"),
        *("Dependence", "Fit"),
    ]
    assert paragraphs[0].text == f"{found.expected_error}."
    parts = (
        *(found.information, found.class_shares, found.items, found.annotators, found.coverage),
        *(found.dependence, found.fit),
    )
    assert [one.text for one in paragraphs[1:]] == [part.summary() for part in parts]
    assert not any("\n" in one.text for one in paragraphs)
    assert found.summary() == "\n".join(f"{one.heading}: {one.text}" for one in paragraphs)


def test_paragraphs_warn_of_what_speaks_against_the_labels() -> None:
    found = fuse(crowd(n=10_000).responses).diagnostics
    assert found.expected_error is not None
    assert found.information is not None

    def warnings(**changes: Any) -> list[str]:
        paragraphs = replace(found, **changes).paragraphs()
        return [one.heading for one in paragraphs if one.warning]

    assert warnings() == []
    high = replace(found.expected_error, value=0.3)
    assert warnings(expected_error=high) == ["Expected error"]
    assert warnings(expected_error=None) == ["Expected error"]
    assert warnings(expected_error=high, all_gold=True) == []
    by_chance = replace(found.information, excess_low=-0.1)
    assert warnings(information=by_chance) == ["Agreement"]
    adversary = np.arange(6) == 0
    assert warnings(annotators=replace(found.annotators, adversary=adversary)) == ["Annotators"]
    assert warnings(fit=replace(found.fit, misfit=9.0)) == ["Fit"]
    assert warnings(coverage=replace(found.coverage, n_groups=2)) == ["Coverage"]
    assert warnings(dependence=replace(found.dependence, groups=((0, 1),))) == ["Dependence"]


def test_a_measured_error_says_on_how_many_items() -> None:
    found = replace(fuse_case("plain", 0).diagnostics, n_checked=50)
    assert found.paragraphs()[0].text.endswith("measured on 50 checked items.")


@pytest.mark.parametrize("seed", range(3))
def test_ratings_of_earlier_work_describe_new_items(seed: int) -> None:
    """Diagnostics of new items by a model of others, without an expected error."""
    drawn = crowd(seed, n=500)
    model = fuse(drawn.responses.select_items(np.arange(400))).model
    new = drawn.responses.select_items(np.arange(400, 500))
    found = diagnose(new, model, model.posteriors(new))
    assert found.expected_error is None
    np.testing.assert_allclose(found.annotators.accuracy, model.accuracies)
    assert "nan" not in found.summary()
