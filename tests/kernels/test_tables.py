"""Loops over the responses of a table, compared with Python and NumPy."""

from typing import Any

import numpy as np
import pytest

from blindfuse import simulate
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.kernels.tables import factorize_hashes, factorize_integers


@pytest.mark.parametrize("size", [0, 1, 5, 3000])
@pytest.mark.parametrize("offset", [0, -7, 2**62, -(2**63)])
@pytest.mark.parametrize("spread", [1, 10**6])
def test_codes_are_in_order_of_appearance(size: int, offset: int, spread: int) -> None:
    values = offset + spread * np.random.default_rng(size).integers(0, 300, size)
    expected = {value: code for code, value in enumerate(dict.fromkeys(values.tolist()))}
    for codes, firsts in (factorize_integers(values), factorize_hashes(values.view(np.uint64))):
        assert codes.tolist() == [expected[value] for value in values.tolist()]
        assert values[firsts].tolist() == list(expected)
        assert codes.dtype == np.int32


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_pairs_are_counted(missing: float) -> None:
    table = simulate(700, 9, 3, np.random.default_rng(0), missing=missing).responses
    one_hot: Any = table.matrix()[:, :, None] == np.arange(3)
    expected = np.einsum("nia,njb->iajb", one_hot.astype(int), one_hot)
    counts = count_pairs(table).counts
    for i in range(9):
        np.testing.assert_array_equal(counts[i, :, i + 1 :], expected[i, :, i + 1 :])
        assert not counts[i, :, : i + 1].any()
