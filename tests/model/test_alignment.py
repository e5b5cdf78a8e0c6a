"""The rules that assign columns to classes."""

from itertools import permutations

import numpy as np
import pytest

from blindfuse import Responses, simulate
from blindfuse.model.alignment import (
    CanonicalOrder,
    align_by_majority,
    align_by_most_common,
    align_by_trace,
    find_alignment,
)
from blindfuse.model.posteriors import count_votes
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


def test_the_column_of_a_rare_class_does_not_displace_a_common_one() -> None:
    """Two columns have their maximum in the second row; the more common one becomes that class."""
    confusion = np.array([[0.9, 0.1, 0.1], [0.1, 0.6, 0.8], [0.0, 0.3, 0.1]])
    other = np.array([[0.9, 0.1, 0.1], [0.1, 0.3, 0.8], [0.0, 0.6, 0.1]])
    confusions = np.array([confusion, confusion, other])
    assert align_by_majority(confusions, np.array([0.5, 0.49, 0.01])).tolist() == [0, 1, 2]
    assert align_by_majority(confusions, np.array([0.5, 0.01, 0.49])).tolist() == [0, 2, 1]


def test_the_canonical_order_does_not_depend_on_the_order_of_the_input() -> None:
    responses = simulate(400, 8, 3, np.random.default_rng(4), missing=0.5).responses
    rng = np.random.default_rng(1)
    annotators, classes = rng.permutation(8), rng.permutation(3)
    permuted = responses.recoded(responses.annotators[annotators], responses.classes[classes])
    original = CanonicalOrder.by_votes(count_votes(responses))
    of_permuted = CanonicalOrder.by_votes(count_votes(permuted))
    np.testing.assert_array_equal(annotators[of_permuted.annotators], original.annotators)
    np.testing.assert_array_equal(classes[of_permuted.classes], original.classes)


def test_undo_inverts_apply_and_gives_silent_annotators_the_mean() -> None:
    matrix = np.random.default_rng(0).integers(3, size=(60, 5))
    matrix[:, 2] = -1
    order = CanonicalOrder.by_votes(count_votes(Responses.from_matrix(matrix)))
    assert sorted(order.annotators.tolist()) == [0, 1, 3, 4]
    rng = np.random.default_rng(1)
    confusions, prior = rng.random((5, 3, 3)), rng.random(3)
    restored, restored_prior = order.undo(*order.apply(confusions, prior), 5)
    np.testing.assert_array_equal(restored_prior, prior)
    np.testing.assert_array_equal(restored[[0, 1, 3, 4]], confusions[[0, 1, 3, 4]])
    np.testing.assert_allclose(restored[2], confusions[[0, 1, 3, 4]].mean(axis=0))
