"""Which items an audit checks."""

from collections import Counter

import numpy as np
import pytest

from blindfuse import BadLabels, BadParameter, Fusion, Responses, fuse, plan_audit
from blindfuse.auditing.plan import CHECKS_PER_STRATUM, MAX_STRATA, draw_plan, restore_plan
from tests.audit.crowds import crowd


@pytest.fixture(scope="module")
def fusion() -> Fusion:
    return fuse(crowd(400).responses)


@pytest.mark.parametrize("budget", [1, 2, 5, 12, 30, 100, 399, 400])
def test_every_budget_is_a_stratified_sample_without_repeats(fusion: Fusion, budget: int) -> None:
    plan = plan_audit(fusion, budget)
    assert len(plan) == len(set(plan.items.tolist())) == budget
    assert plan.sizes.sum() == 400
    assert len(plan.sizes) == np.clip(budget // CHECKS_PER_STRATUM, 1, MAX_STRATA)
    drawn = np.bincount(plan.strata, minlength=len(plan.sizes))
    assert np.all(drawn >= 1)  # so no item has probability zero
    np.testing.assert_allclose(plan.probability, (drawn / plan.sizes)[plan.strata])
    assert plan.stratum_of_item is not None
    np.testing.assert_array_equal(plan.stratum_of_item[plan.positions], plan.strata)
    np.testing.assert_array_equal(fusion.responses.items[plan.positions], plan.items)


def test_inclusion_probabilities_are_the_frequencies_over_seeds(fusion: Fusion) -> None:
    first = plan_audit(fusion, 60)
    np.testing.assert_array_equal(plan_audit(fusion, 60, seed=1).sizes, first.sizes)
    assert first.stratum_of_item is not None
    counts: Counter[int] = Counter()
    for seed in range(300):
        plan = draw_plan(first.candidates, first.n_strata, 60, seed)
        counts.update(plan.positions.tolist())
    drawn = np.bincount(first.strata)
    expected = (drawn / first.sizes)[first.stratum_of_item]
    frequency = np.array([counts[item] for item in range(400)]) / 300
    z = (frequency - expected) / np.sqrt(expected * (1 - expected) / 300)
    assert np.abs(z).max() < 4.5
    assert 0.8 < z.std() < 1.2


@pytest.mark.parametrize("seed", range(5))
def test_the_sample_does_not_depend_on_data_of_the_same_seed(seed: int) -> None:
    truth = np.random.default_rng(seed).random(400) < 0.5
    fusion = fuse(np.column_stack([truth, truth, truth]).astype(int))
    drawn = truth[plan_audit(fusion, 100, seed=seed).positions]
    assert abs(drawn.mean() - truth.mean()) < 0.2


def test_uncertain_items_are_drawn_more_often(fusion: Fusion) -> None:
    plan = plan_audit(fusion, 60)
    errors = plan.candidates.error_probability
    assert plan.stratum_of_item is not None
    mean = [errors[plan.stratum_of_item == h].mean() for h in range(len(plan.sizes))]
    probability = [plan.probability[plan.strata == h][0] for h in range(len(plan.sizes))]
    assert probability[int(np.argmax(mean))] > 1.3 * probability[int(np.argmin(mean))]


def test_more_checks_continue_the_same_sample(fusion: Fusion) -> None:
    whole = plan_audit(fusion, 150, seed=2)
    extended = plan_audit(fusion, 60, seed=2).more(50).more(40)
    np.testing.assert_array_equal(extended.items, whole.items)
    np.testing.assert_array_equal(extended.probability, whole.probability)


def test_a_plan_is_restored_from_its_columns(fusion: Fusion) -> None:
    plan = plan_audit(fusion, 40, seed=3)
    design = plan.items, plan.strata + 1, plan.sizes[plan.strata], plan.n_strata
    restored = restore_plan(fusion, *design, seed=3)
    np.testing.assert_array_equal(restored.more(25).items, plan.more(25).items)
    other = restore_plan(fusion, plan.items, plan.strata, plan.sizes[plan.strata] + 1)
    np.testing.assert_array_equal(other.sizes, plan.sizes + 1)  # those of the file are kept
    with pytest.raises(BadLabels, match="cannot be extended"):
        other.more(5)
    with pytest.raises(BadLabels, match="not among the fused items"):
        restore_plan(fusion, ["nobody"], [0], [10])
    with pytest.raises(BadLabels, match="fewer items than were drawn"):
        restore_plan(fusion, plan.items, plan.strata, np.ones(40))


def test_wrong_budgets_are_refused(fusion: Fusion) -> None:
    for budget in (0, -3, 2.5):
        with pytest.raises(BadParameter, match="budget"):
            plan_audit(fusion, budget)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="budget=401 is too large: 400 items"):
        plan_audit(fusion, 401)
    with pytest.raises(BadParameter, match="390 items are left"):
        plan_audit(fusion, 10).more(391)
    with pytest.raises(BadParameter, match="more"):
        plan_audit(fusion, 10).more(0)


def test_gold_items_are_not_drawn() -> None:
    responses = crowd(400).responses
    fusion = fuse(responses, gold=dict.fromkeys(range(350), 0))
    assert plan_audit(fusion, 50).items.min() >= 350
    with pytest.raises(BadParameter, match="50 items can be checked"):
        plan_audit(fusion, 51)
    with pytest.raises(BadParameter, match="Every item has a gold label"):
        plan_audit(fuse(responses, gold=dict.fromkeys(range(400), 0)), 5)


@pytest.mark.parametrize(
    "table",
    [[[0]], [[0, 1]], [[0, 0], [0, 0]], [[0, 1, -1], [-1, -1, -1], [1, 1, 1]], [[0], [1], [0]]],
    ids=["one item", "a tie", "one class only", "an item without responses", "one annotator"],
)
def test_tiny_tables(table: list[list[int]]) -> None:
    fusion = fuse(Responses.from_matrix(np.array(table), classes=[0, 1]))
    plan = plan_audit(fusion, len(table))
    np.testing.assert_array_equal(np.sort(plan.positions), np.arange(len(table)))
    np.testing.assert_array_equal(plan.probability, 1.0)
