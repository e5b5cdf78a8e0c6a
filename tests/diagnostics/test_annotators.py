"""Accuracy intervals and their coverage, flags, bias and worst classes."""

from collections.abc import Callable

import numpy as np
import pytest

from blindfuse import DawidSkene, Model, Responses, diagnose, fuse, simulate
from blindfuse.diagnostics.annotators import _count_by_others, rate_annotators
from blindfuse.typing import Codes
from experiments.awkward_crowds import KINDS as AWKWARD_KINDS
from experiments.awkward_crowds import Kind
from experiments.hard_to_rate import KINDS, hard_crowd
from experiments.skilled_crowds import FAMILIES, Family, skilled_crowd
from tests.support.diagnostics_cases import crowd, diagnosed
from tests.support.fusion_cases import fuse_case


@pytest.mark.parametrize(
    ("k", "n", "m", "missing"),
    [(2, 500, 5, 0.0), (2, 2000, 8, 0.3), (3, 2000, 15, 0.7), (5, 1000, 10, 0.0)],
)
def test_intervals_cover_the_true_accuracy(k: int, n: int, m: int, missing: float) -> None:
    inside: list[bool] = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        simulation = simulate(n, m, k, rng, skill=0.2, missing=missing)
        found = diagnosed(simulation.responses)[0].annotators
        truth = simulation.model.accuracies
        inside += ((found.low <= truth) & (truth <= found.high)).tolist()
    assert 0.92 <= np.mean(inside) <= 0.98


def test_interval_is_that_of_a_proportion_where_classes_are_known() -> None:
    """Twelve others are always right, so that responses are binomial for each class."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 1000)
    right = rng.random(2000) < 0.8
    matrix = np.column_stack([np.where(right, truth, 1 - truth), *[truth] * 12])
    shares = [right[:1000].mean(), right[1000:].mean()]
    confusion = np.array([[shares[0], 1 - shares[1]], [1 - shares[0], shares[1]]])
    known = 0.998 * np.eye(2) + 0.001
    confusions = np.stack([confusion, *[known] * 12])
    model = Model(confusions, np.full(2, 0.5), np.arange(13), np.arange(2))
    found = rate_annotators(Responses.from_matrix(matrix), model)
    variance = sum(s * (1 - s) / 1000 for s in shares) / 4
    variance += np.var(shares) / 2000
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 * variance**0.5, rel=0.05)


def test_spammers_adversaries_and_constant_annotators_are_flagged() -> None:
    rng = np.random.default_rng(1)
    good = simulate(1000, 6, 2, rng, skill=0.5)
    matrix = np.array(good.responses.matrix())
    spammer = rng.integers(2, size=1000)
    adversary = np.where(rng.random(1000) < 0.85, 1 - good.truth, good.truth)
    constant = np.ones(1000, dtype=int)
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
    low, high = 100 * np.quantile(found.annotators.accuracy, [0.25, 0.75])
    assert f"Estimated accuracy: {low:.0f} to {high:.0f} % for most" in found.annotators.summary()
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


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_intervals_cover_whatever_the_crowd(kind: str) -> None:
    inside = []
    for seed in range(2):
        simulation = hard_crowd(kind, seed)
        found, true = fuse(simulation.responses).diagnostics.annotators, simulation.model.accuracies
        inside.append(((found.low <= true) & (true <= found.high))[found.n_responses > 0])
    assert np.mean(np.concatenate(inside)) > 0.85


@pytest.mark.parametrize("n_classes", [2, 20])
@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_of_few_responses_are_neither_narrow_nor_wide(
    family: Family, n_classes: int
) -> None:
    inside = []
    for seed in range(100, 110):
        simulation = skilled_crowd(family, n_classes, 20, seed)
        fitted = DawidSkene().fit(simulation.responses)
        found = rate_annotators(simulation.responses, fitted.model_)
        true = simulation.model.accuracies
        inside.append((found.low <= true) & (true <= found.high))
    assert 0.9 < np.mean(inside) < 0.99


def test_an_annotator_without_errors_has_an_interval_below_its_estimate() -> None:
    """With 500 responses, the limits are near those of a proportion of one: 0.993 to 1."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=500)
    right = rng.random((500, 12)) < [1.0, 1.0, *rng.uniform(0.6, 0.95, 10)]
    matrix = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (500, 12))) % 3)
    found = fuse(matrix).diagnostics.annotators
    assert np.all(found.low[:2] > 0.98)
    assert np.all(found.low[:2] < found.accuracy[:2] - 0.001)
    assert np.all(found.high[:2] > 0.999)


def test_the_summary_says_if_accuracies_are_those_of_the_labels() -> None:
    assert "if the fused labels are right" in fuse_case("copying", 0).diagnostics.summary()
    assert "if the fused labels are right" not in fuse_case("plain", 0).diagnostics.summary()


def test_responses_by_what_others_say_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = skilled_crowd("class", 5, 20, 0)
    responses, model = simulation.responses, simulation.model
    posteriors, K = model.posteriors(responses), responses.n_classes
    by_hand = np.zeros((responses.n_annotators, K, K))
    for item, row in enumerate(responses.matrix()):
        for m in np.flatnonzero(row >= 0):
            left = posteriors[item] / np.maximum(model.confusions[m, row[m]], 1e-10)
            by_hand[m, row[m]] += left / left.sum()
    found = _count_by_others(responses, model, posteriors)
    np.testing.assert_allclose(found, by_hand, atol=1e-9)
    monkeypatch.setattr("blindfuse.diagnostics.annotators.MAX_SAMPLED", 10)
    drawn = _count_by_others(responses, model, posteriors).sum(axis=(1, 2))
    assert 6 < drawn.mean() < 14


@pytest.mark.parametrize("K", [2, 3])
def test_intervals_of_three_hundred_responses_are_narrow(K: int) -> None:
    """Of what ``fuse`` says, with ten annotators who respond to half of the items."""
    widths, inside = [], []
    for seed in range(8):
        drawn = simulate(600, 10, K, np.random.default_rng(seed), skill=0.3, missing=0.5)
        found, true = fuse(drawn.responses).diagnostics.annotators, drawn.model.accuracies
        widths.append(found.high - found.low)
        inside.append((found.low <= true) & (true <= found.high))
    assert np.median(widths) <= 0.14
    assert np.mean(inside) >= 0.9


@pytest.mark.parametrize("n_classes", [2, 4])
def test_annotators_with_few_responses_are_not_flagged(n_classes: int) -> None:
    """One correct response has a chance agreement of one; that makes nobody an adversary."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=600)
    items = np.concatenate([np.tile(np.arange(600), 5), np.arange(600)])
    annotators = np.concatenate([np.repeat(np.arange(5), 600), np.arange(5, 605)])
    right = rng.random(len(items)) < 0.8
    wrong = (truth[items] + rng.integers(1, n_classes, size=len(items))) % n_classes
    table = Responses.from_codes(
        items,
        annotators,
        np.where(right, truth[items], wrong),
        items=np.arange(600),
        annotators=np.arange(605),
        classes=np.arange(n_classes),
    )
    found = fuse(table).diagnostics.annotators
    assert not found.adversary.any()
    assert not found.spammer.any()


def _crowd_of_two(seed: int, share: float) -> tuple[Codes, int]:
    """30 annotators of two classes, of whom five guess."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(2, size=400, p=(1 - share, share))
    skills = np.repeat([0.5, 0.9], [5, 25])
    matrix = np.where(rng.random((400, 30)) < skills, truth[:, None], 1 - truth[:, None])
    return np.where(rng.random((400, 30)) < 0.8, -1, matrix), 5


def _crowd_of_hundred(seed: int, share: float) -> tuple[Codes, int]:
    """Annotators give fewer responses than a table of a hundred classes has columns."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(100, size=1200)
    skills = np.concatenate([np.full(5, share), rng.uniform(0.4, 0.95, 45)])
    wrong = (truth[:, None] + rng.integers(1, 100, (1200, 50))) % 100
    matrix = np.where(rng.random((1200, 50)) < skills, truth[:, None], wrong)
    matrix[rng.random((1200, 50)) < 0.92] = -1
    return matrix[(matrix >= 0).any(axis=1)], 5


def _crowd_with_a_rare_class(seed: int, share: float) -> tuple[Codes, int]:
    """Whoever reports a class of five percent at random is right nine times of ten."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(1000) < share).astype(int)
    right = rng.random((1000, 25)) < rng.uniform(0.8, 0.97, 25)
    matrix = np.where(right, truth[:, None], 1 - truth[:, None])
    matrix[:, :3] = rng.random((1000, 3)) < 0.04
    return np.where(rng.random((1000, 25)) < 0.6, -1, matrix), 3


@pytest.mark.parametrize(
    ("draw", "share", "seeds", "least"),
    [
        (_crowd_of_two, 0.5, 4, 0.8),
        (_crowd_of_two, 0.1, 4, 0.8),
        (_crowd_of_two, 0.05, 4, 0.8),
        (_crowd_of_hundred, 0.01, 1, 0.8),
        (_crowd_with_a_rare_class, 0.05, 4, 0.6),
    ],
)
def test_guessers_are_flagged_and_skilled_annotators_are_not(
    draw: Callable[[int, float], tuple[Codes, int]], share: float, seeds: int, least: float
) -> None:
    """Where a class is rare, the responses of hardly anyone depend significantly on it."""
    flagged = []
    for seed in range(seeds):
        matrix, n_guessers = draw(seed, share)
        flagged.append(fuse(matrix).diagnostics.annotators.spammer)
    mean = np.mean(flagged, axis=0)
    assert mean[:n_guessers].mean() >= least
    assert mean[n_guessers:].mean() < 0.02


ONE_SIDED = [kind for kind in AWKWARD_KINDS if kind.family == "one-sided sources"]


@pytest.mark.parametrize("kind", ONE_SIDED, ids=lambda kind: kind.name)
def test_sources_of_one_class_are_not_worse_than_chance(kind: Kind) -> None:
    """They are right on most items that they label, and abstain on the others."""
    for seed in range(1):
        rated = fuse(kind.crowd(seed).responses).diagnostics.annotators
        assert not rated.adversary.any()
