"""Which column is which class."""

from itertools import permutations

import numpy as np
import pytest

from blindfuse.model.alignment import aligned, hungarian, majority, most_common
from blindfuse.simulation import draw_confusions

EVEN = np.array([0.5, 0.5])


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_hungarian_is_the_best_of_all_permutations(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    confusions = rng.dirichlet(np.ones(classes), size=(7, classes)).transpose(0, 2, 1)
    total = confusions.sum(axis=0)
    best = max(permutations(range(classes)), key=lambda p: sum(total[range(classes), list(p)]))
    np.testing.assert_array_equal(hungarian(confusions, np.ones(classes)), best)


@pytest.mark.parametrize("rule", ["majority", "hungarian", "common"])
@pytest.mark.parametrize("seed", range(10))
def test_a_permuted_model_is_put_right(rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    confusions = draw_confusions(9, 4, rng, skill=0.3)
    prior = rng.dirichlet(np.ones(4))
    shuffle = rng.permutation(4)
    columns = aligned(confusions[:, :, shuffle], prior[shuffle], rule)  # type: ignore[arg-type]
    found, shares = confusions[:, :, shuffle][:, :, columns], prior[shuffle][columns]
    np.testing.assert_array_equal(found, confusions)
    np.testing.assert_array_equal(shares, prior)


def test_two_rules_count_annotators_and_one_weighs_them() -> None:
    """Two annotators barely prefer the identity, one strongly prefers the swap."""
    weak = np.array([[0.51, 0.49], [0.49, 0.51]])
    strong = np.array([[0.0, 1.0], [1.0, 0.0]])
    confusions = np.array([weak, weak, strong])
    assert majority(confusions, EVEN).tolist() == [0, 1]
    assert most_common(confusions, EVEN).tolist() == [0, 1]
    assert hungarian(confusions, EVEN).tolist() == [1, 0]


def test_equal_votes_are_decided_by_weight() -> None:
    weak = np.array([[0.51, 0.49], [0.49, 0.51]])
    strong = np.array([[0.0, 1.0], [1.0, 0.0]])
    for rule in (majority, most_common):
        assert rule(np.array([weak, strong]), EVEN).tolist() == [1, 0]


def test_many_classes_take_no_search() -> None:
    rng = np.random.default_rng(0)
    confusions = draw_confusions(5, 60, rng, skill=0.5)
    shuffle = rng.permutation(60)
    columns = aligned(confusions[:, :, shuffle], np.full(60, 1 / 60))
    found = confusions[:, :, shuffle][:, :, columns]
    np.testing.assert_array_equal(found, confusions)


def test_the_noisy_column_of_a_rare_class_gives_way() -> None:
    """Two columns look like the second class; the common one is that, the rare one what is left."""
    confusion = np.array([[0.9, 0.1, 0.1], [0.1, 0.6, 0.8], [0.0, 0.3, 0.1]])
    unsure = np.array([[0.9, 0.1, 0.1], [0.1, 0.3, 0.8], [0.0, 0.6, 0.1]])
    confusions = np.array([confusion, confusion, unsure])
    assert majority(confusions, np.array([0.5, 0.49, 0.01])).tolist() == [0, 1, 2]
    assert majority(confusions, np.array([0.5, 0.01, 0.49])).tolist() == [0, 2, 1]
