"""``predict_proba`` of the items that were fused is their posterior, whatever the method."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from blindfuse import Fusion, Responses, Simulation, fuse, simulate
from blindfuse.datasets.features import poker_hands
from blindfuse.fusion.bounded_correction import MAJORITY_VOTE
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.fusion.model_pool import MEAN_OF_MODELS
from experiments.awkward_crowds import KINDS, biased_jury
from tests.conftest import Crowds

FAMILIES = sorted({kind.family for kind in KINDS} - {"many classes"})
"""Thousand classes take seconds."""
MERGED = [(0, 1, 2), (3, 4)]
"""Groups of copiers."""


def fuse_and_predict(responses: Any, **options: Any) -> Fusion:
    """Fuse, and assert that all items without gold labels are predicted as they were fused."""
    fusion = fuse(responses, threads=1, **options)
    free = np.ones(len(fusion.labels), bool) if fusion.is_gold is None else ~fusion.is_gold
    found = fusion.predict_proba(fusion.responses)
    np.testing.assert_allclose(found[free], fusion.posteriors[free], atol=1e-6)
    return fusion


def copied(seed: int, K: int, missing: float, copying: float) -> Simulation:
    return simulate(
        2000,
        15,
        K,
        np.random.default_rng(seed),
        skill=0.2,
        missing=missing,
        dependent_groups=MERGED,
        copy_probability=copying,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_tables(family: str) -> None:
    kinds = [kind for kind in KINDS if kind.family == family]
    for kind in kinds[::2]:
        fuse_and_predict(kind.crowd(1).responses)


@pytest.mark.parametrize("K", range(2, 7))
def test_copiers(K: int) -> None:
    for seed in range(2):
        for missing in (0.0, 0.5):
            for copying in (0.5, 0.9):
                drawn = copied(seed, K, missing, copying)
                assert fuse_and_predict(drawn.responses).groups


@pytest.mark.parametrize("K", range(2, 7))
def test_gold_labels_beside_copiers(K: int) -> None:
    for seed in range(3):
        drawn = copied(seed, K, 0.5, 0.5)
        gold = {item: int(drawn.truth[item]) for item in range(0, 200, 5)}
        assert fuse_and_predict(drawn.responses, gold=gold).groups


@pytest.mark.parametrize("K", [2, 3, 5])
def test_items_that_only_a_group_labelled(K: int) -> None:
    for seed in range(3):
        drawn = copied(seed, K, 0.4, 0.7)
        matrix = np.array(drawn.responses.matrix())
        matrix[:150, 5:] = -1
        fuse_and_predict(Responses.from_matrix(matrix, classes=range(K)))


@pytest.mark.parametrize("seed", range(3))
def test_names_in_any_order(seed: int) -> None:
    """Predicted items may have other annotators, classes and items first."""
    drawn = copied(seed, 4, 0.5, 0.5)
    fusion = fuse_and_predict(drawn.responses)
    assert fusion.method in (MERGED_GROUPS, MEAN_OF_MODELS)
    order = np.random.default_rng(seed).permutation(drawn.responses.n_items)
    some = drawn.responses.select_items(order[:500]).recoded(
        drawn.responses.annotators[::-1], drawn.responses.classes[::-1]
    )
    np.testing.assert_allclose(fusion.predict_proba(some), fusion.posteriors[order[:500]])


@pytest.mark.parametrize("seed", range(3))
def test_camps(seed: int) -> None:
    responses, _ = biased_jury(seed)
    fusion = fuse_and_predict(responses)
    assert fusion.method == MAJORITY_VOTE
    assert "two camps" in fusion.why


@pytest.mark.parametrize("seed", range(3))
def test_the_camp_that_gold_labels_decide_for(seed: int) -> None:
    responses, truth = biased_jury(seed)
    gold = {item: int(truth[item]) for item in range(0, 400, 20)}
    fuse_and_predict(responses, gold=gold)


@pytest.mark.parametrize("seed", range(3))
def test_checked_labels_and_ordered_classes(seed: int) -> None:
    drawn = copied(seed, 4, 0.5, 0.5)
    checked = {item: int(drawn.truth[item]) for item in range(0, 600, 10)}
    fuse_and_predict(drawn.responses, checked=checked)
    fuse_and_predict(drawn.responses, ordered=True)


def fuse_public(crowds: Crowds, names: Sequence[str]) -> list[Fusion]:
    return [fuse_and_predict(crowds[name].responses) for name in names]


def test_public_crowds_with_merged_groups(crowds: Crowds) -> None:
    for fusion in fuse_public(crowds, ["judges_triviaqa", "product", "trec"]):
        assert fusion.groups


def test_classifiers_of_poker_hands() -> None:
    """Trees, neighbours and naive Bayes, three of each, which err together."""
    hands, truth = poker_hands(6000, seed=1)
    rng, predictions = np.random.default_rng(0), []
    kinds = partial(DecisionTreeClassifier, max_depth=8), KNeighborsClassifier, GaussianNB
    for make in kinds:
        for _ in range(3):
            rows = rng.choice(3000, 600)
            classifier = make().fit(hands[rows], np.minimum(truth[rows], 2))
            predictions.append(classifier.predict(hands[3000:]))
    fuse_and_predict(np.column_stack(predictions))


def test_public_crowds(crowds: Crowds) -> None:
    names = ["adult", "api_ferplus", "bird", "dog", "rte", "sp", "web", "ws_youtube", "zc_us"]
    fuse_public(crowds, names)
