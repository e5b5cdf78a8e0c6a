"""Sorting of responses into rows."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blindfuse.responses import rows


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70))), st.sampled_from(["last", "first"])
)
def test_kernels_sort_and_deduplicate_as_numpy_does(
    cells: list[tuple[int, int]], repeats: Any
) -> None:
    places = list(enumerate(cells))
    place = {cell: at for at, cell in (places if repeats == "last" else reversed(places))}
    expected = sorted(place)
    items, codes = np.array(cells, dtype=np.int32).reshape(-1, 2).T
    responses = items, codes, np.arange(len(cells))
    sorted_rows = rows.sort_by_row_and_code(*responses, (6, 71))
    found, repeated, _ = rows.resolve_repeats(sorted_rows, repeats)
    assert np.repeat(np.arange(6), np.diff(found.starts)).tolist() == [c[0] for c in expected]
    assert found.codes.tolist() == [cell[1] for cell in expected]
    assert found.symbols.tolist() == [place[cell] for cell in expected]
    assert repeated == len(cells) - len(place)
