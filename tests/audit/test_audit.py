"""What checked labels say about all labels, computed a second way."""

from functools import cache
from typing import Any

import numpy as np
import ppi_py
import pytest

from blindfuse import (
    AuditResult,
    BadLabels,
    BadParameter,
    Responses,
    Simulation,
    audit,
    fuse,
    plan_audit,
)
from blindfuse.auditing.candidates import FUSION, VOTE
from blindfuse.auditing.corrections import recalibrate
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_posteriors
from tests.audit.crowds import crowd, labels_of, planned


@cache
def checked(n_classes: int = 3, seed: int = 0) -> tuple[AuditResult, Simulation]:
    drawn = crowd(n_classes=n_classes, seed=seed)
    return audit(*planned(drawn, 120, seed)), drawn


@pytest.mark.parametrize("seed", range(3))
def test_errors_and_paired_differences_are_horvitz_thompson_estimates(seed: int) -> None:
    result, drawn = checked(seed=seed)
    assert result.plan is not None
    positions, weights = result.plan.positions, 1 / result.plan.probability
    truth, labels = drawn.truth[positions], result.candidates.labels
    wrong = {name: labels[name][positions] != truth for name in labels}
    votes = vote_posteriors(drawn.responses)[positions]
    lost = {name: array.astype(float) for name, array in wrong.items()}
    lost[VOTE] = np.array([error_rate(votes[[i]], truth[[i]]) for i in range(len(truth))])
    assert set(result.errors) == {FUSION, VOTE, "DawidSkene", "OneCoin", "MACE"}
    for name, error in result.errors.items():
        assert error.value == pytest.approx(lost[name] @ weights / 800)
    assert result.error == result.errors[FUSION]
    for name, difference in result.differences.items():
        reach = np.mean(result.candidates.differ(name, FUSION))
        assert -reach - 1e-12 <= difference.low <= difference.value <= difference.high
        assert difference.high <= reach + 1e-12
        expected = (lost[name] - lost[FUSION]) @ weights / 800
        assert difference.value == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_shares_are_those_of_ppi_python_in_each_stratum(n_classes: int, seed: int) -> None:
    result, drawn = checked(n_classes, seed)
    plan = result.plan
    assert plan is not None
    assert plan.stratum_of_item is not None
    found = []
    for k, share in enumerate(result.class_shares.values()):
        total = 0.0
        for h, size in enumerate(plan.sizes):
            items = plan.positions[plan.strata == h]
            y = (drawn.truth[items] == k).astype(float)
            labelled = (result.fusion.labels == result.fusion.responses.classes[k]).astype(float)
            f, everywhere = labelled[items], labelled[plan.stratum_of_item == h]
            if f.var() == 0 and everywhere.var() > 0:
                break  # an unchecked cell, which is merged with another stratum
            weight = np.cov(y, f)[0, 1] / f.var(ddof=1) if f.var() else 0.0
            total += size * float(
                ppi_py.ppi_mean_pointestimate(y, f, everywhere, lam=weight, coord=None)[0]
            )
        else:
            found.append((share.value, total / 800))
    assert n_classes > 2 or found
    total = sum(share.value for share in result.class_shares.values())
    assert total == pytest.approx(1, abs=0.01)
    for value, expected in found:
        assert value == pytest.approx(expected, abs=1e-9 if n_classes == 2 else 0.02)


@pytest.mark.parametrize("budget", [30, 100])
def test_intervals_cover_the_truth(budget: int) -> None:
    covered: dict[str, list[bool]] = {"error": [], "vote": [], "class": [], "difference": []}
    crowds = [crowd(400, 2, seed) for seed in range(6)]
    fusions = [fuse(drawn.responses) for drawn in crowds]
    for seed in range(60):
        drawn, fusion = crowds[seed % 6], fusions[seed % 6]
        plan = plan_audit(fusion, budget, seed=seed)
        result = audit(fusion, plan, labels_of(plan, drawn.truth))
        error = np.mean(fusion.labels != drawn.truth)
        vote = error_rate(vote_posteriors(drawn.responses), drawn.truth)
        share, difference = result.class_shares[1], result.differences[VOTE]
        covered["error"].append(result.error.low <= error <= result.error.high)
        covered["vote"].append(result.errors[VOTE].low <= vote <= result.errors[VOTE].high)
        covered["class"].append(share.low <= np.mean(drawn.truth == 1) <= share.high)
        covered["difference"].append(difference.low <= vote - error <= difference.high)
    for name, of_seed in covered.items():
        assert np.mean(of_seed) >= 0.87, name  # 95 % less three standard errors of 60 audits


def test_all_items_checked_gives_the_exact_figures() -> None:
    drawn = crowd(60)
    fusion, plan, labels = planned(drawn, 60)
    for given in (plan, None):
        result = audit(fusion, given, labels)
        error = np.mean(fusion.labels != drawn.truth)
        assert (result.error.low, result.error.high) == pytest.approx((error, error))
        shares = np.bincount(drawn.truth, minlength=3) / 60
        assert [one.value for one in result.class_shares.values()] == pytest.approx(shares.tolist())
        assert result.more_checks(0.01) == 0
        assert "All 60 items" in result.summary()
        assert result.is_probability_sample
        right = drawn.responses.matrix() == drawn.truth[:, None]
        accuracy = right.sum(axis=0) / drawn.responses.responses_per_annotator
        np.testing.assert_allclose(result.annotators.accuracy, accuracy, atol=1e-6)


@pytest.mark.parametrize(
    ("n_items", "budget"), [(2, 1), (2, 2), (5, 1), (7, 3), (30, 2), (30, 29), (400, 7)]
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_small_tables_and_budgets(n_items: int, budget: int, n_classes: int) -> None:
    drawn = crowd(n_items, n_classes, 1, missing=0.0)
    fusion = fuse(Responses.from_matrix(drawn.responses.matrix(), classes=range(n_classes)))
    plan = plan_audit(fusion, budget)
    result = audit(fusion, plan, labels_of(plan, drawn.truth))
    shares = {**result.errors, **result.class_shares}
    for share in shares.values():
        assert 0 <= share.low <= share.value <= share.high <= 1
    for difference in result.differences.values():
        assert -1 <= difference.low <= difference.value <= difference.high <= 1
    assert np.all(np.isfinite(result.posteriors))
    np.testing.assert_allclose(result.posteriors.sum(axis=1), 1)
    assert "nan" not in result.summary().lower().split()
    assert result.more_checks(0.05) <= n_items - budget


def test_checks_of_one_kind_leave_a_possible_error() -> None:
    drawn = crowd(n_classes=2, skill=0.9, missing=0.0)
    fusion = fuse(drawn.responses)
    plan = plan_audit(fusion, 40)
    result = audit(fusion, plan, {item: fusion.labels[item] for item in plan.items.tolist()})
    assert result.error.value == result.error.low == 0
    assert 0.03 < result.error.high < 0.12
    assert 0 < result.more_checks(0.01) < 800
    with pytest.raises(BadParameter, match="points"):
        result.more_checks(0)
    one_class = audit(fusion, plan, dict.fromkeys(plan.items.tolist(), 0))
    share = one_class.class_shares[0]
    assert share.low < share.value <= share.high <= 1


def test_unchecked_items_of_a_plan_are_allowed() -> None:
    fusion, plan, labels = planned(crowd(), 60)
    some = dict(list(labels.items())[:25])
    result = audit(fusion, plan, {**dict.fromkeys(labels), **some})
    assert result.n_checked == 25
    assert "35 items of the plan have no label" in result.summary()
    only = plan.items[plan.strata == 4].tolist()  # the other strata have no checked item
    assert audit(fusion, plan, {item: labels[item] for item in only}).n_checked == len(only)


def test_a_list_of_ones_own_is_named_as_such() -> None:
    drawn = crowd()
    fusion = fuse(drawn.responses)
    labels = dict(enumerate(drawn.truth[:50].tolist()))
    result = audit(fusion, None, labels)
    assert not result.is_probability_sample
    assert "valid for items like those" in result.summary()
    assert result.error.value == pytest.approx(np.mean(fusion.labels[:50] != drawn.truth[:50]))
    assert result.labels == labels


def test_gold_items_count_as_known() -> None:
    drawn = crowd()
    gold = dict(enumerate(drawn.truth[:600].tolist()))
    fusion = fuse(drawn.responses, gold=gold)
    plan = plan_audit(fusion, 60)
    result = audit(fusion, plan, labels_of(plan, drawn.truth))
    assert "Every label" not in fusion.summary()
    assert result.n_checked == 60
    assert result.error.high < 0.25  # at most the 200 other items are wrong
    weights = 1 / result.plan.probability if result.plan else np.empty(0)
    wrong = fusion.labels[plan.positions] != drawn.truth[plan.positions]
    assert result.error.value == pytest.approx(wrong @ weights / 800)
    both = audit(fusion, plan, {**labels_of(plan, drawn.truth), 0: int(drawn.truth[0])})
    assert both.n_checked == 60
    with pytest.raises(BadLabels, match="another gold label"):
        audit(fusion, plan, {0: int(drawn.truth[0] + 1) % 3})


def test_bad_input_is_refused() -> None:
    drawn = crowd()
    fusion, plan, labels = planned(drawn, 20)
    first, outside = int(plan.items[0]), int(np.setdiff1d(np.arange(800), plan.positions)[0])
    refused: list[tuple[dict[Any, Any], str]] = [
        ({}, "No item was checked"),
        (dict.fromkeys(labels), "No item was checked"),
        ({first: 7}, "not among the classes"),
        ({"nobody": 0}, "not among the items"),
        ({outside: 0}, "not in the plan"),
    ]
    for wrong, message in refused:
        with pytest.raises(BadLabels, match=message):
            audit(fusion, plan, wrong)
    with pytest.raises(BadLabels, match="made for other items"):
        audit(fuse(drawn.responses.select_items(np.arange(790))), plan, {first: 0})
    with pytest.raises(BadLabels, match="another order"):
        audit(fuse(drawn.responses.select_items(np.arange(800)[::-1])), plan, {first: 0})


def test_another_fusion_of_the_same_items_can_be_audited() -> None:
    drawn = crowd(missing=0.0)
    plan = plan_audit(fuse(drawn.responses), 80)
    other = fuse(drawn.responses.select_annotators([0, 1, 2]))
    result = audit(other, plan, labels_of(plan, drawn.truth))
    wrong = other.labels[plan.positions] != drawn.truth[plan.positions]
    assert result.error.value == pytest.approx(wrong @ (1 / plan.probability) / 800)


@pytest.mark.parametrize(("power", "raises"), [(5.0, False), (0.2, True)])
def test_recalibration_undoes_over_and_underconfidence(power: float, raises: bool) -> None:
    drawn = crowd(4000)
    posteriors = drawn.model.posteriors(drawn.responses) ** power
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    checks = np.arange(300)
    found = recalibrate(posteriors[checks], drawn.truth[checks], np.ones(300))
    corrected = found(posteriors)
    np.testing.assert_array_equal(corrected.argmax(axis=1), posteriors.argmax(axis=1))
    np.testing.assert_allclose(corrected.sum(axis=1), 1)
    assert (corrected.max(axis=1).mean() > posteriors.max(axis=1).mean()) == raises
    rest = slice(300, None)
    before = calibration_error(posteriors[rest], drawn.truth[rest])
    assert calibration_error(corrected[rest], drawn.truth[rest]) < 0.6 * before


def test_annotators_are_corrected() -> None:
    drawn = crowd(3000)
    found = audit(*planned(drawn, 300)).annotators
    right = (drawn.responses.matrix() == drawn.truth[:, None]).sum(axis=0)
    accuracy = right / drawn.responses.responses_per_annotator
    assert np.all((found.low <= accuracy + 0.02) & (accuracy - 0.02 <= found.high))
    np.testing.assert_allclose(found.accuracy, accuracy, atol=0.06)
    assert np.all(found.n_checked > 0)


def test_an_annotator_without_checked_responses_is_unknown() -> None:
    matrix = np.full((40, 4), -1)
    matrix[:, :3] = np.random.default_rng(0).integers(0, 2, (40, 1))
    matrix[0, 3] = 1
    fusion = fuse(matrix)
    result = audit(fusion, None, {5: int(matrix[5, 0]), 6: int(matrix[6, 0])})
    assert result.annotators.n_checked.tolist() == [2, 2, 2, 0]
    assert (result.annotators.low[3], result.annotators.high[3]) == (0, 1)
    assert 0 <= result.annotators.accuracy[3] <= 1


def test_more_checks_give_the_precision_that_was_promised() -> None:
    result, drawn = checked()
    more = result.more_checks(0.03)
    assert more > 0
    assert result.plan is not None
    plan = result.plan.more(more)
    again = audit(result.fusion, plan, labels_of(plan, drawn.truth))
    assert again.error.half_width == pytest.approx(0.03, abs=0.007)
    assert result.more_checks(result.error.half_width * 1.01) == 0
