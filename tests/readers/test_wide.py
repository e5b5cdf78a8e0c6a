"""Wide tables: one row per item, one column per annotator."""

import csv
import io

import numpy as np
from hypothesis import example, given, settings

from blindfuse import BadParameter, Responses, read
from tests.support.reader_files import Rows, assert_refused, has_note, labels_by_name, stream
from tests.support.response_rows import response_rows


@settings(max_examples=60)
@given(rows=response_rows())
@example(rows=[("0", "||", "0")])  # only the second row shows that bars are not separators
def test_written_responses_are_read_back(rows: Rows) -> None:
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    names = [f"by {name}" for name in expected.annotators]
    labels = labels_by_name(expected)
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(["item_id", *names])
    for item in expected.items:
        writer.writerow([item, *(labels.get((item, name), "") for name in expected.annotators)])
    found = read(
        stream(text.getvalue()), format="wide", annotator=names, classes=expected.classes
    ).responses
    assert found.items.tolist() == expected.items.tolist()
    assert found.annotators.tolist() == names
    np.testing.assert_array_equal(found.matrix(), expected.matrix())


def test_items_without_an_id_are_named_by_row_number() -> None:
    found = read(stream("ann,bob\nx,y\n,x\n"))
    assert found.format == "wide"
    assert found.columns == {
        "item": "row number",
        "annotator": "column name",
        "label": "cell value",
    }
    assert "item = row number" in found.notes[0]
    assert labels_by_name(found.responses) == {
        ("0", "ann"): "x",
        ("0", "bob"): "y",
        ("1", "bob"): "x",
    }


def test_columns_of_texts_and_gold_labels_are_skipped() -> None:
    text = "id,text,gold,ann,bob\n007,long text,x,x,y\n8,other text,y,NaN,y\n"
    found = read(stream(text))
    assert labels_by_name(found.responses) == {
        ("007", "ann"): "x",
        ("007", "bob"): "y",
        ("8", "bob"): "y",
    }
    assert has_note(found, "2 annotator columns: 'ann', 'bob'")
    assert has_note(found, "1 column not read as annotators, by their names or values: 'text'")
    assert found.gold == {"007": "x", "8": "y"}
    chosen = read(stream(text), format="wide", annotator=["gold", "bob"])
    assert chosen.responses.annotators.tolist() == ["gold", "bob"]


def test_minus_one_is_missing_in_a_table_of_numbers() -> None:
    abstaining = read(stream("lf1,lf2\n0,-1\n1,0\n-1,-1\n"))
    assert abstaining.responses.matrix().tolist() == [[0, -1], [1, 0], [-1, -1]]
    assert has_note(abstaining, "treated as missing: '-1'")
    assert read(stream("lf1,lf2\n1,-1\n-1,1\n")).responses.classes.tolist() == ["-1", "1"]
    named = read(stream("lf1,lf2\n0,-1\n1,0\n"), classes=["-1", "0", "1"])
    assert named.responses.n_responses == 4


def test_a_label_column_is_refused() -> None:
    wide = stream("ann,bob\nx,y\n")
    assert_refused(lambda: read(wide, format="wide", label="ann"), "label=", kind=BadParameter)
