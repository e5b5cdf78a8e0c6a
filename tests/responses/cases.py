"""Tables of responses, and functions that several tests of responses share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from blindfuse import Responses
from blindfuse.errors import BadLabels, BlindfuseError

NAN = float("nan")
COLUMNS: dict[str, Any] = {"items": ["i", "j"], "annotators": ["a", "a"], "labels": ["x", "y"]}
"""A valid input of :meth:`Responses.from_long`."""


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.int8]:
    """A table of codes below 4 with at least one response; −1 is missing."""
    shape = draw(st.tuples(st.integers(1, 7), st.integers(1, 5)))
    table = draw(arrays(np.int8, shape, elements=st.integers(-1, 3)))
    table.flat[draw(st.integers(0, table.size - 1))] = draw(st.integers(0, 3))
    return table


def four_classes(table: NDArray[Any], **names: Any) -> Responses:
    return Responses.from_matrix(table, classes=range(4), **names)


def typed(value: Any) -> tuple[type, Any]:
    """A value with its type, so that True differs from 1."""
    return type(value), value


def reported(responses: Responses) -> dict[tuple[Any, Any], tuple[type, Any]]:
    """The reported classes by item and annotator, read from the rows by item."""
    starts, codes, symbols = responses.by_item
    items, annotators = responses.items.tolist(), responses.annotators.tolist()
    classes = responses.classes.tolist()
    return {
        (items[row], annotators[codes[at]]): typed(classes[symbols[at]])
        for row in range(len(items))
        for at in range(starts[row], starts[row + 1])
    }


def error_message(make: Callable[[], Any], kind: type[BlindfuseError] = BadLabels) -> str:
    """The message of the error that ``make`` raises, which must be exactly of this class."""
    with pytest.raises(BlindfuseError) as caught:
        make()
    assert type(caught.value) is kind
    return str(caught.value)
