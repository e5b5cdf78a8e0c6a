"""The baselines: what each of them estimates, and errors that papers report."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    KOS,
    MMSR,
    BadParameter,
    DawidSkene,
    EigenRatio,
    MajorityVote,
    Oracle,
    RankTooLow,
    SingleBest,
    Spectral,
    SpectralMetaLearner,
    TriangularEstimation,
    Wawa,
    ZeroBasedSkill,
    simulate,
)
from blindfuse.metrics import confusion_error, error_rate
from tests.conftest import Crowds
from tests.estimators.crowds import crowd, crowd_with_adversaries, one_coin_matrix

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_two_class_methods_recover_accuracies(seed: int, missing: float) -> None:
    """θ = E[response × truth] where annotators are equally accurate in both classes."""
    matrix, accuracy = one_coin_matrix(seed, missing)
    weights = EigenRatio().fit(matrix).weights_
    np.testing.assert_array_equal(np.argsort(weights), np.argsort(accuracy))
    skills = TriangularEstimation().fit(matrix).skills_
    np.testing.assert_allclose(skills, 2 * accuracy - 1, atol=0.03)
    model = SpectralMetaLearner().fit(matrix).model_
    np.testing.assert_allclose(model.accuracies, accuracy, atol=0.02)


@pytest.mark.parametrize("method", [EigenRatio, TriangularEstimation])
def test_adversaries_have_negative_weights(method: Any) -> None:
    simulation = crowd_with_adversaries()
    fitted = method().fit(simulation.responses)
    assert np.all(fitted.weights_[:5] > 0)
    assert np.all(fitted.weights_[5:] < 0)
    assert error_rate(fitted.posteriors_, simulation.truth) < 0.05


PUBLISHED = [
    (EigenRatio(), "bird", 27.78),
    (EigenRatio(), "rte", 9.00),
    (KOS(variant="svd", ordered=True), "bird", 11.11),
    (KOS(variant="svd", ordered=True), "rte", 39.75),
    (KOS(variant="svd", ordered=True), "web", 42.93),
]


@pytest.mark.parametrize(("method", "name", "percent"), PUBLISHED)
def test_published_errors(crowds: Crowds, method: Any, name: str, percent: float) -> None:
    crowd = crowds[name]
    posteriors = method.fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) == pytest.approx(percent, abs=0.15)


@pytest.mark.parametrize("method", [Wawa, ZeroBasedSkill])
def test_weights_are_agreements_with_a_vote(method: Any) -> None:
    """With the majority vote once, or with the vote that has these weights."""
    responses = crowd(4).responses
    fitted, matrix = method().fit(responses), responses.matrix()
    vote = MajorityVote().fit(responses) if method is Wawa else fitted
    for m in range(7):
        is_labelled = matrix[:, m] >= 0
        agreement = np.mean(matrix[is_labelled, m] == vote.labels_[is_labelled])
        assert fitted.weights_[m] == pytest.approx(agreement, abs=1e-6 if method is Wawa else 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_prior_and_confusion_matrices_are_recovered(seed: int) -> None:
    simulation = simulate(
        300_000, 6, 2, np.random.default_rng(seed), prior=[0.8, 0.2], missing=0.2, skill=0.2
    )
    fitted = SpectralMetaLearner().fit(simulation.responses)
    np.testing.assert_allclose(fitted.model_.prior, [0.8, 0.2], atol=0.03)
    np.testing.assert_allclose(fitted.model_.confusions, simulation.model.confusions, atol=0.05)


def test_one_iteration_of_messages_written_out() -> None:
    """Messages exclude what came from their receiver; written out with loops."""
    responses = simulate(30, 5, 2, np.random.default_rng(0), missing=0.3).responses
    signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
    draws = np.random.default_rng(4).normal(1.0, 1.0, size=responses.n_responses)
    y = np.zeros((30, 5))
    y[signs != 0] = draws
    x = np.zeros((30, 5))
    new = np.zeros((30, 5))
    for i, j in zip(*np.nonzero(signs), strict=True):
        x[i, j] = sum(signs[i, k] * y[i, k] for k in range(5) if k != j)
    for i, j in zip(*np.nonzero(signs), strict=True):
        new[i, j] = sum(signs[k, j] * x[k, j] for k in range(30) if k != i)
    expected = (signs * new).sum(axis=1) > 0
    fitted = KOS(n_iter=1, seed=4).fit(responses)
    has_two = responses.responses_per_item > 1
    np.testing.assert_array_equal(fitted.labels_[has_two], expected[has_two])


def test_the_svd_variant_of_kos_is_the_leading_singular_vector() -> None:
    responses = crowd(3, n=300, k=2).responses
    signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
    left, _, right = np.linalg.svd(signs - signs.mean(axis=0), full_matrices=False)
    turn = 1 if np.sum(right[0][right[0] >= 0] ** 2) >= 0.5 else -1
    fitted = KOS(variant="svd").fit(responses)
    np.testing.assert_array_equal(fitted.labels_, turn * left[:, 0] > 0)


@pytest.mark.parametrize("seed", range(3))
def test_ordered_classes_reduce_the_error_on_web(crowds: Crowds, seed: int) -> None:
    crowd = crowds["web"]
    posteriors = KOS(ordered=True, seed=seed).fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) < 7


def draw_skilled(seed: int, skills: Any, n: int = 20_000, k: int = 4) -> Any:
    """Draw one-coin responses of annotators with these skills, a third of them missing."""
    rng = np.random.default_rng(seed)
    right = ((k - 1) * np.asarray(skills) + 1) / k
    truth = rng.integers(k, size=n)
    wrong = (truth[:, None] + rng.integers(1, k, size=(n, len(right)))) % k
    matrix = np.where(rng.random(wrong.shape) < right, truth[:, None], wrong)
    matrix[rng.random(wrong.shape) < 0.33] = -1
    return matrix, truth


@pytest.mark.parametrize("seed", range(4))
def test_skills_are_recovered_with_an_adversary(seed: int) -> None:
    skills = np.array([0.9, 0.7, 0.5, 0.6, 0.8, 0.4, 0.5, -0.3])
    matrix, truth = draw_skilled(seed, skills)
    fitted = MMSR().fit(matrix)
    np.testing.assert_allclose(fitted.skills_, skills, atol=0.04)
    vote = MajorityVote().fit(matrix)
    assert error_rate(fitted.posteriors_, truth) < error_rate(vote.posteriors_, truth)


@pytest.mark.parametrize("seed", range(3))
def test_trimming_reduces_the_effect_of_a_copied_annotator(seed: int) -> None:
    skills = np.linspace(0.4, 0.8, 12)
    matrix, _ = draw_skilled(seed, skills)
    matrix[:, 1] = matrix[:, 0]
    errors = [
        np.abs(MMSR(trim=trim).fit(matrix).skills_[2:] - skills[2:]).mean() for trim in (0.25, 0.0)
    ]
    assert errors[0] < errors[1]
    assert errors[0] < 0.03


def test_exact_moments_give_the_exact_model() -> None:
    """Every response is as frequent as its probability, in 2 × 4³ and 4 × 4³ items."""
    for quarters, shares in (
        ([[3, 1], [1, 3]], [1, 1]),
        ([[3, 1, 1], [1, 3, 1], [0, 0, 2]], [1, 2, 1]),
    ):
        rows = []
        for k, share in enumerate(shares):
            reported = np.repeat(np.arange(len(shares)), np.array(quarters)[:, k])
            grid = np.array(np.meshgrid(*[reported] * 3)).reshape(3, -1).T
            rows += [grid] * share
        model = Spectral(shrinkage=None).fit(np.concatenate(rows)).model_
        np.testing.assert_allclose(model.prior, np.array(shares) / sum(shares), atol=1e-6)
        for confusion in model.confusions:
            np.testing.assert_allclose(confusion, np.array(quarters) / 4, atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_errors_fall_with_the_number_of_items(missing: float) -> None:
    means = []
    for n in (3_000, 30_000, 300_000):
        errors = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            simulation = simulate(n, 9, 3, rng, skill=0.3, missing=missing)
            model = Spectral().fit(simulation.responses).model_
            errors.append(confusion_error(model, simulation.model))
        means.append(np.mean(errors))
    assert means[0] > 2 * means[1] > 4 * means[2]


def test_a_rank_below_the_number_of_classes_warns_and_falls_back() -> None:
    """No annotator distinguishes two of the three classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=2000)
    confusion = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
    matrix = np.array([rng.choice(3, size=7, p=confusion[:, k]) for k in truth])
    for method in (Spectral(), DawidSkene(start="spectral")):
        with pytest.warns(RankTooLow, match=r"fewer than 3 classes.*majority vote"):
            method.fit(matrix)
    spectral = Spectral()
    with pytest.warns(RankTooLow):
        spectral.fit(matrix)
    assert spectral.fallback_ is not None
    votes = MajorityVote().fit(matrix)
    assert np.mean(spectral.labels_ == votes.labels_) > 0.7
    clear = Spectral().fit(crowd(missing=0.0).responses)
    assert clear.fallback_ is None


def test_the_best_annotator_that_labelled_an_item_decides() -> None:
    simulation = crowd(3)
    truth = dict(enumerate(simulation.truth.tolist()))
    fitted = SingleBest(truth=truth).fit(simulation.responses)
    matrix = simulation.responses.matrix()
    right = [
        np.mean(matrix[matrix[:, m] >= 0, m] == simulation.truth[matrix[:, m] >= 0])
        for m in range(7)
    ]
    np.testing.assert_allclose(fitted.accuracies_, right)
    ranking = np.argsort(right)[::-1]
    for row, label in zip(matrix, fitted.labels_, strict=True):
        reported = [row[m] for m in ranking if row[m] >= 0]
        assert not reported or reported[0] == label


def test_the_single_best_needs_the_truth() -> None:
    with pytest.raises(BadParameter, match=r"needs the true labels\. Pass truth="):
        SingleBest().fit(crowd().responses)


def test_the_oracle_of_a_simulation_uses_its_model() -> None:
    simulation = crowd(1)
    for rule in ("map", "ml"):
        fitted = Oracle(model=simulation.model, rule=rule).fit(simulation.responses)
        expected = simulation.model.posteriors(simulation.responses, rule)
        np.testing.assert_allclose(fitted.posteriors_, expected)


def test_the_oracle_counts_confusion_matrices_against_the_truth() -> None:
    simulation = crowd(2)
    truth = dict(enumerate(simulation.truth.tolist()))
    model = Oracle(truth=truth).fit(simulation.responses).model_
    matrix = simulation.responses.matrix()
    for m in range(7):
        for k in range(3):
            reported = matrix[(simulation.truth == k) & (matrix[:, m] >= 0), m]
            shares = np.bincount(reported, minlength=3) / len(reported)
            np.testing.assert_allclose(model.confusions[m, :, k], shares)
    np.testing.assert_allclose(model.prior, np.bincount(simulation.truth) / 1500)


def test_the_oracle_needs_a_model_or_the_truth() -> None:
    with pytest.raises(BadParameter, match="either model= or truth="):
        Oracle().fit(crowd().responses)
