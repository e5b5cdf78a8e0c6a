"""Labels that are JSON lists or objects, or have text around them."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import BadFile, read
from blindfuse.readers import reader
from blindfuse.readers.reader import plain_labels
from tests.support.reader_files import labels_by_name, stream

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
        patch.setattr(reader, "_MARKUP", "")  # every label then counts as marked
        full = read_labels(cells)
    assert found == full


@pytest.mark.parametrize("role", ["item", "annotator", "label"])
@pytest.mark.parametrize("extension", ["jsonl", "json", "parquet"])
def test_a_field_of_objects_can_be_named(role: str, extension: str, tmp_path: Path) -> None:
    """Records of judges often hold the model, and more, in an object of their own."""
    rows = [
        {"item": f"q{n}", "annotator": who, "label": "AB"[n % 2]} for n in range(4) for who in "xy"
    ]
    expected = {(row["item"], row["annotator"]): row["label"] for row in rows}
    nested = [{**row, role: None, "meta": {"deep": {"er": row[role]}, "n": 1}} for row in rows]
    nested = [{key: value for key, value in row.items() if key != role} for row in nested]
    path = tmp_path / f"a.{extension}"
    if extension == "parquet":
        pl.DataFrame(nested).write_parquet(path)
    else:
        lines = list(map(json.dumps, nested))
        path.write_text("\n".join(lines) if extension == "jsonl" else f"[{','.join(lines)}]")
    found = read(path, **{role: "meta.deep.er"})  # type: ignore[call-overload]
    assert labels_by_name(found.responses) == expected
    with pytest.raises(BadFile, match=r"column 'meta' holds .* as in "):
        read(path)


def test_nested_records_say_which_field_to_name() -> None:
    lines = [{"meta": {"id": f"q{n}", "model": m}, "response": "A"} for n in range(3) for m in "xy"]
    text = "\n".join(map(json.dumps, lines))
    with pytest.raises(BadFile, match=r"Name a field, as in annotator='meta\.model'"):
        read(stream(text))
    found = read(stream(text), item="meta.id", annotator="meta.model")
    assert labels_by_name(found.responses) == {(f"q{n}", m): "A" for n in range(3) for m in "xy"}


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
