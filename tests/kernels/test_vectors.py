"""Rows of classes in registers, and logarithms several at once, against NumPy."""

from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from blindfuse.kernels.compilation import kernel, lanes_of, logarithm
from blindfuse.kernels.posteriors import joint_answers
from blindfuse.kernels.vectors import filled, load, plus, store, times, total


@kernel
def mixed(one: Any, other: Any, at: Any, lanes: Any) -> Any:
    """Put 2 (x y + x) where y was, of vectors x and y at that place; the sum of x y + x."""
    x, y = load(one, at, lanes), load(other, at, lanes)  # type: ignore[call-arg, var-annotated]
    found = plus(times(x, y), x)
    store(other, at, times(found, filled(2.0, lanes)))
    return total(found)


@kernel
def logarithms(numbers: Any, found: Any) -> None:
    for at in range(numbers.size):
        found[at] = logarithm(numbers[at])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 13, 33])
def test_a_vector_is_its_entries_and_nothing_beside_is_touched(count: int) -> None:
    rng = np.random.default_rng(count)
    one, other = rng.normal(size=(2, 5 * count))
    before, at = other.copy(), 2 * count
    found = mixed(one, other, at, lanes_of(count))
    here = slice(at, at + count)
    expected = one[here] * before[here] + one[here]
    assert found == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(other[here], 2 * expected, atol=1e-14)
    other[here] = before[here]
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("array", [np.ones((4, 4)).T[:, :2], np.ones(8, dtype=np.float32)])
def test_other_arrays_are_refused(array: Any) -> None:
    with pytest.raises((TypeError, TypingError), match="contiguous"):
        mixed(array, array, 0, lanes_of(2))


def test_logarithms_have_all_digits() -> None:
    rng = np.random.default_rng(0)
    smallest = np.finfo(float).tiny
    numbers = np.concatenate(
        [
            np.exp(rng.uniform(np.log(smallest), np.log(1e300), 5000)),
            1 + rng.normal(scale=1e-3, size=5000),
            [smallest, 1.0, np.sqrt(0.5), np.sqrt(2), 0.5, 2.0, 1 - 1e-16, 1 + 3e-16],
        ]
    )
    found = np.empty_like(numbers)
    logarithms(numbers, found)
    np.testing.assert_allclose(found, np.log(numbers), rtol=1e-15, atol=1e-18)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_joint_answers_are_products(size: int, classes: int) -> None:
    rng = np.random.default_rng(size)
    confusions = rng.dirichlet(np.ones(classes), (6, classes)).transpose(0, 2, 1).copy()
    group, prior = rng.permutation(6)[:size], rng.dirichlet(np.ones(classes))
    table = np.empty((classes**size, classes))
    joint_answers(confusions, group, prior, lanes_of(classes), table)
    for code, labels in enumerate(np.ndindex(*[classes] * size)):
        expected = prior * np.prod(confusions[group, labels], axis=0)
        np.testing.assert_allclose(table[code], expected, rtol=1e-13)
