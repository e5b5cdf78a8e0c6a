"""All diagnostics together: the ordered paragraphs, unusual tables and public crowds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, simulate
from blindfuse.diagnostics.diagnose import diagnose
from tests.conftest import Crowds
from tests.support.diagnostics_cases import crowd, diagnosed


@pytest.mark.parametrize(
    "table",
    [
        np.tile(np.arange(12)[:, None] % 3, (1, 4)),
        np.array([[0, 1], [1, 1], [0, 0]]),
        np.array([[0, 1, -1], [1, 1, -1], [0, 0, -1], [-1, -1, -1]]),
        np.array([[0, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    ],
    ids=["agreement", "two annotators", "no responses", "no overlap"],
)
def test_unusual_tables_are_diagnosed_without_warning(table: Any) -> None:
    found, _ = diagnosed(Responses.from_matrix(table))
    assert np.isfinite(found.fit.misfit)
    assert np.isfinite(found.annotators.low).all()
    assert np.isfinite(found.items.entropy).all()
    assert "nan" not in found.summary()


def test_responses_of_one_class_only_are_diagnosed() -> None:
    found, _ = diagnosed(Responses.from_matrix(np.ones((10, 4), dtype=int), classes=[0, 1, 2]))
    assert "nan" not in found.summary()


@pytest.mark.parametrize("name", ["trec", "dog"])
def test_public_crowds_are_diagnosed(crowds: Crowds, name: str) -> None:
    found, _ = diagnosed(crowds[name].responses)
    assert np.isfinite(found.annotators.accuracy).all()
    assert found.summary().count("\n") == 7


def test_paragraphs_are_the_summaries_in_order() -> None:
    found, _ = diagnosed(crowd().responses)
    headings = (
        *("Expected error", "Items", "Annotators", "Coverage", "Panel", "Dependence", "Fit"),
        "Identifiability",
    )
    parts = (
        found.expected_error,
        found.items,
        found.annotators,
        found.coverage,
        found.panel,
        found.dependence,
        found.fit,
        found.identifiability,
    )
    paragraphs = found.paragraphs()
    assert [one.heading for one in paragraphs] == list(headings)
    assert [one.text for one in paragraphs] == [part.summary() for part in parts]
    assert found.summary() == "\n".join(f"{one.heading}: {one.text}" for one in paragraphs)


def test_paragraphs_warn_of_what_speaks_against_the_labels() -> None:
    found, _ = diagnosed(crowd(n=10_000).responses)

    def warnings(**changes: Any) -> list[str]:
        paragraphs = replace(found, **changes).paragraphs()
        return [one.heading for one in paragraphs if one.warning]

    assert warnings() == []
    high = replace(found.expected_error, value=0.3)
    assert warnings(expected_error=high) == ["Expected error"]
    assert warnings(expected_error=high, all_gold=True) == []
    adversary = np.arange(6) == 0
    assert warnings(annotators=replace(found.annotators, adversary=adversary)) == ["Annotators"]
    assert warnings(fit=replace(found.fit, misfit=9.0)) == ["Fit"]
    rare = replace(found.identifiability, rare_classes=np.array([2]))
    assert warnings(identifiability=rare) == ["Identifiability"]
    grouped = replace(found.dependence, groups=((0, 1),))
    assert warnings(dependence=grouped) == ["Dependence"]
    assert warnings(dependence=replace(grouped, merged=True)) == []


@pytest.mark.parametrize(("n_annotators", "n_classes"), [(4, 2), (8, 3), (20, 2), (20, 5)])
@pytest.mark.parametrize("n_new", [3, 30, 300])
def test_new_items_of_independent_annotators_show_no_correlated_errors(
    n_annotators: int, n_classes: int, n_new: int
) -> None:
    """A model of other items must not count the chance of these items as misfit."""
    false_alarms, covered = [], []
    for seed in range(5):
        drawn = simulate(1000 + n_new, n_annotators, n_classes, np.random.default_rng(seed))
        old, new = np.arange(1000), np.arange(1000, 1000 + n_new)
        model = DawidSkene(threads=1).fit(drawn.responses.select_items(old)).model_
        responses = drawn.responses.select_items(new)
        posteriors = model.posteriors(responses)
        found = diagnose(responses, model, posteriors, is_fitted=False)
        false_alarms.append("Errors are correlated" in found.summary())
        error = np.mean(posteriors.argmax(axis=1) != drawn.truth[new])
        covered.append(found.expected_error.low <= error <= found.expected_error.high)
    assert np.mean(false_alarms) <= 0.2
    assert np.mean(covered) >= 0.4


def test_new_items_of_copying_annotators_show_correlated_errors() -> None:
    drawn = simulate(
        3000, 8, 3, np.random.default_rng(0), dependent_groups=[(0, 1, 2)], copy_probability=0.9
    )
    model = DawidSkene().fit(drawn.responses.select_items(np.arange(1000))).model_
    responses = drawn.responses.select_items(np.arange(1000, 3000))
    found = diagnose(responses, model, model.posteriors(responses), is_fitted=False)
    assert not found.fit.holds
