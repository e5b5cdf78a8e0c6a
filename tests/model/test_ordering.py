"""The canonical order of annotators and classes."""

import numpy as np

from blindfuse import Responses, simulate
from blindfuse.model.alignment import CanonicalOrder
from blindfuse.model.posteriors import count_votes


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
