"""The expected error: features and formula a second time, and its intervals on simulated tables."""

import json
from importlib.resources import files

import numpy as np
import pytest
from scipy.special import expit, logit

from blindfuse import MACE, DawidSkene, Responses, fuse, simulate
from blindfuse.diagnostics.expected_error import (
    ExpectedError,
    Features,
    Relation,
    fitted_relation,
    measure_features,
    share_error,
    vote_margins,
)
from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.model.posteriors import weighted_votes
from blindfuse.model.shrinkage import implied_model
from tests.support.diagnostics_cases import crowd

RELATION = Relation(-0.3, (0.5, 0.2, -0.4, 0.1), 0.6)


def features(score: float = -2.0, n: int = 300, error: float = 0.1, **changes: bool) -> Features:
    return Features(error, 0.12, 0.15, 0.6, 1.4, score, changes.get("one_sided", False), n, 4)


@pytest.mark.parametrize("score", [-6.0, -1.0, 0.0, 3.0])
@pytest.mark.parametrize("n", [5, 300, 20_000])
def test_the_value_and_the_interval_are_those_of_the_mixture(score: float, n: int) -> None:
    found = features(score, n).expect(n, RELATION)
    shares = [(n * share + 0.5) / (n + 1) for share in (0.12, 0.15, 0.6)]
    values = [np.log(share / (1 - share)) for share in shares]
    values.append(np.log(1.4 / np.sqrt(n / 2000)))
    np.testing.assert_allclose(features(score, n).values(), values)
    related = -0.3 + 0.5 * values[0] + 0.2 * values[1] - 0.4 * values[2] + 0.1 * values[3]
    u = 1 / (1 + np.exp(-(np.log(4) + score)))
    mean = (1 - u) * logit(0.1) + u * related
    value = expit(mean)
    variance = (1 - u) * 0.15**2 + u * 0.6**2 + u * (1 - u) * (logit(0.1) - related) ** 2
    variance += 1 / max(n * value * (1 - value), 0.5)
    half = 1.2815515655 * np.sqrt(variance)
    whole = np.floor(n * expit(mean - half)) / n, np.ceil(n * expit(mean + half)) / n
    limits = np.minimum([value, *whole], 0.75)
    assert (found.value, found.low, found.high) == pytest.approx(tuple(limits))
    assert found.if_independent == 0.1


def test_the_stored_coefficients_are_used_in_their_order() -> None:
    text = (files("blindfuse.diagnostics") / "expected_error.json").read_text(encoding="utf-8")
    stored = json.loads(text)
    known = fitted_relation()
    assert known.slopes == tuple(stored["slopes"].values())
    assert len(known.slopes) == len(features().values())
    assert features().expect(300) == features().expect(300, known)


def test_one_sided_sources_have_the_error_of_the_relation() -> None:
    found = features(-9.0, one_sided=True)
    assert found.dependence() == 1
    assert found.expect(300, RELATION).value == pytest.approx(expit(RELATION.log_odds(found)))


@pytest.mark.parametrize("seed", range(4))
def test_features_are_those_of_loops_over_items(seed: int) -> None:
    responses = crowd(seed, n=150, missing=0.2).responses
    fitted, mace = DawidSkene().fit(responses), MACE().fit(responses)
    labels = fitted.posteriors_.argmax(axis=1)
    posteriors = fitted.posteriors_, mace.predict_proba(responses), fitted.posteriors_
    found = measure_features(responses, labels, posteriors, 1.5, False)
    errors = [1 - row[k] for row, k in zip(fitted.posteriors_, labels, strict=True)]
    assert found.independent_error == found.near_error == pytest.approx(np.mean(errors))
    errors = [1 - row[k] for row, k in zip(mace.posteriors_, labels, strict=True)]
    assert found.mace_error == pytest.approx(np.mean(errors))
    margins, shares = [], []
    overall = np.bincount(responses.by_item.symbols, minlength=3) / responses.n_responses
    for row, k in zip(responses.matrix(), labels, strict=True):
        votes = np.bincount(row[row >= 0], minlength=3)
        margins.append((np.sort(votes)[-1] - np.sort(votes)[-2]) / votes.sum())
        shares.append(1 - (votes[k] + overall[k]) / (votes.sum() + 1))
    assert found.margin == pytest.approx(np.mean(margins))
    assert share_error(weighted_votes(responses), labels) == pytest.approx(np.mean(shares))
    model = implied_model(responses, np.eye(3)[labels], 1)
    assert found.misfit == measure_fit(count_pairs(responses).compare_with(model), 6).misfit
    assert (found.score, found.n_items, found.n_classes) == (1.5, 150, 3)


def test_the_margin_of_one_class_is_all_votes() -> None:
    assert vote_margins(np.array([[3.0], [0.0]])).tolist() == [3, 0]


def test_intervals_contain_the_error_of_independent_annotators() -> None:
    inside, too_high = [], []
    for seed in range(12):
        n = (200, 600, 2000)[seed % 3]
        drawn = simulate(n, 8, 3, np.random.default_rng(seed), skill=0.2)
        fusion = fuse(drawn.responses)
        expected, error = fusion.expected_error, np.mean(fusion.labels != drawn.truth)
        assert expected is not None
        inside.append(expected.low <= error <= expected.high)
        too_high.append(expected.value > 2 * error)
    assert np.mean(inside) >= 0.9
    assert np.sum(too_high) <= 2


def test_items_without_responses_add_the_error_of_a_guess() -> None:
    drawn = crowd(0, n=300, missing=0.2)
    matrix = np.array(drawn.responses.matrix())
    full = fuse(Responses.from_matrix(matrix, classes=range(3)))
    empty = np.full((100, matrix.shape[1]), -1)
    fusion = fuse(Responses.from_matrix(np.vstack([matrix, empty]), classes=range(3)))
    assert fusion.expected_error is not None
    assert full.expected_error is not None
    guess = 1 - fusion.model.prior.max()
    by_hand = 0.75 * full.expected_error.value + 0.25 * guess
    assert fusion.expected_error.value == pytest.approx(by_hand, rel=0.02)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0723, "4.1 % if errors are independent; 7.2 % (3.9 to 13 %) as tables like this"),
        (0.0996, "4.1 % if errors are independent; 10 % (3.9 to 13 %) as tables like this"),
    ],
)
def test_the_text_states_both_parts(value: float, text: str) -> None:
    assert str(ExpectedError(value, 0.039, 0.128, 0.041)) == f"{text} turned out"
