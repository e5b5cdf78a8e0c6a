"""Accuracy intervals and their coverage, flags, bias and worst classes."""

import numpy as np
import pytest

from blindfuse import Model, Responses, diagnose, simulate
from tests.support.diagnostics_cases import crowd, diagnosed


@pytest.mark.parametrize(
    ("k", "n", "m", "missing"),
    [(2, 500, 5, 0.0), (2, 2000, 8, 0.3), (3, 5000, 15, 0.7), (5, 2000, 10, 0.0)],
)
def test_intervals_cover_the_true_accuracy(k: int, n: int, m: int, missing: float) -> None:
    inside: list[bool] = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        simulation = simulate(n, m, k, rng, skill=0.2, missing=missing)
        found = diagnosed(simulation.responses)[0].annotators
        truth = simulation.model.accuracies
        inside += ((found.low <= truth) & (truth <= found.high)).tolist()
    assert 0.9 <= np.mean(inside) <= 0.98


def test_interval_is_that_of_a_proportion_where_classes_are_known() -> None:
    """With posteriors of zero and one, responses are binomial for each class."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 1000)
    right = rng.random(2000) < 0.8
    matrix = np.where(right, truth, 1 - truth)[:, None]
    shares = [right[:1000].mean(), right[1000:].mean()]
    confusion = np.array([[shares[0], 1 - shares[1]], [1 - shares[0], shares[1]]])
    model = Model(confusion[None], np.full(2, 0.5), np.arange(1), np.arange(2))
    found = diagnose(Responses.from_matrix(matrix), model, np.eye(2)[truth]).annotators
    variance = sum(s * (1 - s) / 1000 for s in shares) / 4
    variance += np.var(shares) / 2000
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 * variance**0.5, rel=0.02)


def test_spammers_adversaries_and_constant_annotators_are_flagged() -> None:
    rng = np.random.default_rng(1)
    good = simulate(3000, 6, 2, rng, skill=0.5)
    matrix = np.array(good.responses.matrix())
    spammer = rng.integers(2, size=3000)
    adversary = np.where(rng.random(3000) < 0.85, 1 - good.truth, good.truth)
    constant = np.ones(3000, dtype=int)
    table = np.column_stack([matrix, spammer, adversary, constant])
    found = diagnosed(Responses.from_matrix(table))[0].annotators
    assert found.spammer.tolist() == [False] * 6 + [True, False, False]
    assert found.adversary.tolist() == [False] * 7 + [True, False]
    assert found.constant.tolist() == [False] * 8 + [True]
    assert [found.flags_of(m) for m in (5, 6, 7, 8)] == [
        [],
        ["spammer"],
        ["adversary"],
        ["constant"],
    ]
    assert "Worse than chance: 7" in found.summary()
    assert "No better than chance: 6" in found.summary()
    assert "Always the same response: 8" in found.summary()


@pytest.mark.parametrize("seed", range(4))
def test_flags_do_not_depend_on_the_confidence_of_the_labels(seed: int) -> None:
    """Posteriors that were made less confident make nobody a spammer, and clear nobody."""
    rng = np.random.default_rng(seed)
    matrix = np.array(simulate(1500, 6, 2, rng, skill=0.4).responses.matrix())
    responses = Responses.from_matrix(np.column_stack([matrix, rng.integers(2, size=1500)]))
    found, fitted = diagnosed(responses)
    lowered = 0.4 * fitted.posteriors_ + 0.3
    again = diagnose(responses, fitted.model_, lowered)
    assert found.annotators.spammer.tolist() == [False] * 6 + [True]
    assert again.annotators.spammer.tolist() == found.annotators.spammer.tolist()


def test_bias_and_worst_class_match_a_direct_computation() -> None:
    responses = crowd(2).responses
    found, fitted = diagnosed(responses)
    matrix = responses.matrix()
    for m in range(6):
        responded = matrix[:, m] >= 0
        reported = np.bincount(matrix[responded, m], minlength=3) / responded.sum()
        expected = fitted.posteriors_[responded].mean(axis=0)
        np.testing.assert_allclose(found.annotators.bias[m], reported - expected)
        column = fitted.model_.confusions[m, :, found.annotators.worst_class[m]]
        recalls = np.diag(fitted.model_.confusions[m])
        assert recalls[found.annotators.worst_class[m]] == recalls.min()
        others = [a for a in range(3) if a != found.annotators.worst_class[m]]
        assert found.annotators.confused_with[m] == max(others, key=lambda a: column[a])


def test_the_summary_has_the_interquartile_range_of_accuracy() -> None:
    found = diagnosed(crowd(5, m=9).responses)[0].annotators
    low, high = np.quantile(found.accuracy, [0.25, 0.75])
    assert found.summary().startswith(
        f"Estimated accuracy: {100 * low:.0f} to {100 * high:.0f} % for most (interquartile range)."
    )
