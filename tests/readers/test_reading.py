"""Tables that people have, long and wide, in every kind of file: what was written is read."""

import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blindfuse import Responses, read
from blindfuse.kernels.hash_codes import number
from blindfuse.readers import coded

Rows = list[tuple[str, str, str]]

LONG = "item,annotator,label\n007,ann,1e5\n007,bob,x\n1e5,ann,x\n"


def said(responses: Responses) -> dict[tuple[str, str], str]:
    """What was said, by name."""
    table = responses.matrix()
    return {
        (str(responses.items[n]), str(responses.annotators[m])): str(responses.classes[code])
        for (n, m), code in np.ndenumerate(table)
        if code >= 0
    }


def file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def stream(content: str | bytes) -> io.BytesIO:
    return io.BytesIO(content.encode() if isinstance(content, str) else content)


# What was written comes back

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8
).filter(lambda name: name.strip() == name)
labels = names.filter(lambda name: name.casefold() != "nan")


@st.composite
def answers(draw: st.DrawFn) -> Rows:
    """Answers by odd names, each (item, annotator) pair once."""
    item, annotator = (draw(st.lists(names, min_size=1, max_size=4, unique=True)) for _ in "ia")
    label = draw(st.lists(labels, min_size=1, max_size=3, unique=True))
    cells = st.tuples(*map(st.sampled_from, (item, annotator, label)))
    return draw(st.lists(cells, min_size=1, max_size=12, unique_by=lambda row: row[:2]))


def as_csv(rows: Rows, separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([("item", "annotator", "label"), *rows])
    return text.getvalue().encode()


def as_jsonl(rows: Rows) -> bytes:
    objects = (dict(zip(("item", "annotator", "label"), row, strict=True)) for row in rows)
    return "\n".join(json.dumps(one) for one in objects).encode()


def by_polars(write: str) -> Callable[[Rows], bytes]:
    def writer(rows: Rows) -> bytes:
        data = io.BytesIO()
        schema = dict.fromkeys(("item", "annotator", "label"), pl.String)
        getattr(pl.DataFrame(rows, schema=schema, orient="row"), write)(data)
        return data.getvalue()

    return writer


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "CSV": as_csv,
    "TSV": lambda rows: as_csv(rows, "\t"),
    "semicolons": lambda rows: as_csv(rows, ";"),
    "JSONL": as_jsonl,
    "JSON": lambda rows: b"[" + as_jsonl(rows).replace(b"\n", b",") + b"]",
    "Parquet": by_polars("write_parquet"),
    "Arrow": by_polars("write_ipc"),
    "Arrow stream": by_polars("write_ipc_stream"),
    "gzip": lambda rows: gzip.compress(as_csv(rows)),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@settings(max_examples=40)
@given(rows=answers())
def test_long_files_come_back(write: Callable[[Rows], bytes], rows: Rows) -> None:
    found = read(io.BytesIO(write(rows)), format="long", item="item", annotator="annotator")
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    assert said(found.responses) == said(expected)
    assert found.responses.items.tolist() == expected.items.tolist()
    assert found.responses.annotators.tolist() == expected.annotators.tolist()
    assert set(found.responses.classes) == set(expected.classes)
    assert found.columns == {"item": "item", "annotator": "annotator", "label": "label"}


@settings(max_examples=60)
@given(rows=answers())
@example(rows=[("0", "||", "0")])  # the only row tells that bars are no separators
def test_wide_files_come_back(rows: Rows) -> None:
    expected = Responses.from_long(*map(list, zip(*rows, strict=True)))
    heard = said(expected)
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(["item_id", *(f"by {name}" for name in expected.annotators)])
    for item in expected.items:
        writer.writerow([item, *(heard.get((item, who), "") for who in expected.annotators)])
    found = read(stream(text.getvalue()), format="wide", classes=expected.classes).responses
    assert found.items.tolist() == expected.items.tolist()
    assert found.annotators.tolist() == [f"by {name}" for name in expected.annotators]
    np.testing.assert_array_equal(found.matrix(), expected.matrix())


def test_columns_are_numbered_anew_when_hashes_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    def colliding(hashes: Any) -> Any:
        monkeypatch.undo()
        return number(np.zeros_like(hashes))

    monkeypatch.setattr(coded, "number", colliding)
    codes, values = coded.numbered(pl.Series(["a", None, "b", "a"]))
    assert codes.tolist() == [0, 1, 2, 0]
    assert values.to_list() == ["a", None, "b"]


@pytest.mark.parametrize("distinct", [1, 511, 512, 513, 5_000, 100_000])
def test_numbers_follow_first_appearance(distinct: int) -> None:
    picks = np.random.default_rng(distinct).integers(0, distinct, 3 * distinct)
    codes, values = coded.numbered(pl.Series([f"n{pick}" for pick in picks]))
    first = {pick: code for code, pick in enumerate(dict.fromkeys(picks.tolist()))}
    assert codes.tolist() == [first[pick] for pick in picks.tolist()]
    assert values.to_list() == [f"n{pick}" for pick in first]


# Text stays text


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_ids_that_look_like_numbers_stay_text(kind: str) -> None:
    rows = [("007", "1", "1e5"), ("7", "01", "100000"), ("1e5", "1.0", "1e5")]
    write = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSONL", "json": "JSON", "parquet": "Parquet"}
    responses = read(io.BytesIO(WRITERS[write[kind]](rows))).responses
    assert responses.items.tolist() == ["007", "7", "1e5"]
    assert responses.annotators.tolist() == ["1", "01", "1.0"]
    assert sorted(responses.classes.tolist()) == ["100000", "1e5"]


def test_numbers_and_booleans_of_typed_files_are_text() -> None:
    frame = pl.DataFrame({"item": [7, 8], "worker": [1.0, 2.0], "label": [True, None]})
    data = io.BytesIO()
    frame.write_parquet(data)
    lines = '{"item": 7, "worker": 1, "label": true}\n{"item": 8, "worker": 2, "label": null}\n'
    for given_file in (io.BytesIO(data.getvalue()), stream(lines)):
        assert said(read(given_file).responses) == {("7", "1"): "true"}


def test_classes_that_are_numbers_sort_by_value() -> None:
    text = "item,annotator,label\na,x,10\na,y,9\nb,x,-1\n"
    assert read(stream(text)).responses.classes.tolist() == ["-1", "9", "10"]
    words = text.replace("-1", "low")
    assert read(stream(words)).responses.classes.tolist() == ["10", "9", "low"]
    assert read(stream(text), classes=[10, 9, -1]).responses.classes.tolist() == ["10", "9", "-1"]


@pytest.mark.parametrize(
    "text",
    [
        LONG.replace("\n", "\r\n"),
        LONG.replace("\n", "\r"),
        "\ufeff" + LONG,
        LONG.replace(",", "\t"),
        LONG.replace(",", ";"),
        LONG.replace(",", "|"),
        LONG + "\n\n",
        LONG.replace("item", " item "),
    ],
    ids=["CRLF", "CR", "BOM", "tabs", "semicolons", "bars", "blank lines", "spaces"],
)
def test_text_files_of_every_make(text: str) -> None:
    assert said(read(stream(text)).responses) == said(read(stream(LONG)).responses)
    assert len(said(read(stream(text)).responses)) == 3


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quotes_newlines_and_letters(end: str) -> None:
    text = f'item,annotator,label{end}"a\nb","Ünal ""Ü""",да{end}"a\nb",李,"нет, нет"{end}'
    found = said(read(stream(text)).responses)
    assert found == {("a\nb", 'Ünal "Ü"'): "да", ("a\nb", "李"): "нет, нет"}
    stray = 'item,annotator,label\n5" pipe,ann,x\n6" pipe,ann,y\n'
    assert [item for item, _ in said(read(stream(stray)).responses)] == ['5" pipe', '6" pipe']


# What is guessed


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,answer",
        "question,performer,response",
        "id,judge,verdict",
        "unit_id,user_name,vote",
        "TaskID,WorkerId,Label",
        "Sample ID,Rater,Rating",
        "text,model,prediction",
    ],
)
def test_columns_are_guessed_by_name(header: str) -> None:
    columns = dict(zip(("item", "annotator", "label"), header.split(","), strict=True))
    found = read(stream(f"truth,{header},time\nx,i,a,x,3\ny,i,b,y,4\ny,j,a,x,4\n"))
    assert said(found.responses) == {("i", "a"): "x", ("i", "b"): "y", ("j", "a"): "x"}
    assert found.columns == columns
    assert all(repr(name) in found.notes[0] for name in columns.values())
    assert "guessed" in found.notes[0]


def test_every_column_can_be_named() -> None:
    text = "item,annotator,label,a,b,c\n1,2,3,i,ann,x\n1,2,3,i,bob,y\n"
    found = read(stream(text), format="long", item="a", annotator="b", label="c")
    assert said(found.responses) == {("i", "ann"): "x", ("i", "bob"): "y"}
    assert "guessed" not in found.notes[0]


def test_an_id_beats_a_text_and_classes_beat_free_text() -> None:
    text = "task,task_id,worker,response,verdict\n"
    rows = [f"some text {n % 2},t{n % 2},w{n // 2},free text {n},{n % 3}\n" for n in range(12)]
    found = read(stream(text + "".join(rows)))
    assert found.columns == {"item": "task_id", "annotator": "worker", "label": "verdict"}


def test_an_id_is_no_label() -> None:
    text = "response_id,question_id,worker_id,answer\nr1,q,a,x\nr1,q,b,y\n"
    assert read(stream(text)).columns["label"] == "answer"


def test_a_column_of_row_numbers_is_noticed() -> None:
    found = read(stream("id,worker,label\n1,a,x\n2,b,x\n3,a,y\n"))
    assert any("right item column" in note for note in found.notes)


def test_questions_of_a_long_table() -> None:
    text = "item,question,annotator,label\ni,colour,a,red\ni,size,a,big\nj,colour,a,blue\n"
    assert said(read(stream(text), question="size").responses) == {("i", "a"): "big"}
    texts = "item,question,annotator,label\ni,What?,a,red\ni,What?,b,red\nj,Why?,a,blue\n"
    assert len(said(read(stream(texts)).responses)) == 3


def test_nested_annotators_of_json_lines() -> None:
    lines = [
        {"item": 1, "user": {"id": 3, "email": "ann@x"}, "label": "x"},
        {"item": 1, "user": {"id": 4}, "label": "y"},
        {"item": 1, "user": "bob", "label": "y"},
    ]
    found = read(stream("\n".join(map(json.dumps, lines))))
    assert found.responses.annotators.tolist() == ["ann@x", "4", "bob"]


# Wide tables


def test_a_wide_table_without_ids() -> None:
    found = read(stream("ann,bob\nx,y\n,x\n"))
    assert found.format == "wide"
    assert said(found.responses) == {("0", "ann"): "x", ("0", "bob"): "y", ("1", "bob"): "x"}


def test_truths_and_texts_of_a_wide_table_are_left_out() -> None:
    text = "id,text,gold,ann,bob\n007,long text,x,x,y\n8,other text,y,NaN,y\n"
    found = read(stream(text))
    assert said(found.responses) == {("007", "ann"): "x", ("007", "bob"): "y", ("8", "bob"): "y"}
    assert any("'text', 'gold'" in note for note in found.notes)
    chosen = read(stream(text), format="wide", annotator=["gold", "bob"])
    assert chosen.responses.annotators.tolist() == ["gold", "bob"]


def test_minus_one_abstains_in_a_wide_table_of_numbers() -> None:
    abstaining = read(stream("lf1,lf2\n0,-1\n1,0\n-1,-1\n"))
    assert abstaining.responses.matrix().tolist() == [[0, -1], [1, 0], [-1, -1]]
    assert any("no answer: '-1'" in note for note in abstaining.notes)
    assert read(stream("lf1,lf2\n1,-1\n-1,1\n")).responses.classes.tolist() == ["-1", "1"]
    named = read(stream("lf1,lf2\n0,-1\n1,0\n"), classes=["-1", "0", "1"])
    assert named.responses.n_responses == 4


def test_a_table_without_header() -> None:
    found = read(stream("NOUN,VERB,\nVERB,,VERB\nNOUN,NOUN,VERB\n"))
    assert found.responses.annotators.tolist() == ["0", "1", "2"]
    assert found.responses.matrix().tolist() == [[0, 1, -1], [1, -1, 1], [0, 0, 1]]
    assert any("no header" in note for note in found.notes)
    rows = stream("i,a,x\ni,b,y\nj,a,x\nj,b,y\n")
    long = read(rows, format="long", item="0", annotator="1", label="2")
    assert long.responses.items.tolist() == ["i", "j"]


def test_an_index_column_of_pandas_names_items() -> None:
    assert read(stream(",ann,bob\ni7,x,y\ni8,y,y\n")).responses.items.tolist() == ["i7", "i8"]


# Empty and repeated


def test_empty_labels_keep_their_item_and_are_counted() -> None:
    found = read(stream('item,annotator,label\ni,a,x\ni,b,\nj,a,"  "\nk,,\n'))
    assert found.responses.items.tolist() == ["i", "j", "k"]
    assert found.responses.annotators.tolist() == ["a", "b"]
    assert said(found.responses) == {("i", "a"): "x"}
    assert any("2 empty answers" in note for note in found.notes)


def test_repeated_pairs() -> None:
    text = "item,annotator,label\ni,a,x\nj,a,y\ni,a,y\n"
    last, first = read(stream(text)), read(stream(text), repeats="first")
    assert said(last.responses)["i", "a"] == "y"
    assert said(first.responses)["i", "a"] == "x"
    assert any("1 answers dropped" in note and "first" in note for note in first.notes)


# Where files are


def test_patterns_folders_archives_and_several_files(tmp_path: Path) -> None:
    one = file(tmp_path, "a.csv", "item,annotator,label\n1,ann,x\n")
    two = file(tmp_path, "b.csv.gz", gzip.compress(b"label,item,annotator\ny,1,bob\n"))
    file(tmp_path, "README.md", "not a table")
    packed = tmp_path / "all.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sub/b.csv", "item,annotator,label\n1,ann,x\n1,bob,y\n")
        archive.writestr("notes.md", "not a table")
    expected = {("1", "ann"): "x", ("1", "bob"): "y"}
    for given_paths in ([one, str(two)], str(tmp_path / "*.csv*"), tmp_path, packed):
        found: Any = read(given_paths)  # type: ignore[arg-type]
        assert said(found.responses) == expected


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (LONG.encode(), gzip.compress(LONG.encode())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert len(said(read("-").responses)) == 3


def test_a_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    for name, content in (("a[1].csv", LONG.encode()), ("b[1].parquet", b"")):
        rows: Rows = [("007", "ann", "1e5"), ("007", "bob", "x"), ("1e5", "ann", "x")]
        path = file(tmp_path, name, content or WRITERS["Parquet"](rows))
        assert len(said(read(path).responses)) == 3
