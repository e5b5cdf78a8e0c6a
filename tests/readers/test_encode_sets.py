"""``kind="sets"``: all choices are kept, in every format, and empty sets are responses."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from blindfuse import BadFile, BlindfuseError, read
from tests.responses.cases import reported
from tests.support.reader_files import as_json_lines, stream
from tests.support.set_files import EXPECTED, FILES, RESPONSES
from tests.support.tool_exports import label_studio_annotation, label_studio_task


@pytest.mark.parametrize("name", FILES)
def test_all_choices_are_kept(tmp_path: Path, name: str) -> None:
    file, content = FILES[name]
    path = tmp_path / file
    path.write_bytes(content)
    found = read(path, kind="sets")
    got = {
        (str(item).lstrip("3Xr"), str(who)): one
        for (item, who), one in reported(found.responses).items()
    }
    assert got == EXPECTED
    assert found.responses.classes.tolist() == ["x", "y", "z"]


def test_doccano_keeps_all_labels_and_says_what_an_empty_list_may_mean(tmp_path: Path) -> None:
    for who in ("ann", "bob"):
        lines = [{"id": n, "label": names} for n, one, names in RESPONSES if one == who]
        (tmp_path / f"{who}.jsonl").write_bytes(as_json_lines(lines))
    found = read(tmp_path, kind="sets")
    assert reported(found.responses) == EXPECTED
    assert any("export approved documents only" in note for note in found.notes)


def test_parquet_lists_are_sets_and_null_is_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "item": ["1", "1", "2", "2", "3"],
            "annotator": ["ann", "bob", "ann", "bob", "ann"],
            "label": [["x", "y"], ["x"], [], ["z", "y"], None],
        }
    )
    frame.write_parquet(tmp_path / "s.parquet")
    assert reported(read(tmp_path / "s.parquet", kind="sets").responses) == EXPECTED


def test_empty_cells_are_empty_sets_in_csv_and_missing_in_json() -> None:
    found = read(stream("item,annotator,label\n1,ann,x|y\n1,bob,\n2,ann,NA\n"), kind="sets")
    assert reported(found.responses) == {("1", "ann"): {"x", "y"}, ("1", "bob"): set()}
    assert any("1 empty cell read as empty sets" in note for note in found.notes)
    assert any("separated at '|'" in note for note in found.notes)
    lines: list[dict[str, Any]] = [
        {"item": "1", "annotator": "ann", "label": ["x"]},
        {"item": "1", "annotator": "bob", "label": None},
    ]
    assert reported(read(stream(as_json_lines(lines)), kind="sets").responses) == {
        ("1", "ann"): {"x"}
    }


def test_regions_and_taxonomies_of_label_studio_are_joined() -> None:
    taxonomy = {
        "from_name": "tags",
        "to_name": "text",
        "type": "taxonomy",
        "value": {"taxonomy": [["animal", "cat"], ["plant"]]},
    }
    tasks = [label_studio_task(1, label_studio_annotation(7, taxonomy, taxonomy))]
    found = read(stream(json.dumps(tasks)), kind="sets")
    assert reported(found.responses) == {("1", "7"): {"animal / cat", "plant"}}


def test_gold_sets_beside_the_responses_are_read() -> None:
    text = "item,annotator,label,gold\n1,ann,x|y,x|y\n1,bob,x,x|y\n2,ann,y,y\n"
    found = read(stream(text), kind="sets")
    assert found.gold == {"1": ("x", "y"), "2": ("y",)}
    odd = read(stream(text.replace("1,bob,x,x|y", "1,bob,x,q")), kind="sets")
    assert odd.gold == {}
    assert any("several values for item '1'" in note for note in odd.notes)


@pytest.mark.parametrize("name", FILES)
def test_without_sets_nothing_is_dropped_silently(tmp_path: Path, name: str) -> None:
    file, content = FILES[name]
    path = tmp_path / file
    path.write_bytes(content)
    if "per class" in name:  # there is no label to drop
        with pytest.raises(BlindfuseError, match="no column name looks like the label"):
            read(path)
        return
    said = "\n".join(read(path).notes)
    assert "--multi-label" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,annotator,label\n1,ann,\n", "No response names a class"),
        ("item,annotator,label\n1,,x|y\n", "row 1 has a label but no annotator"),
        ("item,annotator,a,b\n1,ann,1,0\n1,bob,0,1\n2,ann,2,1\n", "no column name looks like"),
    ],
)
def test_bad_files_are_refused(content: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read(stream(content), kind="sets")
