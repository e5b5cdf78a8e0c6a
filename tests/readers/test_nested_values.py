"""Labels that are JSON lists or objects, or have text around them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse.errors import BadFile
from blindfuse.readers import nested_values
from blindfuse.readers.nested_values import plain_labels

ORDINARY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.none()
MARKED = st.sampled_from(
    [
        '["yes", "no"]',
        "['no']",
        '{"label": "yes"}',
        '{"error": "timeout"}',
        '```json\n{"label": "no"}\n```',
        "``` yes ```",
        "<think>Well, no.</think> yes",
        " <thinking>Hm</thinking>no",
        "[not a list",
        "{neither an object",
    ]
)


def read_labels(cells: list[str | None]) -> tuple[list[str | None], list[str]] | str:
    """What the reader makes of a column, or its refusal."""
    try:
        labels, notes = plain_labels("t", pl.Series("label", cells, pl.String))
    except BadFile as refusal:
        return str(refusal)
    return labels.to_list(), notes


@given(st.lists(ORDINARY | MARKED, min_size=1, max_size=8))
def test_columns_without_markup_are_what_the_full_reading_returns(cells: list[str | None]) -> None:
    """The look at distinct labels that saves the passes over all rows misses nothing."""
    found = read_labels(cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nested_values, "_MARKUP", "")  # every label then counts as marked
        full = read_labels(cells)
    assert found == full


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ('["no"]', "no"),
        ('{"label": "no"}', "no"),
        ("```\nno\n```", "no"),
        ("<think>Hm</think>no", "no"),
    ],
)
def test_one_marked_label_among_many_is_read(cell: str, label: str) -> None:
    cells = [f"class-{row % 3}" for row in range(50_000)]
    found = read_labels([*cells, cell])
    assert found[0] == [*cells, label]
