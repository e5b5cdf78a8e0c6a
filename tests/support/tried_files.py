"""Files as people have them: what is read, what is refused, and what the notes say.

Every file holds the same responses of three annotators to forty items, in the way of some program.
tests/readers/test_tried_files.py reads them whole and in partitions, and ``python -m
tests.support.tried_files`` writes what came out into docs/formats.md.
"""

import bz2
import gzip
import io
import json
import lzma
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from blindfuse import BlindfuseError, read
from tests.support.reader_files import as_archive, as_json_lines, as_table
from tests.support.set_files import FILES as SET_FILES

Cells = Mapping[tuple[str, str], str]
"""The responses, ``{(item, annotator): label}``."""

N_ITEMS = 40
ITEMS = [f"q{n:02d}" for n in range(N_ITEMS)]
ROWS = [str(n) for n in range(N_ITEMS)]
ANNOTATORS = ["ann", "bob", "eve"]
CLASSES = ["cat", "cow", "dog"]
PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
BEGIN, END = "<!-- tried files: begin -->\n", "<!-- tried files: end -->\n"


def _simulate() -> dict[tuple[str, str], str]:
    rng = np.random.default_rng(16)
    truth = rng.integers(1, 4, N_ITEMS)
    cells: dict[tuple[str, str], str] = {}
    for annotator in ANNOTATORS:
        wrong, missing = rng.random(N_ITEMS) < 0.25, rng.random(N_ITEMS) < 0.2
        labels = np.where(wrong, rng.integers(1, 4, N_ITEMS), truth)
        cells |= {
            (item, annotator): str(label)
            for item, label, absent in zip(ITEMS, labels.tolist(), missing, strict=True)
            if not absent
        }
    return cells


NUMBERS: Cells = _simulate()
LABELS: Cells = {cell: CLASSES[int(label) - 1] for cell, label in NUMBERS.items()}
TRUTH = [CLASSES[n % 3] for n in range(N_ITEMS)]


@dataclass(frozen=True)
class TriedFile:
    """A file, or several, with what is expected of it.

    Attributes
    ----------
    source
        who writes such files, and what is special about them.
    files
        contents by file name.
    cells
        the responses that are expected; None if the file is to be refused.
    words
        texts that the notes, or the error message, must contain.
    options
        options of ``blindfuse.read``.
    """

    source: str
    files: Mapping[str, bytes]
    cells: Cells | None = field(default_factory=lambda: LABELS)
    words: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> list[Path]:
        """Write the files and return their paths."""
        paths = [folder / name for name in self.files]
        for path, content in zip(paths, self.files.values(), strict=True):
            path.write_bytes(content)
        return paths


def contents(name: str, value: Any) -> bytes:
    """Return bytes as they are, and a value as a file of this name would hold it.

    Responses, ``{(item, annotator): label}``, are written as a long table; texts are lines.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, pl.DataFrame):
        data = io.BytesIO()
        value.write_parquet(data)
        return data.getvalue()
    if name.endswith(".json"):
        return json.dumps(value).encode()
    rows: list[Any] = long_rows(value) if isinstance(value, Mapping) else value
    if isinstance(rows[0], str):
        return "\n".join(rows).encode()
    return as_json_lines(rows) if name.endswith(("jsonl", "ndjson")) else as_table(rows)


def tried(
    source: str,
    name: str,
    content: Any,
    words: str = "",
    cells: Cells | None = LABELS,
    **options: Any,
) -> TriedFile:
    """One file, words of its notes with … between them, and the responses that are read."""
    said = words.split(" … ") if words else []
    return TriedFile(source, {name: contents(name, content)}, cells, said, options)


def csv(source: str, content: Any, words: str = "", **expected: Any) -> TriedFile:
    return tried(source, "votes.csv", content, words, **expected)


def refused(source: str, name: str, content: Any, words: str) -> TriedFile:
    return tried(source, name, content, words, None)


def long_rows(cells: Cells = LABELS, names: str = "item annotator label") -> list[dict[str, Any]]:
    item, annotator, label = names.split()
    return [{item: i, annotator: a, label: one} for (i, a), one in cells.items()]


def wide_rows(cells: Cells = LABELS, empty: str = "") -> list[dict[str, str]]:
    return [{who: cells.get((item, who), empty) for who in ANNOTATORS} for item in ITEMS]


def wide(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    cells: Cells = LABELS,
    empty: str = "",
) -> bytes:
    """A wide CSV with these columns before and after those of the annotators."""
    columns = pd.DataFrame(wide_rows(cells, empty)).to_dict("list")
    return str(pd.DataFrame({**before, **columns, **after}).to_csv(index=False)).encode()


def changed(cells: Cells, change: Callable[[int, str], str]) -> dict[tuple[str, str], str]:
    """The cells with labels changed by position and value."""
    return {cell: change(n, label) for n, (cell, label) in enumerate(cells.items())}


def kept(cells: Cells, keep: Callable[[int], bool]) -> dict[tuple[str, str], str]:
    """The cells at some positions."""
    return {cell: label for n, (cell, label) in enumerate(cells.items()) if keep(n)}


def by_place(cells: Cells) -> dict[tuple[str, str], str]:
    """Items and annotators by their row and column."""
    return {
        (str(ITEMS.index(item)), str(ANNOTATORS.index(who))): label
        for (item, who), label in cells.items()
    }


def renamed(cells: Cells, names: Sequence[str]) -> dict[tuple[str, str], str]:
    return {(names[ITEMS.index(item)], who): label for (item, who), label in cells.items()}


def lines(rows: list[dict[str, Any]], separator: str = ",") -> list[str]:
    return as_table(rows, separator).decode().splitlines()


LONG = as_table(long_rows())
FRAME = pd.DataFrame(long_rows())
WIDE = pd.DataFrame(wide_rows(), index=ITEMS)
BY_ITEM = {
    item: {who: LABELS[item, who] for who in ANNOTATORS if (item, who) in LABELS} for item in ITEMS
}
"""``{item: {annotator: label}}``."""


def values() -> Iterator[TriedFile]:
    """Numbers, missing labels, repeated rows, and labels as language models write them."""
    as_number = "read as numbers, so that 1.0 and 1 are one class"
    floats = pd.DataFrame(wide_rows(NUMBERS), index=ITEMS).replace("", np.nan).astype(float)
    text = floats.to_csv(index_label="item").encode()
    yield csv("pandas: wide CSV of integers with missing cells", text, as_number, cells=NUMBERS)
    halves = [long_rows(NUMBERS)[:46], long_rows(changed(NUMBERS, lambda n, x: f"{x}.0"))[46:]]
    files = {f"{n}.csv": as_table(rows) for n, rows in enumerate(halves)}
    about = "pandas: shards, one with integers and one with floats"
    yield TriedFile(about, files, NUMBERS, [as_number])
    matrix = [
        " ".join(f"{float(x):.18e}" for x in row.values()) for row in wide_rows(NUMBERS, "-1")
    ]
    note, places = "labels treated as missing: '-1' … --classes", by_place(NUMBERS)
    about = "NumPy: savetxt of a matrix, −1 for missing"
    yield tried(about, "votes.txt", matrix, note, places)

    def with_missing(marker: str) -> Cells:
        return {
            (item, who): LABELS.get((item, who), marker) for item in ITEMS for who in ANNOTATORS
        }

    markers = {"R": "NA", "Excel": "#N/A", "Python": "None", "MySQL": "\\N", "pandas": "nan"}
    for program, marker in markers.items():
        note = f"labels treated as missing: {marker!r} … --keep-na"
        yield csv(f"{program}: missing labels written as {marker}", with_missing(marker), note)
    countries = changed(LABELS, lambda _, label: label.replace("cow", "NA"))
    yield csv("NA is a class", countries, cells=countries, keep_na=True)
    asked = with_missing("?")
    note = "read as classes: '?' … --missing ?"
    yield csv("a person: missing labels written as ?", asked, note, cells=asked)
    yield csv("the same, with --missing ?", asked, missing="?")
    cased = changed(LABELS, lambda n, label: label.title() if n % 5 == 0 else label)
    about, note = "labels that differ by case, with --fold-case", "most frequent spelling"
    yield csv(about, cased, note, fold_case=True)

    rows, other = long_rows(), {"cat": "cow", "cow": "dog", "dog": "cat"}
    mistakes = [{**row, "label": other[row["label"]]} for row in rows[:9]]
    again, note = rows[5:15], "repeated responses: one per item and annotator counts"
    yield csv("long CSV with repeated rows", [*rows, *again, *mistakes[5:], *again], note)
    about = "long CSV in which annotators contradict themselves"
    note = "9 contradictory responses treated as missing … --repeats"
    yield csv(about, rows + mistakes, note, cells=kept(LABELS, lambda n: n > 8))

    for source, verdicts, note, cells in judged():
        table = long_rows(verdicts, "id judge verdict")
        yield tried(f"judges: {source}", "judges.jsonl", table, note, cells)
    table = long_rows(changed(LABELS, marked), "id judge verdict")
    options: dict[str, Any] = {"fold_case": True, "classes": CLASSES}
    about = "judges: **cat**, cat. and `cat`, with --fold-case"
    yield tried(about, "judges.jsonl", table, "most frequent spelling", **options)
    table = long_rows(names="id judge verdict")
    failed = [*table, *[{"id": "q00", "judge": "joe", "verdict": "ERROR"}] * 3]
    note = "3 labels treated as missing: 'ERROR' … --keep-na"
    yield tried("judges: JSON lines with failed verdicts", "votes.jsonl", failed, note)
    scored = [{**row, "verdict": {"label": row["verdict"], "score": 0.5}} for row in table]
    note, about = "their field 'label' is read", "judges: verdicts that are objects with a label"
    yield tried(about, "votes.jsonl", scored, note)
    graded = [{**row, "verdict": {"grade_a": row["verdict"], "grade_b": "x"}} for row in table]
    note = "'grade_a', 'grade_b' … label='verdict.grade_a'"
    yield refused("judges: objects with several grades", "judges.jsonl", graded, note)
    about = "the same, with --label verdict.grade_a"
    yield tried(about, "votes.jsonl", graded, label="verdict.grade_a")
    listed = [{**row, "label": [row["label"], "more"][: 1 + n % 2]} for n, row in enumerate(rows)]
    note = "with several labels: only the first is used"
    yield tried("labels that are lists", "votes.jsonl", listed, note)


def marked(n: int, label: str) -> str:
    """A label with what language models write around it."""
    return ["{}", "**{}**", "{}.", "`{}`"][n % 4].format(label)


def judged() -> Iterator[tuple[str, Cells, str, Cells]]:
    """Verdicts of language models: who writes so, the verdicts, a note, and what is read."""
    spelled = changed(LABELS, marked)
    yield "verdicts such as **cat**, cat. and `cat`", spelled, "punctuation … --fold-case", spelled
    fences = ["```json\n{}\n```", "{}"]
    fenced = changed(LABELS, lambda n, x: fences[n % 2].format(json.dumps({"verdict": x})))
    note = "Markdown fence … their field 'verdict' is read"
    yield "JSON objects in Markdown fences", fenced, note, LABELS
    thinking = changed(LABELS, lambda n, label: f"<think>Case {n}</think>\n{label}")
    note = "92 labels read without the reasoning before them"
    yield "reasoning in <think> before the verdict", thinking, note, LABELS
    cut = changed(LABELS, lambda n, x: json.dumps({"label": x})[: None if n % 9 else -2])
    note = "11 labels treated as missing, because their JSON is damaged"
    yield "JSON objects, some of them cut off", cut, note, kept(LABELS, lambda n: n % 9 > 0)
    printed = changed(LABELS, lambda n, label: str({"label": label, "reason": f"case {n}"}))
    yield "objects as Python prints them", printed, "their field 'label' is read", LABELS
    refusals = changed(LABELS, lambda n, label: label if n % 9 else "I cannot judge this")
    note = "read as classes: 'I cannot judge this' … --missing 'I cannot judge this'"
    yield "refusals", refusals, note, refusals


NOT_ANNOTATORS: dict[str, list[Any]] = {
    "split": ["train", "test"] * (N_ITEMS // 2),
    "length": [17 + n for n in range(N_ITEMS)],
    "n_words": [n % 9 for n in range(N_ITEMS)],
    "date": [f"2024-01-{1 + n % 28:02d}" for n in range(N_ITEMS)],
    "agg_label": TRUTH,
    "mean": [1 + n % 3 for n in range(N_ITEMS)],
    "comments": ["", "unclear"] * (N_ITEMS // 2),
    "final_label": TRUTH,
    "label_final": TRUTH,
    "ann_conf": [1 + n % 3 for n in range(N_ITEMS)],
    "n_votes": [3] * N_ITEMS,
    "Unnamed: 5": list(range(N_ITEMS)),
    "origin": ["web", "app"] * (N_ITEMS // 2),
}
"""Columns of a wide table that are not annotators."""
FIRST_COLUMNS = {
    "": [f"id{n}" for n in range(N_ITEMS)],
    "tweet": [f"This is tweet number {n}" for n in range(N_ITEMS)],
    "image_path": [f"img/{n}.png" for n in range(N_ITEMS)],
    "Unnamed: 0": ROWS,
}
"""First columns of a wide table that hold the items."""
LONG_NAMES = {
    "crowd-kit: task, worker, label": "task worker label",
    "database: hitid, workerid, answer": "hitid workerid answer",
    "Chatbot Arena: a column winner": "question_id judge winner",
}
"""Names of the columns of long tables."""


def tables() -> Iterator[TriedFile]:
    """Columns of long and wide tables: which hold what, and what stands around them."""
    for source, names in LONG_NAMES.items():
        yield csv(source, long_rows(names=names))
    about = "long CSV whose label column is named for what was asked"
    yield csv(about, long_rows(names="tweet_id user sentiment"), "label = 'sentiment' (detected)")
    tasks = [{"task": "animals", **row} for row in long_rows(names="id model label")]
    yield csv("LLM: a column task that names the task, and a column id", tasks, "item = 'id'")
    rows = [{**row, "truth": TRUTH[ITEMS.index(row["item"])]} for row in long_rows()]
    yield csv("long CSV with a column truth", rows, "gold labels found in 'truth'")
    for name in ("truth", "gold_standard", "y_true", "Correct Answer", "goldlabel"):
        content = wide({"item": ITEMS}, {name: TRUTH})
        yield csv(f"wide CSV with a column {name}", content, f"gold labels found in {name!r}")
    found = "3 annotator columns: 'ann', 'bob', 'eve'"
    for name, column in NOT_ANNOTATORS.items():
        cells = NUMBERS if isinstance(column[0], int) else LABELS
        note = f"not read as annotators … {found} … {name!r}"
        content = wide({"item": ITEMS}, {name: column}, cells)
        yield csv(f"wide CSV with a column {name}", content, note, cells=cells)
    for name, column in FIRST_COLUMNS.items():
        about = f"wide CSV whose first column is {name or 'unnamed'}"
        yield csv(about, wide({name: column}, {}), found, cells=renamed(LABELS, column))
    numbered = pd.DataFrame([list(row.values()) for row in wide_rows()]).to_csv().encode()
    yield csv("pandas: wide CSV whose columns are numbered", numbered, cells=by_place(LABELS))
    content, cells = wide({}, {}, NUMBERS, "-1"), renamed(NUMBERS, ROWS)
    about = "Snorkel: labelling functions, −1 abstains"
    yield csv(about, content, "treated as missing: '-1'", cells=cells)
    about = "pandas: wide Parquet with an index that has no name"
    yield tried(about, "wide.parquet", WIDE.to_parquet())
    apart = [{"a": f"x{n % 4}", "b": f"y{n % 3}"} for n in range(N_ITEMS)]
    note = "no two of the columns 'a', 'b' share labels"
    yield refused("wide CSV in which no columns share labels", "wide.csv", apart, note)
    form = WIDE.T.set_axis([f"Image {item}" for item in ITEMS], axis=1)
    cells = {(who, f"Image {item}"): label for (item, who), label in LABELS.items()}
    about = "Google Forms: one row per annotator, one column per item"
    note = "40 columns for 3 rows … transpose the table"
    yield csv(about, form.to_csv(index_label="Email Address").encode(), note, cells=cells)

    asked = [{**row, "question": "colour"} for row in long_rows()]
    asked += [{**row, "question": "size", "label": "big"} for row in long_rows()]
    note = "several questions: 'colour', 'size' … question="
    yield refused("long CSV with two questions", "votes.csv", asked, note)
    yield csv("the same, with --question colour", asked, question="colour")
    bare, columns = lines(long_rows())[1:], {"item": "0", "annotator": "1", "label": "2"}
    note = "together name each row … item='0', annotator='1', label='2'"
    yield refused("long CSV without a header", "votes.csv", bare, note)
    about = "the same, with --item 0 --annotator 1 --label 2"
    yield csv(about, bare, "no header found", **columns)
    bare, cells = lines(wide_rows())[1:], by_place(LABELS)
    yield csv("MACE: wide CSV without a header", bare, "no header found", cells=cells)

    one_hot = [
        {"item": i, "annotator": a, **{k: int(k == label) for k in CLASSES}}
        for (i, a), label in LABELS.items()
    ]
    yield csv("one column of 0 and 1 per class", one_hot)
    counts = FRAME.value_counts(["item", "label"], sort=False).reset_index()
    about, note = "pandas: value_counts, one row per item and class", "looks like the annotator"
    content = counts.to_csv(index=False).encode()
    yield refused(about, "votes.csv", content, f"{note} … write one row per response")
    votes = counts.pivot(index="item", columns="label", values="count").fillna(0).astype(int)
    about = "wide CSV with numbers of votes named n_cat, n_cow, n_dog"
    note = "no column with labels … one column per annotator"
    yield refused(about, "wide.csv", votes.add_prefix("n_").to_csv().encode(), note)
    battles = [
        {"model_a": f"m{n % 3}", "model_b": f"m{(n + 1) % 3}", "winner": "tie", "judge": n}
        for n in range(N_ITEMS)
    ]
    note = "these are comparisons of two items per row"
    yield refused("Chatbot Arena: battles of two models", "votes.csv", battles, note)


def rows() -> Iterator[TriedFile]:
    """Lines as spreadsheets, people and models write them."""
    long, wide_lines = lines(long_rows()), wide({"item": ITEMS}, {}).decode().splitlines()
    joined = LONG + LONG[: LONG.index(b"\n") + 1] * 2
    yield csv("CSV files that were joined with their headers", joined, "2 repeated header rows")
    about = "CSV files that were joined, with headers in another case"
    cased = [*long[:46], "Item,ANNOTATOR, label", *long[46:]]
    yield csv(about, cased, "1 repeated header row skipped")
    about = "JSON lines in which every other object has Item, Annotator, Label"
    titled = [
        {key.title() if n % 2 else key: value for key, value in row.items()}
        for n, row in enumerate(long_rows())
    ]
    note = "46 objects without 'item', 'annotator', 'label' skipped"
    yield tried(about, "votes.jsonl", titled, note, kept(LABELS, lambda n: n % 2 == 0))
    about = "long CSV with the responses of two runs, without a column that says which"
    runs = [*long_rows(), *long_rows(dict.fromkeys(LABELS, "cat"))]
    cells = {cell: label for cell, label in LABELS.items() if label == "cat"}
    note = "contradictory responses treated as missing … --item"
    yield csv(about, runs, note, cells=cells)
    yield csv("Excel: empty columns after the table", [f"{line},,," for line in long])
    about = "wide CSV whose rows, but not the header, end in a comma"
    yield csv(about, [wide_lines[0], *(f"{row}," for row in wide_lines[1:])])
    quoted = [", ".join(f'"{cell}"' for cell in line.split(",")) for line in long]
    yield csv("LLM: CSV with spaces before quotes", quoted)
    named = [f'"{n}" {line.replace(",", " ")}' for n, line in enumerate(long[1:], 1)]
    about = "R: write.table, with row names that the header does not name"
    yield tried(about, "votes.txt", ["item annotator label", *named])
    yield refused("text with one column", "votes.txt", ["cat", "dog", "cow"] * 5, "only one column")
    about, note = "Excel: CSV that begins with sep=;", "sep= … lines above the header"
    yield refused(about, "votes.csv", ["sep=;", *lines(long_rows(), ";")], note)
    markdown = [f"| {line.replace(',', ' | ')} |" for line in long]
    content = [markdown[0], "|---|---|---|", *markdown[1:]]
    yield refused("LLM: a Markdown table", "votes.md", content, "is not a table of responses")


def as_tar(content: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        member = tarfile.TarInfo("votes.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def files() -> Iterator[TriedFile]:
    """Encodings, separators, archives, and shapes of JSON."""
    tabs, bom = as_table(long_rows(), "\t"), "byte-order mark"
    utf16 = tabs.decode().encode("utf-16")
    yield tried(f"Excel: Unicode text (UTF-16 with a {bom})", "votes.txt", utf16)
    yield csv(f"Excel: CSV UTF-8 with a {bom}", b"\xef\xbb\xbf" + LONG)
    names = {"semicolons": ";", "tabs": "\t", "vertical bars": "|", "spaces": " "}
    for name, separator in names.items():
        content = as_table(long_rows(), separator)
        yield tried(f"separated by {name}", "votes.txt", content)
    yield tried("gzip", "votes.csv.gz", gzip.compress(LONG))
    yield tried("bzip2", "votes.csv.bz2", bz2.compress(LONG))
    yield tried("xz", "votes.csv.xz", lzma.compress(LONG))
    yield tried("zip", "votes.zip", as_archive({"votes.csv": LONG}))
    yield tried("tar", "votes.tar", as_tar(LONG))
    for orient in ("columns", "records", "split"):
        about = f"pandas: to_json(orient={orient!r})"
        yield tried(about, "votes.json", FRAME.to_json(orient=orient).encode())
    for shape, document in json_shapes().items():
        yield tried(f"JSON: {shape}", "votes.json", document)
    reasons = {
        item: {who: {"verdict": label, "reason": item} for who, label in one.items()}
        for item, one in BY_ITEM.items()
        if len(one) > 1
    }
    document = [{"id": item, **one} for item, one in reasons.items()]
    cells = {cell: label for cell, label in LABELS.items() if cell[0] in reasons}
    about = "JSON: {id, judge: {verdict, reason}, …}"
    yield tried(about, "votes.json", document, cells=cells)
    lists = [
        {"id": item, "annotators": list(one), "labels": list(one.values())}
        for item, one in BY_ITEM.items()
    ]
    yield tried("JSON: {id, annotators: […], labels: […]}", "votes.json", lists)
    about = "Hugging Face: Parquet with lists of annotators and labels"
    yield tried(about, "votes.parquet", pl.DataFrame(lists))
    absent = {"item": "q00", "annotator": "joe", "label": float("nan")}
    note = "1 label treated as missing: 'NaN'"
    yield tried("Python: JSON lines with NaN", "votes.jsonl", [*long_rows(), absent], note)
    scores = [
        {"id": item, "scores": {who: verdict(label, item) for who, label in one.items()}}
        for item, one in BY_ITEM.items()
    ]
    about = "Inspect: scores with a value, an answer and an explanation"
    yield tried(about, "votes.json", {"samples": scores}, "their field 'value' is read")
    projects = [
        {
            "data_row": {"id": item, "text": item},
            "projects": {"p1": {"name": "animals", "labels": listed(one)}},
        }
        for item, one in BY_ITEM.items()
    ]
    note = "holds nested values … one row per response"
    yield refused("Labelbox: labels by project", "export.ndjson", projects, note)


def verdict(label: str, item: str) -> dict[str, str]:
    return {"value": label, "answer": "42", "explanation": item}


def listed(one: Mapping[str, str]) -> list[dict[str, str]]:
    """The responses to an item as a list of objects."""
    return [{"annotator": who, "label": label} for who, label in one.items()]


def json_shapes() -> dict[str, Any]:
    """The responses as objects and lists, by item, by annotator or one by one."""
    lists = {item: listed(one) for item, one in BY_ITEM.items()}
    reasons = {
        item: {who: {"verdict": label, "reason": item} for who, label in one.items()}
        for item, one in BY_ITEM.items()
    }
    by_annotator: dict[str, list[dict[str, str]]] = {who: [] for who in ANNOTATORS}
    for (item, who), label in LABELS.items():
        by_annotator[who].append({"item": item, "label": label})
    return {
        "[{item, annotator, label}]": long_rows(),
        "{model, results: [{item, annotator, label}]}": {"model": "x", "results": long_rows()},
        "{run: {results: [{item, annotator, label}]}}": {"run": {"results": long_rows()}},
        "{item: […], annotator: […], label: […]}": FRAME.to_dict("list"),
        "{item: {annotator: label}}": BY_ITEM,
        "{item: [{annotator, label}]}": lists,
        "{annotator: [{item, label}]}": by_annotator,
        **{
            f"{{id, {name}: [{{annotator, label}}]}}": [
                {"id": item, name: one} for item, one in lists.items()
            ]
            for name in ("votes", "evaluations")
        },
        "{id, judges: {judge: {verdict, reason}}}": [
            {"id": item, "judges": one} for item, one in reasons.items()
        ],
    }


GROUPS: dict[str, list[TriedFile]] = {
    "Values": list(values()),
    "Tables": list(tables()),
    "Rows": list(rows()),
    "File types": list(files()),
}
TRIED_FILES = [tried for group in GROUPS.values() for tried in group]


# The table in docs/formats.md


def page_table() -> str:
    """Return what came out of every file, as tables in Markdown."""
    outcomes = {
        name: [(each.source, _outcome(each)) for each in group] for name, group in GROUPS.items()
    }
    sets = 'Several labels per item, with `kind="sets"`'
    outcomes[sets] = [
        (name, _outcome(TriedFile(name, dict([file]), words=[""], options={"kind": "sets"})))
        for name, file in SET_FILES.items()
    ]
    parts = []
    for name, group in outcomes.items():
        cells = "".join(f"| {_cell(source)} | {_cell(said)} |\n" for source, said in group)
        parts.append(f"#### {name}\n\n| file | what happens |\n|---|---|\n{cells}")
    return "\n".join(parts)


def _outcome(tried: TriedFile) -> str:
    with tempfile.TemporaryDirectory() as folder:
        paths = tried.write(Path(folder))
        try:
            found: Any = read(paths, **tried.options)
        except BlindfuseError as error:
            return "**Refused.** " + str(error).replace(f"{folder}/", "")
    notes = [note for note in found.notes[1:] if any(word in note for word in tried.words)]
    return f"Read as {found.format}." + (f" Noted: {'; '.join(notes)}." if notes else "")


def _cell(sentence: str) -> str:
    """Escape what Markdown would interpret."""
    return re.sub(r"[|<>\[\]]", lambda match: f"&#{ord(match[0])};", sentence)


def page_with_table(page: str) -> str:
    """Return the page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{page_table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"Wrote the tables of tried files to {PAGE}\n")
