"""Files of checked labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadFile
from blindfuse.readers.gold import CheckedFile, read_checked

HEAD = "item,label,responses,stratum,stratum_size,probability\n"


def write(folder: Path, text: str, name: str = "checked.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_plan_with_labels(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + "a,cat,x: cat,1,10,0.1\nb,,x: dog,2,4,0.5\nc, dog,,2,4,0.5\n")
    expected = CheckedFile({"a": "cat", "c": "dog"}, ["a", "b", "c"], [0, 1, 1], [10, 4, 4])
    assert read_checked(path) == expected


def test_a_probability_alone_makes_strata(tmp_path: Path) -> None:
    path = write(tmp_path, "item,label,probability\na,cat,0.1\nb,dog,0.5\nc,dog,0.5\n")
    found = read_checked(path)
    assert found.strata == [0, 1, 1]
    assert found.sizes == [10, 4, 4]


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path, "item,label\na,cat\nb,\n")
    assert read_checked(path) == CheckedFile({"a": "cat"})
    emptied = write(tmp_path, "item,label,probability\na,cat,\nb,dog,\n", "emptied.csv")
    assert read_checked(emptied) == CheckedFile({"a": "cat", "b": "dog"})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,cat,,1,10,0.1\na,dog,,1,10,0.1\n", "several labels for the items 'a'"),
        ("a,cat,,1,10,0.1\nb,dog,,1,10,\n", "no valid inclusion probability for the items 'b'"),
        ("a,cat,,1,10,0\n", "no valid inclusion probability"),
        ("a,cat,,1,10,1.5\n", "no valid inclusion probability"),
        ("a,cat,,1,-1,0.5\n", "no valid inclusion probability"),
        ("a,cat,,,10,0.5\n", "no valid inclusion probability"),
        ("a,cat,,1,many,0.5\n", "no valid inclusion probability"),
    ],
)
def test_damaged_plans_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_checked(write(tmp_path, HEAD + rows))


def task(item: str, *labels: str, **data: Any) -> dict[str, Any]:
    result = [
        {"result": [{"from_name": "label", "type": "choices", "value": {"choices": [label]}}]}
        for label in labels
    ]
    return {"id": 7, "data": {"item": item, **data}, "annotations": result}


def test_an_export_of_label_studio(tmp_path: Path) -> None:
    design = {"stratum": 1, "stratum_size": 9, "probability": 0.222222}
    tasks = [task("a", "cat", **design), task("b", **design)]
    found = read_checked(write(tmp_path, json.dumps(tasks), "export.json"))
    assert found == CheckedFile({"a": "cat"}, ["a", "b"], [0, 0], [9, 9])
    twice = [task("a", "cat", "dog", **design)]
    with pytest.raises(BadFile, match="several labels"):
        read_checked(write(tmp_path, json.dumps(twice), "twice.json"))
    unchecked = [{"data": {"item": "a", **design}}]
    assert read_checked(write(tmp_path, json.dumps(unchecked), "tasks.json")).labels == {}
    with pytest.raises(BadFile, match="no task with the field 'item'"):
        read_checked(write(tmp_path, json.dumps([{"data": {"text": "a"}}]), "other.json"))
