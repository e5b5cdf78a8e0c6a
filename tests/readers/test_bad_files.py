"""Files that cannot be read: each gets one line with the file, what is wrong, and what to do."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from blindfuse import BadFile, BadLabels, BadParameter, BlindfuseError, read
from blindfuse.readers import sources
from tests.readers.test_reading import LONG, WRITERS, Rows, file, stream
from tests.support.damaged_files import as_archive

ROWS: Rows = [("i", "a", "x"), ("i", "b", "y"), ("j", "a", "x")]


def refusal(make: Callable[[], Any], *words: str, kind: type[BlindfuseError] = BadFile) -> None:
    """One line of the right kind that holds these words."""
    with pytest.raises(BlindfuseError) as caught:
        make()
    message = str(caught.value)
    assert type(caught.value) is kind, message
    assert "\n" not in message
    assert len(message) < 600
    for word in words:
        assert word in message


# Not there, or nothing in it


def test_not_found(tmp_path: Path) -> None:
    file(tmp_path, "crowd.csv", LONG)
    refusal(lambda: read(tmp_path / "crowds.csv"), "not found", "Did you mean", "crowd.csv'?")
    refusal(lambda: read(tmp_path / "no" / "a.csv"), "There is no folder")
    refusal(lambda: read(str(tmp_path / "*.tsv")), "*.tsv is not found", "pattern")
    (tmp_path / "empty").mkdir()
    refusal(lambda: read(tmp_path / "empty"), "holds no file")
    refusal(lambda: read([]), "No file is given", kind=BadParameter)
    refusal(lambda: read(3), "3 is no path", kind=BadParameter)  # type: ignore[arg-type]
    refusal(lambda: read(io.StringIO(LONG)), "binary", kind=BadParameter)


@pytest.mark.parametrize("content", [b"", b" \n\n", gzip.compress(b"")])
def test_empty(tmp_path: Path, content: bytes) -> None:
    refusal(lambda: read(file(tmp_path, "a.csv", content)), "a.csv is empty")


def test_no_label_at_all() -> None:
    refusal(lambda: read(stream("item,annotator,label\n")), "no label at all")
    refusal(lambda: read(stream("item,annotator,label\ni,a,\nj,a,\n")), "no label at all")
    assert read(stream("item,annotator,label\ni,a,\n"), classes=["x"]).responses.n_responses == 0


# Not what it says


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.json", "a.jsonl"])
def test_not_the_format_of_its_ending(tmp_path: Path, name: str) -> None:
    refusal(lambda: read(file(tmp_path, name, LONG)), f"{name} is not")


@pytest.mark.parametrize("kind", ["Parquet", "Arrow", "Arrow stream"])
def test_damaged_columns(tmp_path: Path, kind: str) -> None:
    data = WRITERS[kind](ROWS)
    refusal(lambda: read(file(tmp_path, "a.parquet", data[:40])), "a.parquet is damaged")
    refusal(lambda: read(stream(b"FEA1....")), "Feather")


@pytest.mark.parametrize("text", ["[1, 2]", "[]", '{"a": ', "[" * 100_000, '[{"a": 1}, 3]', "{}"])
def test_json_of_another_shape(text: str) -> None:
    refusal(lambda: read(stream(text)))


def test_json_lines_name_the_line(tmp_path: Path) -> None:
    lines = WRITERS["JSONL"](ROWS)
    refusal(lambda: read(file(tmp_path, "a.jsonl", lines + b"\n{oops\n")), "a.jsonl, line 4")
    many = lines + b"\n" + lines * 0 + b"\n".join([lines] * 20_000) + b"\n[1]\n"
    refusal(lambda: read(file(tmp_path, "b.jsonl", many)), "b.jsonl, line 60,004")


def test_a_format_that_does_not_fit() -> None:
    for name in ("label-studio", "argilla"):
        refusal(lambda: read(stream(LONG), format=name))  # noqa: B023
    for name in ("toloka", "mturk", "prodigy", "doccano"):
        refusal(lambda: read(stream(LONG), format=name), "no column")  # noqa: B023
    refusal(lambda: read(stream(LONG), format="xml"), "'xml'", "'toloka'", kind=BadParameter)


# Columns


def test_no_such_column() -> None:
    refusal(lambda: read(stream(LONG), label="lable"), "'lable'", "did you mean 'label'?")
    refusal(lambda: read(stream(LONG), item="zzz"), "there are 'item', 'annotator', 'label'")
    refusal(lambda: read(stream("ann,bob\nx,y\n"), item="zzz"), "'zzz'")
    refusal(lambda: read(stream(LONG), question="colour"), "'question'")
    refusal(lambda: read(stream("id,label\n1,x\n2,y\n")), "annotator", "'id', 'label'", "wide")
    refusal(lambda: read(stream(LONG), item="label", label="label"), "two of")


def test_what_a_format_has_no_use_for() -> None:
    wide, long = stream("ann,bob\nx,y\n"), stream(LONG)
    refusal(lambda: read(wide, format="wide", label="ann"), "label=", kind=BadParameter)
    refusal(lambda: read(long, annotator=["annotator"]), "annotator=", kind=BadParameter)


def test_an_ambiguous_guess_lists_the_candidates() -> None:
    text = "id,model,judge,verdict\ni,m,j,x\ni,m,k,x\n"
    refusal(lambda: read(stream(text)), "annotator", "'model', 'judge'", "annotator='model'")
    assert read(stream(text), annotator="judge").responses.n_annotators == 2
    both = "item,annotator,answer,vote\ni,a,x,y\ni,b,x,y\n"
    refusal(lambda: read(stream(both)), "label", "'answer', 'vote'")


def test_columns_of_the_same_name() -> None:
    refusal(lambda: read(stream("item,bob,bob\n1,x,y\n")), "'bob'", "Rename")


def test_files_of_different_columns(tmp_path: Path) -> None:
    paths = [file(tmp_path, "a.csv", LONG), file(tmp_path, "b.csv", "task,worker,answer\n1,a,x\n")]
    refusal(lambda: read(paths), "b.csv has no column 'item', 'annotator', 'label'")


def test_a_million_columns() -> None:
    header = ",".join(f"c{n}" for n in range(1_000_000))
    refusal(lambda: read(stream(header + "\n" + "x," * 999_999 + "x\n")), "20,000 columns")
    refusal(lambda: read(stream("," * 1_000_000)), "20,000 columns")
    record = json.dumps({f"c{n}": n for n in range(30_000)})
    refusal(lambda: read(stream(record)), "20,000 columns")


def test_too_many_classes_suggests_the_right_column() -> None:
    rows = (f"i{n % 500},w{n % 7},free text {n},{n % 3}\n" for n in range(100_000))
    text = "item,annotator,label,mark\n" + "".join(rows)
    refusal(lambda: read(stream(text)), "'label' holds 100,000", "1,000 classes", "label='mark'")
    assert read(stream(text), label="mark").responses.n_classes == 3


def test_texts_in_a_wide_table_suggest_the_annotators() -> None:
    rows = (f"{n},{'long ' * 50}{n},x,{n % 3}\n" for n in range(2000))
    text = "id,remark,ann,bob\n" + "".join(rows)
    refusal(lambda: read(stream(text)), "2,004 different", "annotator=", "'ann', 'bob'")
    assert read(stream(text), format="wide", annotator=["ann", "bob"]).responses.n_classes == 4
    assert read(stream(text), format="wide", annotator="bob").responses.items[0] == "0"


def test_labels_outside_the_given_classes() -> None:
    refusal(lambda: read(stream(LONG), classes=["x"]), "'1e5'", "row 1", kind=BadLabels)


@pytest.mark.parametrize("role", ["item", "annotator"])
def test_a_label_without_a_name(role: str) -> None:
    row = {"item": "j", "annotator": "a", "label": "x", role: ""}
    text = LONG + ",".join(row.values()) + "\n"
    refusal(lambda: read(stream(text)), f"row 4 has a label but no {role}")


def test_repeats_can_be_refused() -> None:
    refusal(lambda: read(stream(LONG + "007,ann,x\n"), repeats="error"), "'007'", kind=BadLabels)


# Bytes


def test_truncated_and_damaged_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(LONG.encode() * 1000)
    refusal(lambda: read(file(tmp_path, "a.csv.gz", packed[:-20])), "a.csv.gz ends in the middle")
    damaged = packed[:30] + b"\x00\xff\x00" + packed[33:]
    refusal(lambda: read(file(tmp_path, "a.csv.gz", damaged)), "a.csv.gz is damaged gzip")


@pytest.mark.parametrize("early", [True, False])
def test_invalid_text_names_the_byte(tmp_path: Path, early: bool) -> None:
    before = LONG.encode() + b"" if early else LONG.encode() + b"9,ann,x\n" * 200_000
    place, line = len(before) + 2, before.count(b"\n") + 1
    path = file(tmp_path, "a.csv", before + b"7,\xe9va,x\n")
    refusal(lambda: read(path), "byte 0xe9", f"position {place:,}", f"line {line:,}", "UTF-8")
    lines = WRITERS["JSONL"](ROWS) + b'\n{"item": "\xe9"}\n'
    refusal(lambda: read(file(tmp_path, "a.jsonl", lines)), "0xe9", "line 4")
    refusal(lambda: read(stream(LONG.encode("utf-16"))), "UTF-16")


def test_rows_with_too_many_cells_and_open_quotes(tmp_path: Path) -> None:
    refusal(lambda: read(file(tmp_path, "a.csv", LONG + "1,2,3,4\n")), "a.csv, line 5", "4 cells")
    refusal(lambda: read(file(tmp_path, "a.csv", LONG + '1,"2,3\n')), "a.csv, line", "quotes")


def test_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROOMY", 1 << 20)
    zeros = b"0" * (1 << 24)
    refusal(lambda: read(stream(gzip.compress(zeros))), "200 times its size")
    refusal(lambda: read(stream(as_archive({"a.csv": zeros}))), "200 times its size")
    parts = {f"{n}.csv": b"0" * (1 << 19) for n in range(40)}
    refusal(lambda: read(stream(as_archive(parts))), "200 times its size")


@pytest.mark.parametrize("name", ["../a.csv", "/etc/a.csv", "x/../../a.csv", "..\\a.csv"])
def test_paths_outside_of_an_archive(name: str) -> None:
    refusal(lambda: read(stream(as_archive({name: LONG.encode()}))), "outside")


def test_archives_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = as_archive({"a.csv": LONG.encode() * 100})
    refusal(lambda: read(file(tmp_path, "a.zip", packed[:-30])), "damaged zip")
    refusal(lambda: read(stream(as_archive({"a.md": b"x"}))), "holds no file")
    locked = bytearray(packed)
    locked[6] |= 1
    locked[packed.index(b"PK\x01\x02") + 8] |= 1
    refusal(lambda: read(stream(bytes(locked))), "cannot be unpacked")
    monkeypatch.setattr(sources, "MOST_MEMBERS", 2)
    refusal(lambda: read(stream(as_archive({f"{n}.csv": b"x" for n in range(3)}))), "3 files")


def test_lists_in_a_typed_file_are_no_labels() -> None:
    data = io.BytesIO()
    frame = pl.DataFrame({"item": [1], "annotator": ["a"], "label": [["x"]]})
    frame.write_parquet(data)
    refusal(lambda: read(io.BytesIO(data.getvalue())), "label")
