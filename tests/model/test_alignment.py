"""The rules that assign columns to classes."""

from itertools import permutations

import numpy as np
import pytest

from blindfuse.model.alignment import (
    align_by_majority,
    align_by_most_common,
    align_by_trace,
    find_alignment,
)
from blindfuse.simulation import draw_confusions

UNIFORM = np.array([0.5, 0.5])


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_the_trace_rule_finds_the_best_of_all_permutations(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    confusions = rng.dirichlet(np.ones(classes), size=(7, classes)).transpose(0, 2, 1)
    total = confusions.sum(axis=0)
    best = max(permutations(range(classes)), key=lambda p: sum(total[range(classes), list(p)]))
    np.testing.assert_array_equal(align_by_trace(confusions, np.ones(classes)), best)


@pytest.mark.parametrize("rule", ["majority", "hungarian", "common"])
@pytest.mark.parametrize("seed", range(10))
def test_every_rule_undoes_a_permutation(rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    confusions = draw_confusions(9, 4, rng, skill=0.3)
    prior = rng.dirichlet(np.ones(4))
    shuffle = rng.permutation(4)
    columns = find_alignment(confusions[:, :, shuffle], prior[shuffle], rule)  # type: ignore[arg-type]
    restored, restored_prior = confusions[:, :, shuffle][:, :, columns], prior[shuffle][columns]
    np.testing.assert_array_equal(restored, confusions)
    np.testing.assert_array_equal(restored_prior, prior)


def test_two_rules_count_annotators_and_one_adds_up_their_entries() -> None:
    """Two annotators barely prefer the identity, one strongly prefers the swap."""
    weak = np.array([[0.51, 0.49], [0.49, 0.51]])
    strong = np.array([[0.0, 1.0], [1.0, 0.0]])
    confusions = np.array([weak, weak, strong])
    assert align_by_majority(confusions, UNIFORM).tolist() == [0, 1]
    assert align_by_most_common(confusions, UNIFORM).tolist() == [0, 1]
    assert align_by_trace(confusions, UNIFORM).tolist() == [1, 0]


def test_ties_go_to_the_larger_trace() -> None:
    weak = np.array([[0.51, 0.49], [0.49, 0.51]])
    strong = np.array([[0.0, 1.0], [1.0, 0.0]])
    for rule in (align_by_majority, align_by_most_common):
        assert rule(np.array([weak, strong]), UNIFORM).tolist() == [1, 0]


def test_sixty_classes_are_aligned() -> None:
    rng = np.random.default_rng(0)
    confusions = draw_confusions(5, 60, rng, skill=0.5)
    shuffle = rng.permutation(60)
    columns = find_alignment(confusions[:, :, shuffle], np.full(60, 1 / 60))
    found = confusions[:, :, shuffle][:, :, columns]
    np.testing.assert_array_equal(found, confusions)


def test_the_column_of_a_rare_class_does_not_displace_a_common_one() -> None:
    """Two columns have their maximum in the second row; the more common one becomes that class."""
    confusion = np.array([[0.9, 0.1, 0.1], [0.1, 0.6, 0.8], [0.0, 0.3, 0.1]])
    other = np.array([[0.9, 0.1, 0.1], [0.1, 0.3, 0.8], [0.0, 0.6, 0.1]])
    confusions = np.array([confusion, confusion, other])
    assert align_by_majority(confusions, np.array([0.5, 0.49, 0.01])).tolist() == [0, 1, 2]
    assert align_by_majority(confusions, np.array([0.5, 0.01, 0.49])).tolist() == [0, 2, 1]
