"""What labels, sets and numbers have in common as tables of annotations."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import Numbers, Responses, ResponseSets
from blindfuse.errors import BadLabels
from blindfuse.responses.rows import Rows
from blindfuse.responses.table import AnnotationTable

KINDS: dict[str, Callable[..., AnnotationTable]] = {
    "labels": lambda items, who, x: Responses.from_long(items, who, [f"c{v}" for v in x]),
    "probabilities": lambda items, who, x: Responses.from_probabilities(
        np.random.default_rng(len(x)).dirichlet(np.ones(3), (5, 4))
    ),
    "sets": lambda items, who, x: ResponseSets.from_long(items, who, [f"a|b{v}" for v in x]),
    "numbers": lambda items, who, x: Numbers.from_long(items, who, [v / 2 for v in x]),
}
CELLS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20
)


def cells(table: AnnotationTable) -> set[tuple[Any, ...]]:
    """Item, annotator, response and probabilities of each response."""
    names = table.items[table.item_of_response()], table.annotators[table.codes]
    extra = [getattr(table, name) for name in table.per_response]
    rows = [each if each is None else each.tolist() for each in extra]
    return {
        (*cell, *(None if row is None else tuple(row[at]) for row in rows))
        for at, cell in enumerate(zip(*map(list, (*names, table.by_item.symbols)), strict=True))
    }


@pytest.mark.parametrize("kind", KINDS)
@given(rows=CELLS, random=st.randoms(use_true_random=False))
def test_tables_are_selected_and_rearranged(kind: str, rows: list[Any], random: Any) -> None:
    table = KINDS[kind](*map(list, zip(*rows, strict=True)))
    assert table.responses_per_item.sum() == table.responses_per_annotator.sum()
    chosen = random.sample(range(table.n_items), random.randint(1, table.n_items))
    part = table.select_items(chosen)
    assert part.items.tolist() == table.items[chosen].tolist()
    assert cells(part) == {cell for cell in cells(table) if cell[0] in part.items}
    mask = np.array([random.random() < 0.5 for _ in range(table.n_responses)], dtype=bool)
    assert cells(table.select_responses(mask)) < cells(table) or mask.all()
    items, annotators = (
        np.array(random.sample(range(size), size)) for size in (table.n_items, table.n_annotators)
    )
    moved = table.rearranged(
        table.items[items], np.argsort(items), table.annotators[annotators], np.argsort(annotators)
    )
    assert moved.items.tolist() == table.items[items].tolist()
    assert cells(moved) == cells(table)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_pickled_with_their_notes(kind: str) -> None:
    table = KINDS[kind]([0, 0, 1, 1], ["a", "a", "b", "a"], [0, 1, 2, 0])
    copy = pickle.loads(pickle.dumps(table))
    assert repr(copy) == repr(table)
    assert cells(copy) == cells(table)
    assert not any(array.flags.writeable for array in copy.by_item)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("codes", [[0, 9], [-1, 0], [1, 0], [0.5, 1.0]])
def test_rows_out_of_bounds_are_refused(kind: str, codes: list[Any]) -> None:
    table = KINDS[kind]([0, 0], ["a", "b"], [0, 1])
    rows = Rows(np.array([0, 2]), np.array(codes), table.by_item.symbols[:2])
    with pytest.raises(BadLabels, match="codes"):
        table.with_rows(table.items[:1], rows)
