"""Gold labels: in a file of their own, or beside the answers."""

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from blindfuse import BadFile, fuse, read, read_gold

PAIRS = [("007", "cat"), ("1e5", "dog"), ("ü", "cat")]


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


def table(header: str, rows: Any = PAIRS) -> str:
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


@pytest.mark.parametrize(
    "header",
    ["item,label", "item,truth", "task_id,gold", "id,Gold Label", "question,vote", "x,y"],
)
def test_columns_are_guessed(header: str) -> None:
    assert read_gold(stream(table(header))) == dict(PAIRS)


def test_a_truth_is_taken_before_a_label_and_whatever_the_order() -> None:
    rows = [("cat", "x", "007", "5"), ("dog", "y", "1e5", "3")]
    assert read_gold(stream(table("truth,label,item,time", rows))) == {"007": "cat", "1e5": "dog"}
    assert read_gold(stream(table("truth,label,item,time", rows)), item="time", label="label") == {
        "5": "x",
        "3": "y",
    }
    assert read_gold(stream("truth,item\ncat,1\n")) == {"1": "cat"}


def test_every_kind_of_file(tmp_path: Path) -> None:
    frame = pl.DataFrame(PAIRS, schema=["item", "gold"], orient="row")
    frame.write_csv(tmp_path / "gold.csv")
    frame.write_csv(tmp_path / "gold.tsv", separator="\t")
    frame.write_ndjson(tmp_path / "gold.jsonl")
    frame.write_parquet(tmp_path / "gold.parquet")
    for path in tmp_path.iterdir():
        assert read_gold(path) == dict(PAIRS), path


def test_empty_labels_are_not_known_and_the_same_twice_is_once() -> None:
    rows = [*PAIRS, ("a", ""), ("b", "NaN"), PAIRS[0]]
    assert read_gold(stream(table("item,label", rows))) == dict(PAIRS)


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        ("item,label\ni,x\ni,y\n", {}, "several labels of the items 'i'"),
        ("item,label\ni,\n", {}, "no label in column 'label'"),
        ("item,label\ni,x\n", {"label": "lable"}, "did you mean 'label'"),
        ("item,label\ni,x\n", {"item": "itm"}, "did you mean 'item'"),
        ("a,b,c\ni,x,y\n", {}, "no column looks like the label"),
    ],
)
def test_what_is_wrong_is_named(text: str, options: Any, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        read_gold(stream(text), **options)


# Beside the answers


def noted(notes: tuple[str, ...], what: str) -> bool:
    return any(what in note for note in notes)


def test_a_truth_in_a_long_table_is_gold_and_no_answer() -> None:
    text = "item,annotator,label,truth\ni,a,x,x\ni,b,y,x\nj,a,y,\nj,b,y,\nk,a,x,y\n"
    found = read(stream(text))
    assert found.gold == {"i": "x", "k": "y"}
    assert noted(found.notes, "gold labels of 2 items in 'truth'")
    assert found.responses.n_responses == 5
    fusion = fuse(found.responses, gold=found.gold)
    assert dict(zip(found.responses.items, fusion.labels, strict=True))["k"] == "y"


def test_what_differs_within_an_item_or_is_no_class_is_not_gold() -> None:
    right = read(stream("item,annotator,label,correct\ni,a,x,true\ni,b,y,false\n"))
    assert not right.gold
    assert noted(right.notes, "'correct' is not taken for gold: it differs within 'i'")
    texts = read(stream("item,annotator,label,expected\ni,a,x,an essay\nj,b,y,x\n"))
    assert texts.gold == {"j": "x"}
    assert noted(texts.notes, "nobody reported it: 'an essay'")


def test_the_truth_of_the_question_that_is_asked() -> None:
    text = (
        "item,question,annotator,label,gold\n"
        "i,colour,a,red,red\ni,size,a,big,small\nj,size,b,small,big\nj,colour,b,blue,red\n"
    )
    assert read(stream(text), question="size").gold == {"i": "small", "j": "big"}
    assert read(stream(text), question="colour").gold == {"i": "red", "j": "red"}


def test_a_truth_in_a_wide_table() -> None:
    assert read(stream("id,gold,ann,bob\n007,x,x,y\n8,,y,x\n")).gold == {"007": "x"}
    assert read(stream("truth,ann,bob\nx,x,y\ny,y,x\n")).gold == {"0": "x", "1": "y"}
    assert not read(stream("id,ann,bob\n1,x,y\n")).gold


def test_a_truth_that_only_some_files_have_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("item,annotator,label,truth\ni,a,x,x\n")
    (tmp_path / "2.csv").write_text("item,annotator,label\ni,b,y\n")
    assert not read(tmp_path).gold


def test_golden_tasks_of_toloka() -> None:
    names = "INPUT:image", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:worker_id"
    rows = [("1", "cat", "dog", "w"), ("1", "dog", "dog", "v"), ("2", "cat", "", "w")]
    text = "\n".join("\t".join(row) for row in [names, *rows])
    found = read(stream(text))
    assert found.gold == {"1": "dog"}
    assert noted(found.notes, "in 'GOLDEN:result'")


def test_ground_truth_of_label_studio_belongs_to_its_question() -> None:
    def annotation(who: int, colour: str, size: str, gold: bool = False) -> dict[str, Any]:
        results = [
            {"from_name": name, "type": "choices", "value": {"choices": [said]}}
            for name, said in (("colour", colour), ("size", size))
        ]
        return {"completed_by": who, "ground_truth": gold, "result": results}

    tasks = [
        {
            "id": 1,
            "data": {},
            "annotations": [annotation(1, "red", "big"), annotation(9, "blue", "small", True)],
        },
        {"id": 2, "data": {}, "annotations": [annotation(1, "blue", "small")]},
    ]
    for question, label in (("colour", "blue"), ("size", "small")):
        found = read(stream(json.dumps(tasks)), question=question)
        assert found.gold == {"1": label}
        assert found.responses.annotators.tolist() == ["1"]
        assert noted(found.notes, "1 annotations marked as ground truth are gold, not answers")
