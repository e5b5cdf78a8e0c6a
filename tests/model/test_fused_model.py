"""The formula that combines votes and models, written out; its limits; and saved models."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from blindfuse import Model, Responses, simulate
from blindfuse.model.fused_model import FusedModel, Recalibration, majority_vote
from blindfuse.model.model import Rule
from blindfuse.model.posteriors import weighted_votes
from tests.support.fusion_cases import CASES, fuse_case

Floats = NDArray[np.float64]


def drawn_model(
    seed: int, K: int, missing: float = 0.3
) -> tuple[Responses, FusedModel, list[Model]]:
    """Responses, a fused model with other parameters, and the models in it."""
    rng = np.random.default_rng(seed)
    first = simulate(150, 7, K, rng, skill=0.2, missing=missing)
    others = [simulate(5, 7, K, rng, skill=0.2).model for _ in range(1 + seed % 3)]
    others = [replace(one, classes=first.model.classes) for one in others]
    fused = FusedModel.of(
        first.model,
        others=tuple(others),
        dependence=float(rng.uniform(0.1, 0.9)) if seed % 2 else 1.0,
        correlation=float(rng.uniform(0, 0.5)),
        preference=rng.dirichlet(np.ones(K)),
        recalibration=Recalibration(float(rng.uniform(0.3, 3))),
    )
    models = others if fused.dependence == 1 else [first.model, *others]
    return first.responses, fused, models


def posterior_by_hand(row: list[int], fused: FusedModel, models: list[Model]) -> Floats:
    """The posterior of one item, given its response by each annotator or −1."""
    given = [(m, label) for m, label in enumerate(row) if label >= 0]
    if not given:
        return fused.prior

    def by(model: Model) -> Floats:
        product = model.prior.copy()
        for m, label in given:
            product = product * model.confusions[m, label]
        return np.asarray(product / product.sum())

    K, n = len(fused.prior), len(given)
    votes = np.array([sum(label == k for _, label in given) for k in range(K)], dtype=float)
    effective = n / (1 + (n - 1) * fused.correlation)
    q = sum(by(model) for model in models) / len(models)
    assert fused.preference is not None
    t = (votes + 1e-9 * fused.preference) / effective**0.5 + 0.6 * q
    b = np.exp(1.7 * t) / np.exp(1.7 * t).sum()
    w = fused.dependence
    mixed = w * b if w == 1 else (1 - w) * by(fused.independent) + w * b
    power = mixed**fused.recalibration.power
    return np.asarray(power / power.sum())


@pytest.mark.parametrize("seed", range(8))
def test_posteriors_are_those_of_a_plain_loop(seed: int) -> None:
    responses, fused, models = drawn_model(seed, K=2 + seed % 3)
    found = fused.posteriors(responses)
    expected = [posterior_by_hand(row, fused, models) for row in responses.matrix().tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("rule", ["map", "ml"])
def test_annotators_may_share_one_matrix(rule: Rule) -> None:
    drawn = simulate(150, 7, 3, np.random.default_rng(0), missing=0.3)
    one = drawn.model.confusions[0]
    names = drawn.model.annotators, drawn.model.classes
    shared = Model(np.broadcast_to(one, (7, 3, 3)), drawn.model.prior, *names)
    copied = Model(np.repeat(one[None], 7, axis=0), drawn.model.prior, *names)
    assert shared.is_shared
    assert not copied.is_shared
    for each in (shared, shared.for_annotators(names[0][::-1], names[1][::-1])):
        found = each.posteriors(drawn.responses.recoded(each.annotators, each.classes), rule)
        expected = copied.posteriors(drawn.responses, rule)
        np.testing.assert_allclose(found if each is shared else found[:, ::-1], expected)


@pytest.mark.parametrize("seed", range(4))
def test_with_weight_zero_they_are_the_model_s(seed: int) -> None:
    responses, fused, _ = drawn_model(seed, K=3)
    plain = replace(fused, dependence=0.0, recalibration=Recalibration())
    np.testing.assert_array_equal(
        plain.posteriors(responses), fused.independent.posteriors(responses)
    )


@pytest.mark.parametrize("seed", range(10))
def test_without_reach_they_are_the_vote_with_ties_to_the_more_common_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.choice([-1, 0, 1, 2], size=(200, 5), p=[0.3, 0.2, 0.3, 0.2])
    responses = Responses.from_matrix(matrix, classes=range(3))
    votes = weighted_votes(responses)
    found = majority_vote(responses, votes).posteriors(responses).argmax(axis=1)
    common = np.argsort(-votes.sum(axis=0), kind="stable").tolist()
    for row, label in zip(votes.tolist(), found.tolist(), strict=True):
        winners = [k for k in range(3) if row[k] == max(row)]
        assert label == min(winners, key=common.index) or not any(row)


@pytest.mark.parametrize("seed", range(0, 12, 2))
@pytest.mark.parametrize("K", [2, 4])
def test_models_never_overrule_a_clear_majority(seed: int, K: int) -> None:
    """With w = 1, a majority that leads by more than 0.6 √n' votes keeps its label."""
    responses, fused, _ = drawn_model(seed, K, missing=0.0)
    fused = replace(fused, dependence=1.0)
    votes = weighted_votes(responses)
    n = votes.sum(axis=1)
    limit = 0.6 * np.sqrt(n / (1 + (n - 1) * fused.correlation))
    ranked = np.sort(votes, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > limit
    labels = fused.posteriors(responses).argmax(axis=1)
    assert clear.any()
    np.testing.assert_array_equal(labels[clear], votes.argmax(axis=1)[clear])


@pytest.mark.parametrize("power", [0.01, 0.3, 3.0, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_recalibration_keeps_the_labels(seed: int, power: float) -> None:
    responses, fused, _ = drawn_model(seed, K=3)
    combined = fused.combine(responses, *fused.parts(responses))
    changed = replace(fused, recalibration=Recalibration(power)).posteriors(responses)
    np.testing.assert_array_equal(changed.argmax(axis=1), combined.argmax(axis=1))
    empty = responses.responses_per_item == 0
    np.testing.assert_array_equal(changed[empty], np.tile(fused.prior, (empty.sum(), 1)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", CASES)
def test_a_saved_fusion_predicts_what_fuse_gave(case: str, seed: int, tmp_path: Path) -> None:
    """Also for some of the items alone, and if annotators come in another order.

    The label is the class of the largest posterior; items without responses get the prior.
    """
    fusion = fuse_case(case, seed)
    fusion.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    known = fusion.responses
    free = np.ones(known.n_items, bool) if fusion.is_gold is None else ~fusion.is_gold
    some = np.flatnonzero(free)[::3]
    reordered = known.recoded(known.annotators[::-1], known.classes, known.symbols)
    for found, items in (
        (loaded.posteriors(known), free),
        (fusion.predict_proba(known), free),
        (fusion.predict_proba(known.select_items(some)), some),
        (loaded.posteriors(reordered.select_items(some)), some),
    ):
        expected = fusion.posteriors[items]
        found = found if len(found) == len(expected) else found[items]
        np.testing.assert_allclose(found, expected, atol=1e-9)
    labels = fusion.responses.classes[fusion.posteriors.argmax(axis=1)]
    np.testing.assert_array_equal(fusion.labels, labels)
    empty = known.responses_per_item == 0
    prior = np.tile(fusion.model.prior, (empty.sum(), 1))
    np.testing.assert_allclose(fusion.posteriors[empty & free], prior[: (empty & free).sum()])
