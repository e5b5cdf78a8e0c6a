"""One column of 0 and 1 per class: read as labels where one class applies in every row."""

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import labels_by_name, stream

CELLS = {("q1", "ann"): "cat", ("q1", "bob"): "dog", ("q2", "ann"): "dog"}


@pytest.mark.parametrize(("no", "yes"), [("0", "1"), ("FALSE", "TRUE"), ("0.0", "1.0")])
@pytest.mark.parametrize("prefix", ["", "label_", "class: "])
def test_the_class_is_the_column_that_holds_one(no: str, yes: str, prefix: str) -> None:
    rows = [f"item,annotator,{prefix}cat,{prefix}dog"]
    for (item, who), label in CELLS.items():
        rows.append(",".join([item, who, *(yes if label == k else no for k in ("cat", "dog"))]))
    found = read(stream("\n".join(rows)))
    assert found.format == "indicators"
    assert labels_by_name(found.responses) == CELLS


def test_rows_with_empty_cells_are_missing() -> None:
    found = read(stream("item,annotator,cat,dog\nq1,ann,1,0\nq1,bob,0,1\nq2,ann,,\nq2,bob,0,1\n"))
    assert labels_by_name(found.responses) == {
        ("q1", "ann"): "cat",
        ("q1", "bob"): "dog",
        ("q2", "bob"): "dog",
    }


def test_rows_with_several_classes_are_not_read_as_labels() -> None:
    with pytest.raises(BadFile, match="no column name looks like the label"):
        read(stream("item,annotator,cat,dog\nq1,ann,1,1\nq1,bob,0,1\n"))


def test_a_column_of_labels_goes_before_columns_of_zero_and_one() -> None:
    found = read(stream("item,annotator,label,a,b\nq1,ann,x,1,0\nq1,bob,y,0,1\nq2,ann,x,1,0\n"))
    assert found.format == "long"
    assert found.responses.classes.tolist() == ["x", "y"]
