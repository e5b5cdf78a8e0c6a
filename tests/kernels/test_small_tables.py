"""Small tables are processed by NumPy and by kernels for any number of classes, with one result."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from blindfuse import Responses, fuse, simulate
from blindfuse.diagnostics import pairs
from blindfuse.kernels import compilation, hash_codes
from blindfuse.responses import canonical, rows

MODULES = (canonical, compilation, hash_codes, pairs, rows)


def both_ways(make: Callable[[], Any]) -> Iterator[Any]:
    """Return what a function returns if all tables are large, and if all are small."""
    for minimum in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            for module in MODULES:
                patch.setattr(module, "MIN_COMPILED", minimum)
            yield make()


@pytest.fixture(params=range(4))
def responses(request: pytest.FixtureRequest) -> Responses:
    rng = np.random.default_rng(request.param)
    table = simulate(60, 35, 2 + request.param % 2, rng, missing=0.2 * request.param).responses
    return table.select_items(np.arange(60) != 7)


def test_codes_of_hashes_are_in_order_of_appearance() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 5, 3000):
        hashes = rng.integers(2**64, size=300, dtype=np.uint64)[rng.integers(300, size=size)]
        kernel, small = both_ways(partial(hash_codes.factorize_hashes, hashes))
        for one, other in zip(kernel, small, strict=True):
            np.testing.assert_array_equal(one, other)
        assert kernel[0].dtype == small[0].dtype == np.int32


@pytest.mark.parametrize("offset", [0, -7, 2**62, -(2**63)])
@pytest.mark.parametrize("spread", [1, 10**6])
def test_codes_of_integers_are_in_order_of_appearance(offset: int, spread: int) -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 5, 3000):
        values = offset + spread * rng.integers(0, 300, size)
        kernel, small = both_ways(partial(hash_codes.factorize_integers, values))
        expected = {value: code for code, value in enumerate(dict.fromkeys(values.tolist()))}
        for codes, firsts in (kernel, small):
            assert codes.tolist() == [expected[value] for value in values.tolist()]
            assert values[firsts].tolist() == list(expected)
        assert kernel[0].dtype == small[0].dtype == np.int32


def test_a_fusion_is_the_same(responses: Responses) -> None:
    kernel, small = both_ways(partial(fuse, responses))
    assert kernel.method == small.method
    np.testing.assert_array_equal(kernel.labels, small.labels)
    np.testing.assert_allclose(kernel.posteriors, small.posteriors, atol=1e-6)


def test_pairs_are_the_same(responses: Responses) -> None:
    kernel, small = both_ways(lambda: pairs.count_pairs(responses).counts)
    np.testing.assert_array_equal(kernel, small)


def test_the_canonical_order_is_the_same(responses: Responses) -> None:
    for keep_classes in (False, True):
        kernel, small = both_ways(
            partial(canonical.canonicalize, responses, keep_classes=keep_classes)
        )
        for name in ("items", "annotators", "classes"):
            np.testing.assert_array_equal(getattr(kernel, name), getattr(small, name))
        for one, other in zip(kernel.responses.by_item, small.responses.by_item, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
