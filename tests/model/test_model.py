"""Model: posteriors, labels, and the checks of its arrays."""

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest

from blindfuse import BadLabels, BadModel, BadParameter, Model, Responses, simulate
from tests.model.cases import example_model, random_responses


def posterior_by_bayes(model: Model, row: list[int], rule: str) -> list[float]:
    """π_k Π_m Γ_m(f_m, k) in exact fractions, normalised."""
    K = len(model.classes)
    prior = model.prior if rule == "map" else np.full(K, 1 / K)
    joint = [
        Fraction(float(prior[k]))
        * prod(
            (Fraction(float(model.confusions[m, a, k])) for m, a in enumerate(row) if a >= 0),
            start=Fraction(1),
        )
        for k in range(K)
    ]
    return [float(value / sum(joint)) for value in joint]


@pytest.mark.parametrize("rule", ["map", "ml"])
@pytest.mark.parametrize("classes", [2, 3])
def test_posteriors_follow_bayes(rule: Any, classes: int) -> None:
    model = example_model(classes, k=classes)
    responses = random_responses(model, 40, 1)
    has_response = responses.responses_per_item > 0
    expected = [posterior_by_bayes(model, row, rule) for row in responses.matrix().tolist()]
    posteriors = model.posteriors(responses, rule)
    np.testing.assert_allclose(
        posteriors[has_response], np.array(expected)[has_response], rtol=1e-12
    )
    np.testing.assert_array_equal(
        model.labels(responses, rule), model.classes[posteriors.argmax(axis=1)]
    )


@pytest.mark.parametrize("rule", ["map", "ml"])
def test_an_item_without_responses_has_the_prior_as_posterior(rule: Any) -> None:
    model = example_model()
    without_responses = random_responses(model, 3, 0, missing=1.0)
    np.testing.assert_allclose(
        model.posteriors(without_responses, rule), np.tile(model.prior, (3, 1))
    )
    assert model.labels(without_responses, rule).tolist() == ["yes"] * 3


def test_log_likelihood_is_the_sum_over_items() -> None:
    model = example_model()
    responses = random_responses(model, 200, 2)
    total = 0.0
    for row in responses.matrix().tolist():
        total += np.log(
            sum(
                model.prior[k]
                * prod(model.confusions[m, a, k] for m, a in enumerate(row) if a >= 0)
                for k in range(3)
            )
        )
    assert model.log_likelihood(responses) == pytest.approx(total)


def test_new_responses_are_matched_by_name() -> None:
    model = example_model()
    known = random_responses(model, 30, 5, missing=0.0)
    shuffled = Responses.from_matrix(
        known.classes[known.matrix()[:, [2, 0, 3, 1]]],
        annotators=model.annotators[[2, 0, 3, 1]],
    )
    np.testing.assert_allclose(model.posteriors(shuffled), model.posteriors(known))


def test_unknown_annotators_and_classes_are_refused_by_name() -> None:
    model = example_model()
    new_annotator = Responses.from_matrix([["yes"], ["no"]], annotators=["judge 9"])
    with pytest.raises(BadLabels, match="Unknown annotator 'judge 9'"):
        model.posteriors(new_annotator)
    new_class = Responses.from_matrix([["yes"], ["never"]], annotators=["judge 1"])
    with pytest.raises(BadLabels, match="Unknown class 'never'"):
        model.posteriors(new_class)


def test_accuracies_are_probabilities_of_correct_responses() -> None:
    simulation = simulate(200_000, 3, 4, np.random.default_rng(0), prior=[4, 3, 2, 1])
    correct = (simulation.responses.matrix() == simulation.truth[:, None]).mean(axis=0)
    np.testing.assert_allclose(simulation.model.accuracies, correct, atol=0.005)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(BadParameter, match="'vote' is none of 'map', 'ml'"):
        example_model().posteriors(random_responses(example_model(), 2, 0), "vote")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("confusions", "prior"),
    [
        (np.ones((4, 3, 3)), np.full(3, 1 / 3)),
        (np.full((4, 3, 3), 1 / 3), np.array([0.5, 0.6, -0.1])),
        (np.full((4, 3, 3), np.nan), np.full(3, 1 / 3)),
        (np.full((4, 3, 2), 1 / 3), np.full(3, 1 / 3)),
        (np.full((4, 3, 3), 1), np.full(3, 1 / 3)),
    ],
)
def test_arrays_that_are_not_probabilities_are_refused(confusions: Any, prior: Any) -> None:
    with pytest.raises(BadModel):
        Model(confusions, prior, np.arange(4), np.arange(3))


def test_repr_gives_sizes_prior_and_accuracies() -> None:
    assert repr(example_model()).startswith(
        "Model: 4 annotators, 3 classes (no 0.167, perhaps 0.333"
    )
