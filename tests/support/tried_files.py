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
from collections.abc import Callable, Mapping, Sequence
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
WORDS = {"1": "cat", "2": "cow", "3": "dog"}
CLASSES = list(WORDS.values())
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
LABELS: Cells = {cell: WORDS[label] for cell, label in NUMBERS.items()}
TRUTH = {item: WORDS[str(1 + n % 3)] for n, item in enumerate(ITEMS)}


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


def long_rows(cells: Cells = LABELS, names: str = "item annotator label") -> list[dict[str, Any]]:
    item, annotator, label = names.split()
    return [{item: i, annotator: a, label: one} for (i, a), one in cells.items()]


def wide_rows(cells: Cells = LABELS, empty: str = "") -> list[dict[str, str]]:
    return [{a: cells.get((item, a), empty) for a in ANNOTATORS} for item in ITEMS]


def wide(cells: Cells = LABELS, empty: str = "", **columns: Any) -> bytes:
    """A wide CSV; the given columns come first, or last if their name begins with "after_"."""
    rows = []
    for n, row in enumerate(wide_rows(cells, empty)):
        before = {k: v[n] for k, v in columns.items() if not k.startswith("after_")}
        after = {
            k.removeprefix("after_"): v[n] for k, v in columns.items() if k.startswith("after_")
        }
        rows.append({**before, **row, **after})
    return as_table(rows)


def changed(cells: Cells, change: Callable[[int, str], str]) -> dict[tuple[str, str], str]:
    """The cells with labels changed by position and value."""
    return {cell: change(n, label) for n, (cell, label) in enumerate(cells.items())}


def with_missing(marker: str) -> list[dict[str, Any]]:
    """A long table in which the missing responses are rows with a marker."""
    rows = {(i, a): LABELS.get((i, a), marker) for i in ITEMS for a in ANNOTATORS}
    return long_rows(rows)


def parquet(frame: pl.DataFrame) -> bytes:
    data = io.BytesIO()
    frame.write_parquet(data)
    return data.getvalue()


def text(rows: list[dict[str, Any]], separator: str = ",", header: bool = True) -> bytes:
    data = as_table(rows, separator).replace(b"\r\n", b"\n")
    return data if header else data.partition(b"\n")[2]


def contents(name: str, value: Any) -> bytes:
    """Return bytes as they are, and a value as a file of this name would hold it.

    Responses, ``{(item, annotator): label}``, are written as a long table; texts are lines.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, pl.DataFrame):
        return parquet(value)
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
    *words: str,
    cells: Cells | None = LABELS,
    **options: Any,
) -> TriedFile:
    """One file, words of its notes with … between them, and the responses that are read."""
    parts = [part for text in words for part in text.split(" … ")]
    return TriedFile(source, {name: contents(name, content)}, cells, parts, options)


def csv(source: str, content: Any, *words: str, **expected: Any) -> TriedFile:
    return tried(source, "votes.csv", content, *words, **expected)


def json_lines(source: str, content: Any, *words: str, **expected: Any) -> TriedFile:
    return tried(source, "votes.jsonl", content, *words, **expected)


def json_file(source: str, content: Any, *words: str, **expected: Any) -> TriedFile:
    return tried(source, "votes.json", content, *words, **expected)


def kept(source: str, cells: Cells, *words: str, **options: Any) -> TriedFile:
    """A long CSV whose labels are read as they are."""
    return csv(source, cells, *words, cells=cells, **options)


def refused(source: str, content: Any, words: str, name: str = "votes.csv") -> TriedFile:
    """One file that is refused, and words of the message."""
    return tried(source, name, content, words, cells=None)


LONG = as_table(long_rows())
FRAME = pd.DataFrame(long_rows())
_IDS = [f"id{n}" for n in range(N_ITEMS)]
_TWEETS = [f"This is tweet number {n}" for n in range(N_ITEMS)]


def _by_item() -> dict[str, dict[str, str]]:
    """``{item: {annotator: label}}``."""
    return {
        item: {who: LABELS[item, who] for who in ANNOTATORS if (item, who) in LABELS}
        for item in ITEMS
    }


def _by_place(cells: Cells, first: int = 0) -> Cells:
    """Items and annotators by their row and column."""
    return {
        (str(ITEMS.index(item)), str(first + ANNOTATORS.index(who))): label
        for (item, who), label in cells.items()
    }


def _renamed(cells: Cells, names: Sequence[str]) -> Cells:
    return {(names[ITEMS.index(item)], who): label for (item, who), label in cells.items()}


def _numbered_wide() -> bytes:
    table = pd.DataFrame(wide_rows(NUMBERS), index=ITEMS).replace("", np.nan).astype(float)
    return str(table.to_csv(index_label="item")).encode()


def _values() -> list[TriedFile]:
    half = len(NUMBERS) // 2
    floats = changed(NUMBERS, lambda n, label: f"{label}.0")
    cased = changed(LABELS, lambda n, label: label.title() if n % 5 == 0 else label)
    countries = changed(LABELS, lambda _, label: label.replace("cow", "NA"))
    as_number = "read as numbers, so that 1.0 and 1 are one class"
    rows = long_rows(NUMBERS)
    return [
        csv(
            "pandas: wide CSV of integers with missing cells, written as floats",
            _numbered_wide(),
            as_number,
            cells=NUMBERS,
        ),
        TriedFile(
            "pandas: shards, one with integers and one with floats",
            {
                "1.csv": as_table(rows[:half]),
                "2.csv": as_table(long_rows(floats)[half:]),
            },
            NUMBERS,
            [as_number],
        ),
        *(
            csv(
                f"{program}: missing labels written as {marker}",
                with_missing(marker),
                f"labels treated as missing: {marker!r} … --keep-na",
            )
            for program, marker in (
                *(("R", "NA"), ("Excel", "#N/A"), ("Python", "None")),
                *(("MySQL", "\\N"), ("pandas", "nan")),
            )
        ),
        kept("NA is a class", countries, keep_na=True),
        csv(
            "a person: missing labels written as ?",
            with_missing("?"),
            "read as classes: '?' … --missing ?",
            cells={(i, a): LABELS.get((i, a), "?") for i in ITEMS for a in ANNOTATORS},
        ),
        csv("the same, with --missing ?", with_missing("?"), missing="?"),
        csv(
            "labels that differ by case, with --fold-case",
            cased,
            "most frequent spelling",
            fold_case=True,
        ),
        *_repeats(),
        *_judges(),
        *_spellings(),
        *_numbers_as_text(),
        *_verdicts(),
    ]


def _spellings() -> list[TriedFile]:
    """Verdicts as language models write them, and truth values of several programs."""
    marks = ["{}", "**{}**", "{}.", "`{}`"]
    marked = {cell: marks[n % 4].format(label) for n, (cell, label) in enumerate(LABELS.items())}
    fences = ["```json\n{}\n```", "{}"]
    fenced = [
        {
            **row,
            "verdict": fences[n % 2].format(json.dumps({"verdict": row["verdict"]})),
        }
        for n, row in enumerate(long_rows(names="id judge verdict"))
    ]
    return [
        csv(
            "judges: verdicts such as **cat**, cat. and `cat`",
            long_rows(marked, "id judge verdict"),
            "punctuation … --fold-case",
            cells=marked,
        ),
        csv(
            "the same, with --fold-case",
            long_rows(marked, "id judge verdict"),
            "most frequent spelling",
            fold_case=True,
            classes=CLASSES,
        ),
        json_lines(
            "judges: JSON objects in Markdown fences",
            fenced,
            "Markdown fence … their field 'verdict' is read",
        ),
    ]


def _numbers_as_text() -> list[TriedFile]:
    """Numbers, and what programs and spreadsheets make of labels."""
    matrix = "\n".join(
        " ".join(f"{float(label):.18e}" for label in row.values())
        for row in wide_rows(NUMBERS, "-1")
    )
    return [
        tried(
            "NumPy: savetxt of a matrix, −1 for missing",
            "votes.txt",
            matrix.encode(),
            "labels treated as missing: '-1' … --classes",
            cells=_by_place(NUMBERS),
        ),
    ]


def _verdicts() -> list[TriedFile]:
    """Verdicts as language models write them, with what they say around a label."""

    def judged(source: str, verdicts: Any, words: str, **expected: Any) -> TriedFile:
        cells = changed(LABELS, verdicts) if callable(verdicts) else verdicts
        rows = long_rows(cells, "id judge verdict")
        return tried(f"judges: {source}", "judges.jsonl", rows, words, **expected)

    whole = {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n % 9}
    thinking = changed(LABELS, lambda n, label: f"<think>Case {n}</think>\n{label}")
    refusals = changed(LABELS, lambda n, label: label if n % 9 else "I cannot judge this")
    return [
        judged(
            "reasoning in <think> before the verdict",
            thinking,
            "92 labels read without the reasoning before them",
        ),
        judged(
            "JSON objects, some of them cut off",
            lambda n, label: json.dumps({"label": label}) if n % 9 else f'{{"label": "{label}',
            "11 labels treated as missing, because their JSON is damaged",
            cells=whole,
        ),
        judged(
            "objects as Python prints them",
            lambda n, label: str({"label": label, "reason": f"case {n}"}),
            "their field 'label' is read",
        ),
        judged(
            "refusals",
            refusals,
            "read as classes: 'I cannot judge this' … --missing 'I cannot judge this'",
            cells=refusals,
        ),
    ]


def _repeats() -> list[TriedFile]:
    rows = long_rows()
    other = {"cat": "cow", "cow": "dog", "dog": "cat"}
    mistakes = [{**row, "label": other[row["label"]]} for row in rows[:9]]
    consistent = {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n > 8}
    return [
        csv(
            "long CSV with repeated rows",
            rows + rows[5:15] + mistakes[5:] + rows[5:15],
            "repeated responses: one per item and annotator counts",
        ),
        csv(
            "long CSV in which annotators contradict themselves",
            rows + mistakes,
            "9 contradictory responses treated as missing … --repeats",
            cells=consistent,
        ),
    ]


def _judges() -> list[TriedFile]:
    rows = long_rows(names="id judge verdict")
    failed = [{"id": "q00", "judge": "joe", "verdict": "ERROR"}] * 3
    scored = [{**row, "verdict": {"label": row["verdict"], "score": 0.5}} for row in rows]
    graded = [{**row, "verdict": {"grade_a": row["verdict"], "grade_b": "x"}} for row in rows]
    return [
        json_lines(
            "judges: JSON lines with failed verdicts",
            rows + failed,
            "3 labels treated as missing: 'ERROR' … --keep-na",
        ),
        json_lines(
            "judges: verdicts that are objects with a label",
            scored,
            "their field 'label' is read",
        ),
        refused(
            "judges: verdicts that are objects with several grades",
            graded,
            "'grade_a', 'grade_b' … label='verdict.grade_a'",
            name="judges.jsonl",
        ),
        json_lines("the same, with --label verdict.grade_a", graded, label="verdict.grade_a"),
        json_lines(
            "labels that are lists",
            [
                {**row, "label": [row["label"], "more"][: 1 + n % 2]}
                for n, row in enumerate(long_rows())
            ],
            "with several labels: only the first is used",
        ),
    ]


def _rows_between() -> list[TriedFile]:
    """Rows that are no responses, in the middle of a table, and responses that are hard to find."""
    lines = text(long_rows()).decode().splitlines()
    half = len(lines) // 2

    titled = [
        {key.title(): value for key, value in row.items()} if n % 2 else row
        for n, row in enumerate(long_rows())
    ]
    other_run = dict.fromkeys(LABELS, "cat")
    by_id = long_rows(names="id model label")
    return [
        csv(
            "CSV files that were joined, with headers in another case",
            [*lines[:half], "Item,ANNOTATOR, label", *lines[half:]],
            "1 repeated header row skipped",
        ),
        json_lines(
            "JSON lines in which every other object has Item, Annotator, Label",
            titled,
            "46 objects without 'item', 'annotator', 'label' skipped",
            cells={cell: label for n, (cell, label) in enumerate(LABELS.items()) if n % 2 == 0},
        ),
        csv(
            "long CSV with the responses of two runs, without a column that says which",
            [*long_rows(), *long_rows(other_run)],
            "contradictory responses treated as missing … --item",
            cells={cell: label for cell, label in LABELS.items() if label == "cat"},
        ),
        csv(
            "LLM: a column task that names the task, and a column id",
            [{"task": "animals", **row} for row in by_id],
            "item = 'id'",
        ),
    ]


def _tables() -> list[TriedFile]:
    dates = [f"2024-01-{1 + n % 28:02d}" for n in range(N_ITEMS)]
    splits = ["train", "test"] * (N_ITEMS // 2)
    lengths = [17 + n for n in range(N_ITEMS)]
    not_annotators = "not read as annotators … 3 annotator columns: 'ann', 'bob', 'eve'"
    return [
        csv("crowd-kit: task, worker, label", long_rows(names="task worker label")),
        csv(
            "long CSV with a column truth",
            [{**row, "truth": TRUTH[row["item"]]} for row in long_rows()],
            "gold labels found in 'truth'",
        ),
        csv(
            "wide CSV with a column truth",
            wide(id=ITEMS, truth=list(TRUTH.values())),
            "gold labels found in 'truth'",
        ),
        *(
            csv(
                f"wide CSV with a column {name}",
                wide(LABELS, "", item=ITEMS, **{f"after_{name}": [*TRUTH.values()]}),
                f"gold labels found in {name!r}",
            )
            for name in ("gold_standard", "y_true", "Correct Answer", "goldlabel")
        ),
        *(
            csv(
                f"wide CSV with a column {name}",
                wide(cells, "", item=ITEMS, **{f"after_{name}": values}),
                f"{not_annotators} … {name!r}",
                cells=cells,
            )
            for name, values, cells in (
                ("split", splits, LABELS),
                ("length", lengths, NUMBERS),
                ("n_words", [n % 9 for n in range(N_ITEMS)], NUMBERS),
                ("date", dates, LABELS),
                ("agg_label", [*TRUTH.values()], LABELS),
                ("mean", [1 + n % 3 for n in range(N_ITEMS)], NUMBERS),
                ("comments", ["", "unclear"] * (N_ITEMS // 2), LABELS),
                ("final_label", list(TRUTH.values()), LABELS),
                ("label_final", list(TRUTH.values()), LABELS),
                ("ann_conf", [1 + n % 3 for n in range(N_ITEMS)], NUMBERS),
                ("n_votes", [3] * N_ITEMS, NUMBERS),
                ("Unnamed: 5", list(range(N_ITEMS)), NUMBERS),
                ("origin", ["web", "app"] * (N_ITEMS // 2), LABELS),
            )
        ),
        *(
            csv(
                f"wide CSV whose first column is {name or 'unnamed'}",
                wide(LABELS, "", **{name: names}),
                "3 annotator columns: 'ann', 'bob', 'eve'",
                cells=_renamed(LABELS, names),
            )
            for name, names in (
                ("", _IDS),
                ("tweet", _TWEETS),
                ("image_path", [f"img/{n}.png" for n in _IDS]),
                ("Unnamed: 0", ROWS),
            )
        ),
        csv(
            "pandas: wide CSV whose columns are numbered",
            pd.DataFrame([list(r.values()) for r in wide_rows()]).to_csv().encode(),
            cells=_by_place(LABELS),
        ),
        csv(
            "Snorkel: labelling functions, −1 abstains",
            wide(NUMBERS, "-1"),
            "treated as missing: '-1'",
            cells=_renamed(NUMBERS, ROWS),
        ),
        refused(
            "wide CSV in which no columns share labels",
            [{"a": f"x{n % 4}", "b": f"y{n % 3}"} for n in range(N_ITEMS)],
            "no two of the columns 'a', 'b' share labels",
            name="wide.csv",
        ),
        csv(
            "long CSV whose label column is named for what was asked",
            long_rows(names="tweet_id user sentiment"),
            "label = 'sentiment' (detected)",
        ),
        csv(
            "database: hitid, workerid, answer",
            long_rows(names="hitid workerid answer"),
        ),
        tried(
            "pandas: wide Parquet with an index that has no name",
            "wide.parquet",
            pd.DataFrame(wide_rows(), index=ITEMS).to_parquet(),
        ),
        *_questions(),
        *_headers(),
        *_separators(),
        *_columns_of_classes(),
        *_rows_that_are_no_items(),
    ]


def _columns_of_classes() -> list[TriedFile]:
    """Tables with a column per class: counts, shares, and one 1 per response or per item."""
    votes = {item: list(labels.values()) for item, labels in _by_item().items()}
    counts = {(item, k): str(own.count(k)) for item, own in votes.items() for k in CLASSES}
    one_hot = [
        {"item": i, "annotator": a, **{k: int(k == label) for k in CLASSES}}
        for (i, a), label in LABELS.items()
    ]
    table = pd.Series(counts).unstack()
    grouped = [
        {"item": item, "label": k, "count": own.count(k)}
        for item, own in votes.items()
        for k in sorted({*own})
    ]
    return [
        refused(
            "pandas: value_counts, one row per item and class",
            grouped,
            "looks like the annotator … write one row per response",
        ),
        refused(
            "wide CSV with numbers of votes named n_cat, n_cow, n_dog",
            table.add_prefix("n_").to_csv(index_label="item").encode(),
            "no column with labels … one column per annotator",
            name="wide.csv",
        ),
        csv(
            "Chatbot Arena: a column winner",
            long_rows(names="question_id judge winner"),
        ),
        refused(
            "Chatbot Arena: battles of two models",
            [
                {"model_a": f"m{n % 3}", "model_b": f"m{(n + 1) % 3}", "winner": "tie", "judge": n}
                for n in range(N_ITEMS)
            ],
            "these are comparisons of two items per row",
        ),
        csv("one column of 0 and 1 per class", one_hot),
    ]


def _rows_that_are_no_items() -> list[TriedFile]:
    """Totals, comments and footers below a table, and tables that are drawn or turned."""
    turned = {(who, f"Image {i}"): one for (i, who), one in LABELS.items()}
    form = [
        {"Email Address": a, **{f"Image {i}": LABELS.get((i, a), "") for i in ITEMS}}
        for a in ANNOTATORS
    ]
    return [
        csv(
            "Google Forms: one row per annotator, one column per item",
            form,
            "40 columns for 3 rows … transpose the table",
            cells=turned,
        ),
    ]


def _separators() -> list[TriedFile]:
    """Commas, quotes and lines around a table, as spreadsheets and people write them."""
    lines = text(long_rows()).decode().splitlines()
    rows = wide(item=ITEMS).decode().splitlines()
    quoted = [", ".join(f'"{cell}"' for cell in line.split(",")) for line in lines]
    return [
        csv("Excel: empty columns after the table", [f"{line},,," for line in lines]),
        csv(
            "wide CSV whose rows, but not the header, end in a comma",
            [rows[0], *(f"{row}," for row in rows[1:])],
        ),
        csv("LLM: CSV with spaces before quotes", quoted),
    ]


def _questions() -> list[TriedFile]:
    colours = [{**row, "question": "colour"} for row in long_rows()]
    sizes = [{**row, "question": "size", "label": "big"} for row in long_rows()]
    return [
        refused(
            "long CSV with two questions",
            colours + sizes,
            "several questions: 'colour', 'size' … question=",
        ),
        csv("the same, with --question colour", colours + sizes, question="colour"),
    ]


def _headers() -> list[TriedFile]:
    return [
        refused(
            "long CSV without a header",
            text(long_rows(), header=False),
            "together name each row … item='0', annotator='1', label='2'",
        ),
        csv(
            "the same, with --item 0 --annotator 1 --label 2",
            text(long_rows(), header=False),
            "no header found",
            item="0",
            annotator="1",
            label="2",
        ),
        csv(
            "MACE: wide CSV without a header",
            text(wide_rows(), header=False),
            "no header found",
            cells=_by_place(LABELS),
        ),
        csv(
            "CSV files that were joined with their headers",
            LONG + LONG[: LONG.index(b"\n") + 1] * 2,
            "2 repeated header rows skipped",
        ),
        tried(
            "R: write.table, with row names that the header does not name",
            "votes.txt",
            b"item annotator label\n"
            + b"".join(
                f'"{n}" {" ".join(row.values())}\n'.encode() for n, row in enumerate(long_rows(), 1)
            ),
        ),
        refused(
            "text with one column",
            b"cat\ndog\ncat\ncow\n" * 5,
            "only one column",
            name="votes.txt",
        ),
        refused(
            "Excel: CSV that begins with sep=;",
            b"sep=;\r\n" + as_table(long_rows(), ";"),
            "sep= … lines above the header",
        ),
    ]


def _files() -> list[TriedFile]:
    records = long_rows()
    columns = {name: [row[name] for row in records] for name in records[0]}
    by_item = _by_item()
    compact = json.dumps({"model": "x", "results": records}).encode()
    markdown = "| item | annotator | label |\n|---|---|---|\n" + "".join(
        f"| {' | '.join(row.values())} |\n" for row in records
    )
    return [
        json_file("JSON on one line: an object with a list of records", compact),
        json_file("JSON list of records", records),
        *(
            json_file(
                f"pandas: to_json(orient={orient!r})",
                FRAME.to_json(orient=orient, lines=orient == "lines").encode(),
            )
            for orient in ("columns", "records", "split")
        ),
        json_file("JSON by columns", columns),
        json_file("JSON object {item: {annotator: label}}", by_item),
        tried(
            "Excel: Unicode text (UTF-16 with a byte-order mark)",
            "votes.txt",
            as_table(records, "\t").decode().encode("utf-16"),
        ),
        csv("Excel: CSV UTF-8 with a byte-order mark", b"\xef\xbb\xbf" + LONG),
        *(
            tried(f"separated by {name}", "votes.txt", as_table(records, separator))
            for name, separator in (
                ("semicolons", ";"),
                ("tabs", "\t"),
                ("vertical bars", "|"),
                ("spaces", " "),
            )
        ),
        refused(
            "LLM: a Markdown table",
            markdown.encode(),
            "is not a table of responses",
            name="votes.md",
        ),
        tried("gzip", "votes.csv.gz", gzip.compress(LONG)),
        tried("bzip2", "votes.csv.bz2", bz2.compress(LONG)),
        tried("xz", "votes.csv.xz", lzma.compress(LONG)),
        tried("zip", "votes.zip", as_archive({"votes.csv": LONG})),
        TriedFile("tar", {"votes.tar": _as_tar(LONG)}),
        *_json_shapes(by_item),
    ]


def _as_tar(content: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        member = tarfile.TarInfo("votes.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def _json_shapes(by_item: Mapping[str, Mapping[str, str]]) -> list[TriedFile]:
    """Responses nested by item, by annotator or by judge."""
    by_annotator = {
        who: [{"item": item, "label": label} for (item, a), label in LABELS.items() if a == who]
        for who in ANNOTATORS
    }
    responses = {
        item: [{"annotator": who, "label": label} for who, label in one.items()]
        for item, one in by_item.items()
    }
    reasons = {
        item: {who: {"verdict": label, "reason": item} for who, label in one.items()}
        for item, one in by_item.items()
    }
    with_nan = [
        {**row, "label": float("nan")} if row["annotator"] == "joe" else row
        for row in [*long_rows(), {"item": "q00", "annotator": "joe"}]
    ]
    shapes: dict[str, Any] = {
        "{item: [{annotator, label}]}": responses,
        "{annotator: [{item, label}]}": by_annotator,
        "{run: {results: [{item, annotator, label}]}}": {"run": {"results": long_rows()}},
        "{id, votes: [{annotator, label}]}": [
            {"id": item, "votes": one} for item, one in responses.items()
        ],
        "{id, evaluations: [{annotator, label}]}": [
            {"id": item, "evaluations": one} for item, one in responses.items()
        ],
        "{id, judges: {judge: {verdict, reason}}}": [
            {"id": item, "judges": one} for item, one in reasons.items()
        ],
        "{id, judge: {verdict, reason}, …}": [
            {"id": item, **one} for item, one in reasons.items() if len(one) > 1
        ],
    }
    several = {cell: label for cell, label in LABELS.items() if len(by_item[cell[0]]) > 1}
    scores = [
        {
            "id": item,
            "scores": {
                who: {"value": label, "answer": "42", "explanation": item}
                for who, label in one.items()
            },
        }
        for item, one in by_item.items()
    ]
    projects = [
        {
            "data_row": {"id": item, "text": item},
            "projects": {"p1": {"name": "animals", "labels": one}},
        }
        for item, one in responses.items()
    ]
    lists = [
        {"id": item, "annotators": list(one), "labels": list(one.values())}
        for item, one in by_item.items()
    ]
    return [
        *(
            json_file(
                f"JSON: {shape}",
                document,
                cells=several if shape.endswith("…}") else LABELS,
            )
            for shape, document in shapes.items()
        ),
        json_lines(
            "Python: JSON lines with NaN",
            "\n".join(map(json.dumps, with_nan)).encode(),
            "1 label treated as missing: 'NaN'",
        ),
        json_file("JSON: {id, annotators: […], labels: […]}", lists),
        tried(
            "Hugging Face: Parquet with lists of annotators and labels",
            "votes.parquet",
            pl.DataFrame(lists),
        ),
        json_file(
            "Inspect: scores with a value, an answer and an explanation",
            {"samples": scores},
            "their field 'value' is read",
        ),
        refused(
            "Labelbox: labels by project",
            projects,
            "holds nested values … one row per response",
            name="export.ndjson",
        ),
    ]


GROUPS: dict[str, list[TriedFile]] = {
    "Values": _values(),
    "Tables": [*_tables(), *_rows_between()],
    "File types": _files(),
}
TRIED_FILES = [tried for group in GROUPS.values() for tried in group]


# The table in docs/formats.md


def table() -> str:
    """Return what came out of every file, as tables in Markdown."""
    parts = []
    for group, tried_files in GROUPS.items():
        rows = "".join(f"| {_cell(tried.source)} | {_outcome(tried)} |\n" for tried in tried_files)
        parts.append(f"#### {group}\n\n| file | what happens |\n|---|---|\n{rows}")
    rows = "".join(f"| {_cell(name)} | {_outcome_of_sets(name)} |\n" for name in SET_FILES)
    heading = '#### Several labels per item, with `kind="sets"`'
    parts.append(f"{heading}\n\n| file | what happens |\n|---|---|\n{rows}")
    return "\n".join(parts)


def _outcome_of_sets(name: str) -> str:
    file, content = SET_FILES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_bytes(content)
        found = read(path, kind="sets")
    said = f" Noted: {'; '.join(found.notes[1:])}." if found.notes[1:] else ""
    return _cell(f"Read as {found.format}.{said}")


def _outcome(tried: TriedFile) -> str:
    with tempfile.TemporaryDirectory() as folder:
        paths = tried.write(Path(folder))
        try:
            found = read(paths, **tried.options)
        except BlindfuseError as error:
            return _cell("**Refused.** " + str(error).replace(f"{folder}/", ""))
    notes = [note for note in found.notes[1:] if any(word in note for word in tried.words)]
    said = f" Noted: {'; '.join(notes)}." if notes else ""
    return _cell(f"Read as {found.format}.{said}")


def _cell(sentence: str) -> str:
    """Escape what Markdown would interpret."""
    return re.sub(r"[|<>\[\]]", lambda match: f"&#{ord(match[0])};", sentence)


def page_with_table(page: str) -> str:
    """Return the page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"Wrote the tables of tried files to {PAGE}\n")
