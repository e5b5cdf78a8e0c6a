"""Long tables in every file type: what was written is read."""

import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from blindfuse import BadParameter, Responses, read
from tests.support.reader_files import (
    LONG,
    WRITERS,
    Rows,
    assert_refused,
    labels_by_name,
    stream,
)
from tests.support.response_rows import response_rows


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@settings(max_examples=40)
@given(rows=response_rows())
def test_written_responses_are_read_back(write: Callable[[Rows], bytes], rows: Rows) -> None:
    found = read(io.BytesIO(write(rows)), format="long", item="item", annotator="annotator")
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    assert labels_by_name(found.responses) == labels_by_name(expected)
    assert found.responses.items.tolist() == expected.items.tolist()
    assert found.responses.annotators.tolist() == expected.annotators.tolist()
    assert set(found.responses.classes) == set(expected.classes)
    assert found.columns == {"item": "item", "annotator": "annotator", "label": "label"}


def test_one_of_several_questions_is_read() -> None:
    text = "item,question,annotator,label\ni,colour,a,red\ni,size,a,big\nj,colour,a,blue\n"
    found = read(stream(text), question="size")
    assert labels_by_name(found.responses) == {("i", "a"): "big"}
    assert "question = 'size' in column 'question'" in found.notes[0]
    texts = "item,question,annotator,label\ni,What?,a,red\ni,What?,b,red\nj,Why?,a,blue\n"
    assert len(labels_by_name(read(stream(texts)).responses)) == 3


def test_annotators_that_are_json_objects_are_named_by_their_fields() -> None:
    lines = [
        {"item": 1, "user": {"id": 3, "email": "ann@x"}, "label": "x"},
        {"item": 1, "user": {"id": 4}, "label": "y"},
        {"item": 1, "user": "bob", "label": "y"},
    ]
    found = read(stream("\n".join(map(json.dumps, lines))))
    assert found.responses.annotators.tolist() == ["ann@x", "4", "bob"]


def test_a_list_of_annotator_columns_is_refused() -> None:
    assert_refused(
        lambda: read(stream(LONG), format="long", annotator=["annotator"]),
        "annotator=",
        kind=BadParameter,
    )
