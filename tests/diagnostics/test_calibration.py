"""The relation between what is visible and the expected error."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from blindfuse import Responses, simulate
from blindfuse.diagnostics.calibration import (
    ErrorInterval,
    combine,
    features,
    fitted_relation,
    probability_of_dependence,
    probability_of_shared_errors,
    typical_score,
)
from blindfuse.diagnostics.visible import Independence, Visible, fit_references, observe
from blindfuse.model.implied import implied_model

SEEN = Visible(
    mixed_error=0.15,
    mace_error=0.1,
    margin=0.5,
    misfit=2.0,
    share_error=0.3,
    one_sided=0.0,
    n_items=2_000,
    n_classes=3,
)

LARGE = Independence(
    z=0.0, excess_misfit=0.7, naming=0.8, n_items=10_000, n_annotators=10, responses_per_item=10.0
)
"""A large table without signs of dependence."""


def test_the_relation_increases_where_it_should() -> None:
    """More errors of reference models or misfit, or closer votes, never lower the error."""
    relation = fitted_relation()
    names = ("mixed_error", "mace_error", "misfit")
    for name, value in itertools.product(names, (1.2, 2.0)):
        worse = replace(SEEN, **{name: value * getattr(SEEN, name)})
        assert relation.log_odds(worse) >= relation.log_odds(SEEN), name
    assert relation.log_odds(replace(SEEN, margin=0.3)) >= relation.log_odds(SEEN)


@pytest.mark.parametrize("n_items", [1, 2, 10, 1_000, 10**7])
@pytest.mark.parametrize("dependence", [0.0, 0.3, 1.0])
def test_the_interval_contains_the_value_and_stays_within_bounds(
    n_items: int, dependence: float
) -> None:
    shares, classes = (0.0, 1e-9, 0.2, 0.999, 1.0), (2, 10, 1_000)
    for own, error, K in itertools.product(shares, shares, classes):
        seen = replace(SEEN, mixed_error=error, n_classes=K)
        for one_sided in (0.0, 1.0):
            found = combine(own, dependence, replace(seen, one_sided=one_sided), n_items, K)
            assert 0 <= found.low <= found.value <= found.high <= 1
            assert found.value <= 1 - 1 / K


def test_the_interval_is_narrow_only_for_large_independent_tables() -> None:
    large, small = (combine(0.1, 0.0, None, n, 2) for n in (100_000, 200))
    dependent = combine(0.1, 1.0, SEEN, 100_000, 3)
    assert large.value == pytest.approx(0.1)
    assert large.high / large.low < 1.2
    assert small.high / small.low > 1.5
    assert dependent.high / dependent.low > 2
    unsure = combine(0.01, 0.5, SEEN, 100_000, 3)
    assert unsure.high / unsure.low > dependent.high / dependent.low


def test_sampling_noise_is_that_of_a_binomial() -> None:
    """Of n independent labels with error p, 80 % of the shares of wrong ones are within."""
    rng = np.random.default_rng(0)
    for n, p in ((300, 0.2), (1_000, 0.05), (5_000, 0.1)):
        found = combine(p, 0.0, None, n, 2)
        shares = rng.binomial(n, p, size=20_000) / n
        inside = np.mean((found.low <= shares) & (shares <= found.high))
        assert 0.78 <= inside <= 0.95  # the spread of the model's own error adds a little


def test_dependence_is_probable_without_power_and_with_a_high_score() -> None:
    assert probability_of_dependence(LARGE) == 0
    assert probability_of_dependence(replace(LARGE, z=30.0)) > 0.99
    assert probability_of_dependence(replace(LARGE, n_items=2)) == pytest.approx(0.8, abs=0.05)
    assert probability_of_dependence(replace(LARGE, n_items=100, z=1.0)) > 0.7
    assert probability_of_dependence(replace(LARGE, n_annotators=3, responses_per_item=3.0)) > 0.7
    scores = [probability_of_dependence(replace(LARGE, z=z)) for z in np.linspace(0, 40, 50)]
    assert np.all(np.diff(scores) >= 0)


@pytest.mark.parametrize("n_items", [30, 300, 3_000])
@pytest.mark.parametrize("z", [0.0, 1.0, 2.5, 3.5])
def test_the_probability_of_dependence_is_that_of_a_simulation(n_items: int, z: float) -> None:
    """Of drawn tables with about this score, the share of those that were drawn as dependent."""
    table = replace(LARGE, z=z, n_items=n_items, n_annotators=20, responses_per_item=5.0)
    rng = np.random.default_rng(0)
    dependent = rng.random(4_000_000) < 0.8
    shown = dependent & (rng.random(len(dependent)) > (3 / 5) ** 5)
    means = np.where(shown, np.exp(rng.normal(np.log(typical_score(table)), 0.5, 4_000_000)), 0)
    near = np.abs(means + rng.normal(size=len(means)) - z) < 0.05
    expected = max(dependent[near].mean(), 1 / (1 + (4 / max(z, 1e-3)) ** 8))
    assert probability_of_dependence(table) == pytest.approx(expected, abs=0.05)


def test_quantiles_are_those_of_the_mixture() -> None:
    """The expected error is the median of drawn errors, and one in ten is above the interval."""
    relation, rng = fitted_relation(), np.random.default_rng(0)
    means = logit(0.02), relation.log_odds(SEEN)
    for probability in (0.05, 0.3, 0.7, 0.95):
        found = combine(0.02, probability, SEEN, 10**7, 3)
        dependent = rng.random(400_000) < probability
        spreads = np.where(dependent, relation.spread, 0.05)
        errors = expit(np.where(dependent, means[1], means[0]) + spreads * rng.normal(size=400_000))
        assert np.median(errors) == pytest.approx(found.value, rel=0.05)
        assert np.quantile(errors, 0.9) == pytest.approx(found.high, rel=0.05)


def test_the_interval_contains_what_the_model_says_unless_that_is_improbable() -> None:
    own = combine(0.02, 0.0, None, 5_000, 3)
    for probability in (0.3, 0.5, 0.8):
        assert combine(0.02, probability, SEEN, 5_000, 3).low == pytest.approx(own.low, rel=0.1)
    assert combine(0.02, 0.95, SEEN, 5_000, 3).low > 2 * own.high


def test_merged_groups_leave_dependence_open() -> None:
    """The expected error is that of the model, and the interval contains that of the relation."""
    merged, dependent = (
        combine(0.02, dependence, SEEN, 5_000, 3, merged=merged)
        for dependence, merged in ((0.0, True), (1.0, False))
    )
    assert merged.value == pytest.approx(0.02)
    assert merged.low < 0.02
    assert merged.high == pytest.approx(dependent.high, rel=0.1)


def test_few_responses_per_item_may_hide_dependence() -> None:
    """However large the table is, a share (3/n)⁵ of dependent tables has no score."""
    found = {
        n: probability_of_dependence(
            replace(LARGE, n_items=10**7, n_annotators=100, responses_per_item=n)
        )
        for n in (3.0, 4.0, 5.0, 10.0)
    }
    hidden = {n: 0.8 * (3 / n) ** 5 for n in (3.0, 4.0, 5.0)}
    expected = {n: share / (share + 0.2) for n, share in hidden.items()} | {10.0: 0.0}
    assert found == pytest.approx(expected, abs=1e-3)
    large = replace(LARGE, n_items=10**7, n_annotators=100, responses_per_item=4.0)
    assert probability_of_dependence(replace(large, of_symbols=True)) == 0


def test_dependence_is_probable_if_either_diagnostic_shows_it() -> None:
    """A model that takes shared errors for a class leaves a score far below zero."""
    assert probability_of_dependence(replace(LARGE, z=-16.0)) > 0.99
    assert probability_of_dependence(replace(LARGE, z=-2.0)) == 0
    assert probability_of_dependence(replace(LARGE, excess_misfit=1.5)) == pytest.approx(0.5)
    assert probability_of_dependence(replace(LARGE, excess_misfit=5.0)) > 0.99


def test_errors_are_shared_if_annotators_hardly_name_the_classes() -> None:
    shared = {
        naming: probability_of_shared_errors(replace(LARGE, naming=naming))
        for naming in (0.8, 0.6, 0.55, 0.45)
    }
    assert shared == pytest.approx({0.8: 0, 0.6: 0, 0.55: 0.4, 0.45: 0.8})
    assert probability_of_dependence(replace(LARGE, naming=0.45)) == 0
    assert probability_of_shared_errors(replace(LARGE, z=30.0)) > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_visible_figures_are_those_of_a_second_computation(seed: int) -> None:
    drawn = simulate(300, 6, 3, np.random.default_rng(seed), skill=0.3, missing=0.2)
    responses = drawn.responses
    answered = np.flatnonzero(responses.responses_per_item > 0)
    responses = responses.select_items(answered)
    labels = drawn.truth[answered]
    models = fit_references(responses)
    mixed, mace = models
    even = np.full((len(labels), 3), 1 / 3)
    seen = observe(responses, drawn.model, labels, even).visible(lambda: models)
    ratios = []
    for posterior, label in zip(mixed.posteriors_, labels, strict=True):
        second = max(p for k, p in enumerate(posterior) if k != label)
        ratios.append(second / (posterior[label] + second))
    assert seen.mixed_error == pytest.approx(np.mean(ratios))
    right = [posterior[label] for posterior, label in zip(mace.posteriors_, labels, strict=True)]
    assert seen.mace_error == pytest.approx(1 - np.mean(right))
    matrix = responses.matrix()
    leads = []
    for row in matrix:
        first, second, _ = sorted((np.mean(row[row >= 0] == k) for k in range(3)), reverse=True)
        leads.append(first - second)
    assert seen.margin == pytest.approx(np.mean(leads))
    assert observe(responses, drawn.model, labels, even).visible() == seen
    assert seen.one_sided == 0
    named = []
    for k in range(3):
        of_class = matrix[labels == k]
        reports = sorted(((of_class == one).sum() for one in range(3) if one != k), reverse=True)
        named.append((of_class == k).sum() / ((of_class == k).sum() + reports[0]))
    independence = observe(responses, drawn.model, labels, even).independence(np.arange(6))
    assert independence.naming == pytest.approx(min(named))
    assert len(features(seen)) == len(fitted_relation().slopes)


def test_items_without_responses_and_gold_items_are_not_observed() -> None:
    matrix = np.array([[0, 1], [-1, -1], [1, 1], [0, 0]])
    responses = Responses.from_matrix(matrix)
    is_gold = np.array([False, False, True, False])
    labels = np.array([0, 0, 1, 0])
    model = implied_model(responses, np.eye(2)[labels], None)
    seen = observe(responses, model, labels, np.eye(2)[labels], is_gold)
    assert seen.responses.items.tolist() == [0, 3]


def test_percentages_have_a_decimal_below_ten() -> None:
    assert str(ErrorInterval(0.0934, 0.0512, 0.1851)) == "9.3 % (80 % interval 5.1 to 19 %)"
