"""What fuse does with checked labels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from blindfuse import (
    DawidSkene,
    Fusion,
    MajorityVote,
    Model,
    Responses,
    audit,
    fuse,
    plan_audit,
)
from blindfuse.auditing.apply_checks import apply_checks
from blindfuse.auditing.candidates import VOTE
from blindfuse.metrics import calibration_error
from blindfuse.responses.coding import positions
from tests.audit.crowds import crowd, labels_of, planned


def biased_crowd(n_items: int = 1000, seed: int = 0) -> tuple[Responses, NDArray[np.intp]]:
    """Four copies of a bad annotator outvote three good ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_items)
    good = np.where(rng.random((n_items, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    bad = np.where(rng.random(n_items) < 0.6, truth, 1 - truth)
    return Responses.from_matrix(np.column_stack([good, *[bad] * 4])), truth


@pytest.mark.parametrize("seed", range(3))
def test_a_better_method_is_taken_and_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 1000)
    accuracy = np.array([0.95, 0.95, 0.55, 0.55, 0.55, 0.55, 0.55])
    right = rng.random((1000, 7)) < accuracy
    worse = Responses.from_matrix(np.where(right, truth[:, None], 1 - truth[:, None]))
    blind = fuse(worse, method=MajorityVote())
    plan = plan_audit(blind, 100, seed=seed)
    checked = labels_of(plan, truth)
    result = audit(blind, plan, checked)
    assert result.better_method is not None
    after = fuse(worse, checked=result, method=MajorityVote())
    assert after.method == result.better_method
    assert "On 100 checked items, its error is" in after.why
    assert "MajorityVote, which was selected without them" in after.why
    assert np.mean(after.labels != truth) < np.mean(blind.labels != truth)
    np.testing.assert_array_equal(after.labels[plan.positions], truth[plan.positions])
    assert after.is_gold is not None
    assert after.is_gold.sum() == 100
    assert after.method in result.summary()
    own = fuse(worse, checked=checked, method=MajorityVote())
    assert "of your own list" in own.why


def test_the_selected_method_is_kept_without_evidence_and_recalibrated() -> None:
    drawn = crowd(2000, seed=1, missing=0.0)
    blind, plan, checked = planned(drawn, 150)
    after = fuse(drawn.responses, checked=audit(blind, plan, checked))
    assert after.method == blind.method
    assert "no other method is better beyond chance" in after.why
    assert after.n_checked == 150
    assert after.expected_error is not None
    assert after.expected_error.low <= after.expected_error.value <= after.expected_error.high
    assert "blindfuse audit" not in after.summary()
    left = np.setdiff1d(np.arange(2000), plan.positions)
    np.testing.assert_array_equal(after.labels[left], blind.labels[left])
    before = calibration_error(blind.posteriors[left], drawn.truth[left])
    assert calibration_error(after.posteriors[left], drawn.truth[left]) < max(before, 0.06)


def test_the_vote_can_be_taken() -> None:
    responses, truth = biased_crowd()
    backwards = Responses.from_matrix(1 - responses.matrix())
    blind = fuse(backwards)
    inverted = replace(blind, labels=1 - blind.labels, posteriors=blind.posteriors[:, ::-1])
    plan = plan_audit(inverted, 60)
    checked = {i: int(1 - truth[i]) for i in plan.items.tolist()}
    result = audit(inverted, plan, checked)
    assert result.differences[VOTE].high < 0
    after = apply_checks(inverted, result)
    assert after.method == result.better_method
    assert_predicts_itself(after)


def assert_predicts_itself(fusion: Fusion) -> None:
    """Unchecked items have the posteriors that the fusion and its model predict."""
    assert fusion.is_gold is not None
    left = ~fusion.is_gold
    labels = positions(fusion.labels, fusion.responses.classes)
    np.testing.assert_array_equal(fusion.posteriors.argmax(axis=1), labels)
    for found in (
        fusion.predict_proba(fusion.responses),
        fusion.model.posteriors(fusion.responses),
    ):
        np.testing.assert_allclose(found[left], fusion.posteriors[left], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["rule", "DawidSkene", "weak"])
def test_a_checked_fusion_predicts_what_it_gave(name: str, seed: int, tmp_path: Path) -> None:
    responses, truth = biased_crowd(400, seed)
    if name == "weak":
        drawn = crowd(400, 3, seed)
        responses, truth = drawn.responses, drawn.truth
    method = DawidSkene() if name == "DawidSkene" else None
    blind = fuse(responses, method=method)
    plan = plan_audit(blind, 80, seed=seed)
    checked = labels_of(plan, truth)
    after = fuse(responses, checked=audit(blind, plan, checked), method=method)
    assert_predicts_itself(after)
    after.save(tmp_path / "model.npz")
    saved = Model.load(tmp_path / "model.npz").posteriors(responses)
    assert after.is_gold is not None
    left = ~after.is_gold
    np.testing.assert_allclose(saved[left], after.posteriors[left], atol=1e-9)
