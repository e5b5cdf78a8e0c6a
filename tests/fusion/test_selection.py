"""Which method the selection rules choose, and why."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    DawidSkene,
    fuse,
    simulate,
)
from blindfuse.fusion.bounded_correction import BOUNDED_CORRECTION
from blindfuse.fusion.model_pool import MEAN_OF_MODELS
from blindfuse.fusion.selection import select_by_prediction
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import vote_posteriors, weighted_votes
from experiments.ordinal_crowds import ORDINAL_KINDS, OrdinalKind, ordinal_crowd
from experiments.settings import TABLE_2
from tests.conftest import Crowds


@pytest.mark.parametrize("missing", [0.96, 0.985])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_held_out_where_errors_are_not_correlated(
    seed: int, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse crowd of independent annotators is taken for what it is, by EM from the vote.

    With three responses per item, two subtypes predict better by what they learn of the rest, and
    independence cannot be shown, so that EM is averaged with other models.
    """
    drawn = simulate(3000, 200, 3, np.random.default_rng(seed), missing=missing, skill=0.2)
    monkeypatch.setattr("blindfuse.fusion.selection.HeldOut", None)
    fusion = fuse(drawn.responses)
    assert fusion.method == ("DawidSkene" if missing < 0.97 else MEAN_OF_MODELS)
    assert "not correlated beyond chance" in fusion.why
    plain = DawidSkene().fit(drawn.responses)
    by_model = fusion.model.posteriors(drawn.responses)
    np.testing.assert_allclose(by_model, plain.posteriors_, atol=1e-9)
    if fusion.method == "DawidSkene":
        np.testing.assert_array_equal(fusion.labels, plain.labels_)


def test_responses_are_held_out_where_errors_are_correlated(crowds: Crowds) -> None:
    assert "held-out responses" in fuse(crowds["dog"].responses).why
    assert "held-out responses" in fuse(crowds["rte"].responses).why


def test_correlation_that_no_model_explains_is_left_to_the_vote() -> None:
    """Answers follow one of several hidden questions that have nothing to do with the class."""
    rng = np.random.default_rng(0)
    n, m = 20_000, 15
    truth = rng.integers(2, size=n)
    hidden = rng.normal(size=(n, 4))
    tastes = rng.normal(size=(4, m)) * 0.8
    matrix = ((2 * truth - 1)[:, None] * 0.6 + hidden @ tastes + rng.normal(size=(n, m)) > 0) * 1
    fusion = fuse(matrix)
    assert fusion.method == "MajorityVote"
    vote = error_rate(vote_posteriors(fusion.responses), truth)
    assert error_rate(fusion.posteriors, truth) <= vote + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_classes_that_annotators_do_not_report_are_left_to_the_vote(seed: int) -> None:
    """Annotators report "yes" for three of ten true ones, so EM's second class is mostly "no"."""
    rng = np.random.default_rng(seed)
    truth = rng.random(2000) < 0.4
    matrix = rng.random((2000, 9)) < np.where(truth, 0.3, 0.03)[:, None]
    fusion = fuse(np.where(matrix, "yes", "no"))
    assert fusion.method in {BOUNDED_CORRECTION, "MajorityVote"}
    assert "EM gives class 'yes' to items for which annotators report 'no'" in fusion.why
    votes = weighted_votes(fusion.responses)
    majority = fusion.responses.classes[votes.argmax(axis=1)]
    assert np.mean(fusion.labels != majority) < 0.1


@pytest.mark.parametrize("table", [[[0, 1], [1, 1], [0, 0]], [[0, -1, -1], [1, 1, -1]]])
def test_responses_without_overlap_are_left_to_the_vote(table: Any) -> None:
    fusion = fuse(table)
    assert fusion.method == "MajorityVote"
    assert "annotator" in fusion.why
    assert np.isfinite(fusion.posteriors).all()
    assert fusion.summary()


@pytest.mark.parametrize("kind", ORDINAL_KINDS)
def test_order_never_hurts_and_helps_where_perception_is_noisy(kind: OrdinalKind) -> None:
    errors, expected, used = [], [], []
    for seed in range(10):
        drawn = ordinal_crowd(kind, 1_000, 20, seed)
        fusion, unordered = fuse(drawn.responses, ordered=True), fuse(drawn.responses)
        errors.append([error_rate(one.posteriors, drawn.truth) for one in (fusion, unordered)])
        expected.append(fusion.diagnostics.expected_error.value)
        used.append(fusion.method == "OrdinalDawidSkene")
    with_order, without = np.mean(errors, axis=0)
    assert with_order <= 1.02 * without
    assert np.mean(expected) == pytest.approx(with_order, rel=0.3)
    if kind == "noise":
        assert np.mean(used) > 0.8
        assert with_order <= 0.9 * without


def test_order_is_not_used_where_it_does_not(crowds: Crowds) -> None:
    crowd = crowds["adult"]
    fusion = fuse(crowd.responses, ordered=True)
    assert "order of the classes was not used" in fusion.why
    unordered = fuse(crowd.responses)
    assert fusion.method == unordered.method
    # Ordered classes are computed in their own order, so sums round differently.
    assert np.mean(fusion.labels != unordered.labels) <= 1e-3


def test_the_default_rule_is_public() -> None:
    simulation = TABLE_2.draw(1000, 0)
    one, other = (
        fuse(simulation.responses),
        fuse(simulation.responses, selection=select_by_prediction),
    )
    np.testing.assert_array_equal(one.posteriors, other.posteriors)
