"""Models that are averaged where correlated errors cannot be ruled out."""

import warnings

import numpy as np
import pytest

from blindfuse import (
    MACE,
    DawidSkene,
    MajorityVote,
    MixedMembership,
    NotConverged,
    fuse,
    simulate,
)
from blindfuse.fusion.choice import FuseContext
from blindfuse.fusion.model_pool import (
    MEAN_OF_MODELS,
    AveragedPosteriors,
    ModelPool,
    all_models,
    pooled_posteriors,
)
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_posteriors
from experiments.settings import FIGURE_3, TABLE_1, Setting
from experiments.table_variants import VARIANTS, one_class_against_rest
from tests.conftest import Crowds


@pytest.mark.parametrize("seed", range(3))
def test_a_pool_is_the_mean_of_separately_fitted_models(seed: int) -> None:
    drawn = simulate(300, 6, 3, np.random.default_rng(seed), missing=0.3)
    responses = drawn.responses
    models = DawidSkene(), DawidSkene(max_iter=1), MACE(), MixedMembership()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        context = FuseContext(responses)
        pooled = all_models(context)(responses)
        fused = pooled_posteriors(context, with_em=True)
        separate = [model.fit(responses).posteriors_ for model in models]
    np.testing.assert_allclose(pooled, np.mean(separate, axis=0), atol=1e-6)
    np.testing.assert_allclose(pooled, fused, atol=1e-6)


@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_weight_moves_from_the_own_posteriors_to_the_mean(weight: float) -> None:
    drawn = simulate(50, 5, 2, np.random.default_rng(0))
    own, first, second = (
        lambda _, share=share: np.tile([share, 1 - share], (50, 1)) for share in (0.9, 0.6, 0.3)
    )
    averaged = AveragedPosteriors(own, ModelPool((first, second)), weight)(drawn.responses)
    np.testing.assert_allclose(averaged[:, 0], (1 - weight) * 0.9 + weight * 0.6)


@pytest.mark.parametrize("setting", [TABLE_1, FIGURE_3], ids=lambda one: one.name)
def test_independent_annotators_are_left_to_the_paper(setting: Setting) -> None:
    for seed in range(3):
        assert fuse(setting.draw(10_000, seed).responses).method == "BlindEnsemble + EM"


def test_averaging_costs_little_where_independence_cannot_be_shown() -> None:
    errors = []
    for seed in range(6):
        drawn = simulate(3000, 200, 3, np.random.default_rng(seed), missing=0.985, skill=0.2)
        fusion = fuse(drawn.responses)
        assert fusion.method == MEAN_OF_MODELS
        assert "cannot rule out correlated errors" in fusion.why
        alone = DawidSkene().fit(drawn.responses).posteriors_
        errors.append([error_rate(one, drawn.truth) for one in (fusion.posteriors, alone)])
    averaged, alone = np.mean(errors, axis=0)
    assert averaged <= 1.03 * alone


def test_new_items_get_the_posteriors_of_the_fusion(crowds: Crowds) -> None:
    for name in ("rte", "web"):
        responses = crowds[name].responses
        fusion = fuse(responses)
        assert fusion.method == MEAN_OF_MODELS
        again = fusion.predict_proba(responses)
        np.testing.assert_allclose(again, fusion.posteriors, atol=1e-6)


def test_confidence_is_lower_than_that_of_em_alone(crowds: Crowds) -> None:
    errors = []
    for name in ("barzan", "bird", "labelme", "rte", "temp"):
        crowd = crowds[name]
        fusion, alone = fuse(crowd.responses), DawidSkene().fit(crowd.responses)
        assert fusion.method == MEAN_OF_MODELS
        posteriors = fusion.posteriors, alone.posteriors_
        errors.append([calibration_error(one, crowd.truth) for one in posteriors])
    averaged, alone = np.mean(errors, axis=0)
    assert averaged < 0.75 * alone


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_of_public_crowds_are_no_worse_than_the_vote(variant: str, crowds: Crowds) -> None:
    """Of tables that no rule was built with, at most one in ten may look worse than by noise."""
    above, differences = [], []
    for name in ("adult", "bird", "cf_amt_weather", "dog", "labelme", "rte", "sp", "web", "zc_us"):
        crowd = crowds[name]
        if crowd.responses.n_classes < 3 and VARIANTS[variant] is one_class_against_rest:
            continue
        for seed in range(100, 103):
            rng = np.random.default_rng([seed, *name.encode()])
            responses, truth = VARIANTS[variant](crowd.responses, crowd.truth, rng)
            known = truth >= 0
            wrong = fuse(responses).posteriors[known].argmax(axis=1) != truth[known]
            votes = vote_posteriors(responses)[known]
            largest = votes == votes.max(axis=1, keepdims=True)
            right = largest[np.arange(len(votes)), truth[known]] / largest.sum(axis=1)
            paired = wrong - (1 - right)
            noise = paired.std() / np.sqrt(len(paired))
            above.append(paired.mean() > max(0.003, 2 * noise))
            differences.append(paired.mean())
    assert np.mean(above) <= 0.1
    assert np.mean(differences) < 0


def test_gold_labels_stay_fixed(crowds: Crowds) -> None:
    crowd = crowds["rte"]
    vote = MajorityVote().fit(crowd.responses).labels_
    wrong = [
        item for item in range(200) if vote[item] != crowd.responses.classes[crowd.truth[item]]
    ]
    gold = {
        crowd.responses.items[item]: crowd.responses.classes[crowd.truth[item]]
        for item in wrong[:5]
    }
    fusion = fuse(crowd.responses, gold=gold)
    assert [fusion.labels[item] for item in wrong[:5]] == list(gold.values())
