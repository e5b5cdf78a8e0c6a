"""Small long and wide tables: one case per rule about columns, names and labels."""

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings

from blindfuse import BadFile, BadLabels, BadParameter, Responses, fuse, read
from blindfuse.kernels.tables import factorize_hashes
from blindfuse.readers import names
from tests.support.reader_files import (
    LONG,
    WRITERS,
    Case,
    Rows,
    as_cells,
    check_case,
    has_note,
    labels_by_name,
    stream,
)
from tests.support.response_rows import response_rows


def case(about: str, text: str, responses: str | None, *notes: str, **options: Any) -> Case:
    """Lines between slashes, and the responses that are read, or words of the refusal."""
    gold, columns = options.pop("gold", None), options.pop("columns", None)
    error = options.pop("error", BadFile)
    expected = None if responses is None else as_cells(responses)
    content = f"{text.replace('/', chr(10))}\n".encode()
    return Case(about, content, expected, notes, gold, columns, options, error)


def refused(text: str, *words: str, **options: Any) -> Case:
    return case(f"refused: {words[0]}", text, None, *words, **options)


LABELLED = "item,annotator,label"
QUESTIONS = "item,question,annotator,label/i,colour,a,red/i,size,a,big/j,colour,a,blue"
AMBIGUOUS = "id,model,judge,verdict/i,m,j,x/i,m,k,x"
IDS = "task,task_id,worker,response,verdict/" + "/".join(
    f"some text {n % 2},t{n % 2},w{n // 2},free text {n},{n % 3}" for n in range(12)
)
IDS_CELLS = ", ".join(f"t{n % 2} w{n // 2} {n % 3}" for n in range(12))
IDS_COLUMNS = {"item": "task_id", "annotator": "worker", "label": "verdict"}
TEXTS = "id,text,gold,ann,bob/007,long text,x,x,y/8,other text,y,NaN,y"
MANY = "item,annotator,label,mark/" + "/".join(
    f"i{n % 500},w{n % 7},free text {n},{n % 3}" for n in range(2000)
)
WIDE_MANY = "id,story,ann,bob/" + "/".join(f"{n},long {n},{n % 2},{n % 3}" for n in range(2000))
OBJECTS = "\n".join(
    json.dumps({"item": 1, "user": user, "label": label})
    for user, label in (({"id": 3, "email": "a@x"}, "x"), ({"id": 4}, "y"), ("bob", "y"))
)
NAMED: Any = {"format": "long", "item": "a", "annotator": "b", "label": "c"}

CASES = [
    *(
        case(
            f"columns {header}",
            f"truth,{header},time/x,i,a,x,3/y,i,b,y,4/y,j,a,x,4",
            "i a x, i b y, j a x",
            "(detected)",
            columns=dict(zip(("item", "annotator", "label"), header.split(","), strict=True)),
        )
        for header in (
            *("task,worker,answer", "question,performer,response", "id,judge,verdict"),
            *("unit_id,user_name,vote", "TaskID,WorkerId,Label", "Sample ID,Rater,Rating"),
            *("text,model,prediction", "Aufgabe,Bewerter,Antwort", "tâche,annotateur,réponse"),
            "documento,juez,categoría",
        )
    ),
    case("named", f"{LABELLED},a,b,c/1,2,3,i,x,p/1,2,3,i,y,q", "i x p, i y q", **NAMED),
    case("one of two", AMBIGUOUS, "i j x, i k x", annotator="judge"),
    refused(AMBIGUOUS, "annotator", "'model', 'judge'", "annotator='model'"),
    refused("item,annotator,answer,vote/i,a,x,y/i,b,x,y", "label", "'answer', 'vote'"),
    refused(LONG, "'lable'", "did you mean 'label'?", label="lable"),
    refused(LONG, "there are 'item', 'annotator', 'label'", item="zzz"),
    refused(LONG, "'question'", question="colour"),
    refused("ann,bob/x,y", "'zzz'", item="zzz"),
    refused("id,label/1,x/2,y", "annotator", "'id', 'label'", "wide table"),
    refused(LONG, "two of", item="label", label="label"),
    refused(LONG, "annotator=", format="long", annotator=["annotator"], error=BadParameter),
    case("ids, not texts; classes, not free text", IDS, IDS_CELLS, columns=IDS_COLUMNS),
    case("a question", QUESTIONS, "i a big", "'size' in column 'question'", question="size"),
    case(
        "texts of items named question",
        "item,question,annotator,label/i,What?,a,red/i,What?,b,red/j,Why?,a,blue",
        "i a red, i b red, j a blue",
    ),
    case("objects name annotators", OBJECTS, "1 a@x x, 1 4 y, 1 bob y"),
    refused(f"{LONG}007,ann,x", "'007'", repeats="error", error=BadLabels),
    refused(LABELLED, "no labels"),
    refused(f"{LABELLED}/i,a,/j,a,", "no labels"),
    refused(LONG, "'1e5'", "row 1", classes=["x"], error=BadLabels),
    refused(f"{LONG},a,x", "row 4 has a label but no item"),
    refused(f"{LONG}j,,x", "row 4 has a label but no annotator"),
    refused(MANY, "'label' contains 2,000", "1,000 classes", "'mark'"),
    refused(
        WIDE_MANY,
        "2,003 different",
        "annotator=",
        "'ann', 'bob'",
        format="wide",
        annotator=["story", "ann", "bob"],
    ),
    refused("item,bob,bob/1,x,y", "'bob'", "Rename"),
    case("items by row number", "ann,bob/x,y/,x", "0 ann x, 0 bob y, 1 bob x", "= row number"),
    case(
        "texts and gold labels",
        TEXTS,
        "007 ann x, 007 bob y, 8 bob y",
        "2 annotator columns: 'ann', 'bob'",
        "1 column not read as annotators, by their names or values: 'text'",
        gold={"007": "x", "8": "y"},
    ),
    case(
        "a gold column that is named",
        TEXTS,
        "007 gold x, 007 bob y, 8 gold y, 8 bob y",
        annotator=["gold", "bob"],
        format="wide",
    ),
    case("−1 abstains", "f,g/0,-1/1,0/-1,-1", "0 f 0, 1 f 1, 1 g 0", "treated as missing: '-1'"),
    case("−1 and 1", "f,g/1,-1/-1,1", "0 f 1, 0 g -1, 1 f -1, 1 g 1"),
    case("−1 named", "f,g/0,-1/1,0", "0 f 0, 0 g -1, 1 f 1, 1 g 0", classes=["-1", "0", "1"]),
    refused("ann,bob/x,y", "label=", format="wide", label="ann", error=BadParameter),
    case(
        "a gold column of a long table",
        f"{LABELLED},truth/i,a,x,x/i,b,y,x/j,a,y,/j,b,y,/k,a,x,y",
        "i a x, i b y, j a y, j b y, k a x",
        "2 gold labels found in 'truth'",
        gold={"i": "x", "k": "y"},
    ),
    case(
        "a gold column with several values for an item",
        f"{LABELLED},correct/i,a,x,true/i,b,y,false",
        "i a x, i b y",
        "'correct' not used as gold labels: several values for item 'i'",
        gold={},
    ),
    case(
        "a gold column with other classes",
        f"{LABELLED},expected/i,a,x,an essay/j,b,y,x",
        "i a x, j b y",
        "no annotator reported such a class: 'an essay'",
        gold={"j": "x"},
    ),
    *(
        case(
            f"gold labels about {asked}",
            "item,question,annotator,label,gold/i,colour,a,red,red/i,size,a,big,small"
            "/j,size,b,small,big/j,colour,b,blue,red",
            responses,
            gold=gold,
            question=asked,
        )
        for asked, responses, gold in (
            ("size", "i a big, j b small", {"i": "small", "j": "big"}),
            ("colour", "i a red, j b blue", {"i": "red", "j": "red"}),
        )
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_a_small_table_is_read_or_refused(case: Case) -> None:
    check_case(case)


def test_a_gold_label_is_the_label_of_its_item() -> None:
    found = read(stream(f"{LABELLED},truth\ni,a,x,x\ni,b,y,x\nj,a,y,\nk,a,x,y\n"))
    fusion = fuse(found.responses, gold=found.gold)
    assert dict(zip(found.responses.items, fusion.labels, strict=True))["k"] == "y"


# Names and classes


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@settings(max_examples=40)
@given(rows=response_rows())
def test_long_tables_are_read_back(write: Callable[[Rows], bytes], rows: Rows) -> None:
    found = read(io.BytesIO(write(rows)), format="long", item="item", annotator="annotator")
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    assert labels_by_name(found.responses) == labels_by_name(expected)
    assert found.responses.items.tolist() == expected.items.tolist()
    assert found.responses.annotators.tolist() == expected.annotators.tolist()
    assert set(found.responses.classes) == set(expected.classes)
    assert found.columns == {"item": "item", "annotator": "annotator", "label": "label"}


@settings(max_examples=60)
@given(rows=response_rows())
@example(rows=[("0", "||", "0")])  # only the second row shows that bars are not separators
def test_wide_tables_are_read_back(rows: Rows) -> None:
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    columns = [f"by {name}" for name in expected.annotators]
    labels = labels_by_name(expected)
    table = [
        {"item_id": item} | {f"by {who}": labels.get((item, who)) for who in expected.annotators}
        for item in expected.items
    ]
    text = stream(pl.DataFrame(table, infer_schema_length=None).write_csv(quote_style="always"))
    found = read(text, format="wide", annotator=columns, classes=expected.classes).responses
    assert found.items.tolist() == expected.items.tolist()
    assert found.annotators.tolist() == columns
    np.testing.assert_array_equal(found.matrix(), expected.matrix())


@pytest.mark.parametrize("file_type", ["CSV", "TSV", "JSONL", "JSON", "Parquet"])
def test_names_that_look_like_numbers_stay_text(file_type: str) -> None:
    rows = [("007", "1", "1e5"), ("7", "01", "100000"), ("1e5", "1.0", "1e5")]
    responses = read(io.BytesIO(WRITERS[file_type](rows))).responses
    assert responses.items.tolist() == ["007", "7", "1e5"]
    assert responses.annotators.tolist() == ["1", "01", "1.0"]
    assert sorted(responses.classes.tolist()) == ["100000", "1e5"]


def test_classes_that_are_numbers_are_sorted_by_value() -> None:
    text = "item,annotator,label\na,x,10\na,y,9\nb,x,-1\n"
    assert read(stream(text)).responses.classes.tolist() == ["-1", "9", "10"]
    words = text.replace("-1", "low")
    assert read(stream(words)).responses.classes.tolist() == ["10", "9", "low"]
    assert read(stream(text), classes=[10, 9, -1]).responses.classes.tolist() == ["10", "9", "-1"]


def test_items_and_annotators_without_a_response_are_kept() -> None:
    found = read(stream("item,annotator,label\ni,a,x\ni,b,\nj,a,\nk,,\n"))
    assert found.responses.items.tolist() == ["i", "j", "k"]
    assert found.responses.annotators.tolist() == ["a", "b"]
    assert has_note(found, "2 empty labels treated as missing")
    assert read(stream(f"{LABELLED}\ni,a,\n"), classes=["x"]).responses.n_responses == 0


def test_tables_of_many_texts_are_read_by_their_other_columns() -> None:
    wide = stream(WIDE_MANY.replace("/", "\n"))
    assert read(wide).responses.annotators.tolist() == ["ann", "bob"]
    wide.seek(0)
    assert read(wide, format="wide", annotator="bob").responses.items[0] == "0"
    assert read(stream(MANY.replace("/", "\n")), label="mark").responses.n_classes == 3


def test_values_are_hashed_again_when_hashes_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    def colliding(hashes: Any) -> Any:
        monkeypatch.undo()
        return factorize_hashes(np.zeros_like(hashes))

    monkeypatch.setattr(names, "factorize_hashes", colliding)
    codes, values = names.factorize(pl.Series(["a", None, "b", "a"]))
    assert codes.tolist() == [0, 1, 2, 0]
    assert values.to_list() == ["a", None, "b"]


@pytest.mark.parametrize("distinct", [1, 511, 512, 513, 5_000, 100_000])
def test_codes_follow_the_order_of_first_appearance(distinct: int) -> None:
    picks = np.random.default_rng(distinct).integers(0, distinct, 3 * distinct)
    codes, values = names.factorize(pl.Series([f"n{pick}" for pick in picks]))
    first = {pick: code for code, pick in enumerate(dict.fromkeys(picks.tolist()))}
    assert codes.tolist() == [first[pick] for pick in picks.tolist()]
    assert values.to_list() == [f"n{pick}" for pick in first]
