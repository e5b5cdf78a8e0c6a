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
ANNOTATORS = ["ann", "bob", "eve"]
WORDS = {"1": "cat", "2": "cow", "3": "dog"}
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


LONG = as_table(long_rows())
FRAME = pd.DataFrame(long_rows())
_IDS = [f"id{n}" for n in range(N_ITEMS)]
_TWEETS = [f"This is tweet number {n}" for n in range(N_ITEMS)]


def _by_row(cells: Cells) -> Cells:
    return {(str(ITEMS.index(item)), who): label for (item, who), label in cells.items()}


def _renamed(cells: Cells, names: Sequence[str]) -> Cells:
    return {(names[ITEMS.index(item)], who): label for (item, who), label in cells.items()}


def _numbered_wide() -> bytes:
    table = pd.DataFrame(wide_rows(NUMBERS), index=ITEMS).replace("", np.nan).astype(float)
    return str(table.to_csv(index_label="item")).encode()


def _values() -> list[TriedFile]:
    half = len(NUMBERS) // 2
    floats = changed(NUMBERS, lambda n, label: f"{label}.0")
    mixed = changed(NUMBERS, lambda n, label: label if n % 2 else f"{label}.0")
    commas = changed(NUMBERS, lambda n, label: [label, f"{label},0", f"{label}.0"][n % 3])
    thousands = changed(NUMBERS, lambda n, label: label if n % 2 else f"{label},000")
    spaced = changed(LABELS, lambda n, label: [label, f" {label}", f"{label}\t", label][n % 4])
    cased = changed(LABELS, lambda n, label: label.title() if n % 5 == 0 else label)
    forms = changed(
        LABELS, lambda n, label: label.replace("cat", ["caf\u00e9", "cafe\u0301"][n % 2])
    )
    countries = changed(LABELS, lambda _, label: label.replace("cow", "NA"))
    as_number = {"read as numbers, so that 1.0 and 1 are one class"}
    rows, first = long_rows(NUMBERS), next(iter(LABELS))
    return [
        TriedFile(
            "pandas: wide CSV of integers with missing cells, written as floats",
            {"wide.csv": _numbered_wide()},
            NUMBERS,
            [*as_number],
        ),
        TriedFile(
            "pandas: shards, one with integers and one with floats",
            {
                "1.csv": as_table(rows[:half]),
                "2.csv": as_table(long_rows(floats)[half:]),
            },
            NUMBERS,
            [*as_number],
        ),
        TriedFile(
            "Parquet shards, one with integers and one with floats",
            {
                "1.parquet": parquet(pl.DataFrame(rows[:half]).cast({"label": pl.Int64})),
                "2.parquet": parquet(pl.DataFrame(rows[half:]).cast({"label": pl.Float64})),
            },
            NUMBERS,
        ),
        TriedFile(
            "JSON records with 1 and 1.0",
            {
                "votes.json": json.dumps(
                    [
                        {**row, "label": int(row["label"]) if n % 2 else float(row["label"])}
                        for n, row in enumerate(rows)
                    ]
                ).encode()
            },
            NUMBERS,
            [*as_number],
        ),
        TriedFile(
            "long CSV with 1, 1.0 and a label that is text",
            {"votes.csv": as_table(long_rows({**mixed, ("q00", "joe"): "other"}))},
            {**mixed, ("q00", "joe"): "other"},
            ["numbers of equal value kept apart", "'1', '1.0'"],
        ),
        TriedFile(
            "European CSV with 1, 1.0 and 1,0",
            {"votes.csv": as_table(long_rows(commas), ";")},
            NUMBERS,
            ["read as numbers, so that 1,0 and 1 are one class"],
        ),
        TriedFile(
            "CSV with 1 and 1,000, which may be a thousand",
            {"votes.csv": as_table(long_rows(thousands), ";")},
            thousands,
            ["'1,000'"],
        ),
        TriedFile(
            "Excel: formulas that failed",
            {"votes.csv": as_table(long_rows({**LABELS, first: "#REF!"}))},
            {cell: label for cell, label in LABELS.items() if cell != first},
            ["1 label treated as missing: '#REF!'"],
        ),
        TriedFile(
            "labels such as 007",
            {"votes.csv": as_table(long_rows(changed(NUMBERS, lambda _, label: f"00{label}")))},
            changed(NUMBERS, lambda _, label: f"00{label}"),
        ),
        TriedFile(
            "items 1.0 in one shard and 1 in another",
            {
                f"{shard}.csv": as_table(
                    [
                        {**row, "item": f"{int(row['item'][1:])}{'.0' if shard else ''}"}
                        for row in long_rows()
                        if (row["annotator"] == "ann") == bool(shard)
                    ]
                )
                for shard in (0, 1)
            },
            _renamed(LABELS, [str(n) for n in range(N_ITEMS)]),
            ["7.0 and 7 are one item"],
        ),
        *(
            TriedFile(
                f"{program}: missing labels written as {marker}",
                {"votes.csv": as_table(with_missing(marker))},
                LABELS,
                [f"labels treated as missing: {marker!r}", "--keep-na"],
            )
            for program, marker in (
                ("R", "NA"),
                ("Excel", "#N/A"),
                ("pandas", "<NA>"),
                ("Python", "None"),
                ("SQL", "NULL"),
                ("MySQL", "\\N"),
                ("MATLAB", "<missing>"),
                ("a person", "N/A"),
                ("pandas", "nan"),
            )
        ),
        TriedFile(
            "NA is a class",
            {"votes.csv": as_table(long_rows(countries))},
            countries,
            options={"keep_na": True},
        ),
        TriedFile(
            "a person: missing labels written as ?",
            {"votes.csv": as_table(with_missing("?"))},
            {(i, a): LABELS.get((i, a), "?") for i in ITEMS for a in ANNOTATORS},
            ["read as classes: '?'", "--missing ?"],
        ),
        *(
            TriedFile(
                f"{program}: missing labels written as {marker}",
                {"votes.csv": as_table(with_missing(marker))},
                {(i, a): LABELS.get((i, a), marker) for i in ITEMS for a in ANNOTATORS},
                [f"read as classes: {marker!r}", f"--missing {option}"],
            )
            for program, marker, option in (
                ("JavaScript", "undefined", "undefined"),
                ("Excel: pivot table", "(blank)", "'(blank)'"),
            )
        ),
        TriedFile(
            "the same, with --missing ?",
            {"votes.csv": as_table(with_missing("?"))},
            options={"missing": "?"},
        ),
        TriedFile(
            "labels and items with outer white space",
            {
                "votes.csv": as_table(
                    [
                        {**row, "item": row["item"] + " " * (n % 2)}
                        for n, row in enumerate(long_rows(spaced))
                    ]
                )
            },
            LABELS,
            ["labels trimmed of outer white space"],
        ),
        TriedFile(
            "labels that differ by case",
            {"votes.csv": as_table(long_rows(cased))},
            cased,
            ["--fold-case"],
        ),
        TriedFile(
            "labels that differ by case, with --fold-case",
            {"votes.csv": as_table(long_rows(cased))},
            LABELS,
            ["most frequent spelling"],
            {"fold_case": True},
        ),
        TriedFile(
            "labels in two Unicode forms",
            {"votes.csv": as_table(long_rows(forms))},
            forms,
            ["--fold-case"],
        ),
        *_repeats(),
        *_judges(),
        *_spellings(),
        *_similar_labels(),
        *_numbers_as_text(),
        *_notations(),
        *_unusual_markers(),
        *_verdicts(),
    ]


def _spellings() -> list[TriedFile]:
    """Verdicts as language models write them, and truth values of several programs."""
    marks = ["{}", "**{}**", "{}.", "`{}`"]
    marked = {cell: marks[n % 4].format(label) for n, (cell, label) in enumerate(LABELS.items())}
    mixed = {
        cell: [["0", "1"], ["FALSE", "TRUE"]][n % 2][label == "cat"]
        for n, (cell, label) in enumerate(LABELS.items())
    }
    fences = ["```json\n{}\n```", "{}"]
    fenced = [
        {**row, "verdict": fences[n % 2].format(json.dumps({"verdict": row["verdict"]}))}
        for n, row in enumerate(long_rows(names="id judge verdict"))
    ]
    plain = [
        {**row, "verdict": f"```\n{row['verdict']}\n```" if n % 3 else row["verdict"]}
        for n, row in enumerate(long_rows(names="id judge verdict"))
    ]
    return [
        TriedFile(
            "judges: verdicts such as **cat**, cat. and `cat`",
            {"judges.csv": as_table(long_rows(marked, "id judge verdict"))},
            marked,
            ["punctuation", "--fold-case"],
        ),
        TriedFile(
            "the same, with --fold-case",
            {"judges.csv": as_table(long_rows(marked, "id judge verdict"))},
            LABELS,
            ["most frequent spelling"],
            {"fold_case": True, "classes": ["cat", "cow", "dog"]},
        ),
        TriedFile(
            "judges: JSON objects in Markdown fences",
            {"judges.jsonl": as_json_lines(fenced)},
            LABELS,
            ["Markdown fence", "their field 'verdict' is read"],
        ),
        TriedFile(
            "judges: verdicts in Markdown fences",
            {"judges.jsonl": as_json_lines(plain)},
            LABELS,
            ["Markdown fence"],
        ),
        TriedFile(
            "spreadsheets and programs: TRUE and FALSE beside 1 and 0",
            {"votes.csv": as_table(long_rows(mixed))},
            mixed,
            ["labels that may mean the same"],
        ),
        TriedFile(
            "CSV with comments above the header",
            {"votes.csv": b"# exported by a tool\n# 2024\n" + as_table(long_rows())},
            None,
            ["lines above the header"],
        ),
    ]


def _similar_labels() -> list[TriedFile]:
    """Labels with reasons and scales beside them, and labels that lost their encoding."""
    accented = changed(LABELS, lambda n, label: label.replace("a", "á").replace("o", "ó"))
    misread = changed(
        accented, lambda n, label: label if n % 3 else label.encode().decode("latin-1")
    )
    stripped = changed(accented, lambda n, label: label if n % 3 else LABELS[list(LABELS)[n]])
    lost = changed(accented, lambda n, label: label if n % 3 else label.replace("á", "\ufffd"))
    reasons = changed(LABELS, lambda n, label: label if n % 3 else f"{label}, because it is")
    fractions = changed(NUMBERS, lambda n, label: label if n % 3 else f"{label}/5")
    return [
        TriedFile(
            "judges: labels with and without a reason",
            {"judges.jsonl": as_json_lines(long_rows(reasons))},
            reasons,
            ["labels that may mean the same"],
        ),
        TriedFile(
            "judges: scores such as 3/5 beside 3",
            {"judges.jsonl": as_json_lines(long_rows(fractions))},
            fractions,
            ["labels that may mean the same"],
        ),
        TriedFile(
            "UTF-8 of some annotators read as Latin-1",
            {"votes.csv": as_table(long_rows(misread))},
            misread,
            ["have damaged characters"],
        ),
        TriedFile(
            "labels without their accents",
            {"votes.csv": as_table(long_rows(stripped))},
            stripped,
            ["labels that may mean the same"],
        ),
        TriedFile(
            "labels in which characters were lost",
            {"votes.csv": as_table(long_rows(lost))},
            lost,
            ["have damaged characters"],
        ),
    ]


def _numbers_as_text() -> list[TriedFile]:
    """Numbers, and what programs and spreadsheets make of labels."""
    zeros = changed(NUMBERS, lambda n, label: f"0{label}" if n % 2 else label)
    codes = {**NUMBERS, ("q00", "joe"): "-1"}
    survey = {**NUMBERS, ("q00", "joe"): "99"}
    narrow = with_missing("########")
    matrix = "\n".join(
        " ".join(f"{float(label):.18e}" for label in row.values())
        for row in wide_rows(NUMBERS, "-1")
    )
    by_place = {
        (str(ITEMS.index(item)), str(ANNOTATORS.index(who))): label
        for (item, who), label in NUMBERS.items()
    }
    return [
        TriedFile(
            "NumPy: savetxt of a matrix, −1 for missing",
            {"votes.txt": matrix.encode()},
            by_place,
            ["labels treated as missing: '-1'", "--classes"],
        ),
        TriedFile(
            "long CSV with 1 and 01",
            {"votes.csv": as_table(long_rows(zeros))},
            zeros,
            ["because they are written in several ways: '01', '1'"],
        ),
        TriedFile(
            "long CSV with −1 beside other numbers",
            {"votes.csv": as_table(long_rows(codes))},
            codes,
            ["read as classes: '-1'", "--missing -1"],
        ),
        TriedFile(
            "surveys: 99 for no response",
            {"votes.csv": as_table(long_rows(survey))},
            survey,
            ["read as classes: '99'", "--missing 99"],
        ),
        TriedFile(
            "Excel: ######## from a column that is too narrow",
            {"votes.csv": as_table(narrow)},
            LABELS,
            ["labels treated as missing: '########'"],
        ),
    ]


def _verdicts() -> list[TriedFile]:
    """Verdicts as language models write them, with what they say around a label."""

    def judged(source: str, verdict: Callable[[int, str], Any], **expected: Any) -> TriedFile:
        rows = [
            {"id": item, "judge": who, "verdict": verdict(n, label)}
            for n, ((item, who), label) in enumerate(LABELS.items())
        ]
        return TriedFile(f"judges: {source}", {"judges.jsonl": as_json_lines(rows)}, **expected)

    kept = {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n % 9}
    thinking = changed(LABELS, lambda n, label: f"<think>Case {n}</think>\n{label}")
    headed = changed(LABELS, lambda n, label: f"Final answer: {label}" if n % 3 else label)
    refused = changed(LABELS, lambda n, label: label if n % 9 else "I cannot judge this")
    dashed = changed(LABELS, lambda n, label: ["big_{}", "big {}", "big-{}"][n % 3].format(label))
    hidden = changed(LABELS, lambda n, label: label if n % 3 else f"{label[0]}\u200b{label[1:]}")
    return [
        judged(
            "reasoning in <think> before the verdict",
            lambda n, label: thinking[list(LABELS)[n]],
            words=["92 labels read without the reasoning before them"],
        ),
        TriedFile(
            "judges: the same in CSV",
            {"judges.csv": as_table(long_rows(thinking, "id judge verdict"))},
            words=["92 labels read without the reasoning before them"],
        ),
        judged(
            "a sentence before a Markdown fence",
            lambda n, label: f'Sure!\n```json\n{{"verdict": "{label}"}}\n```',
            words=["Markdown fence", "their field 'verdict' is read"],
        ),
        judged(
            "JSON objects, some of them cut off",
            lambda n, label: json.dumps({"label": label}) if n % 9 else f'{{"label": "{label}',
            cells=kept,
            words=["11 labels treated as missing, because their JSON is damaged"],
        ),
        judged(
            "objects as Python prints them",
            lambda n, label: str({"label": label, "reason": f"case {n}"}),
            words=["their field 'label' is read"],
        ),
        judged(
            "an object in a list",
            lambda n, label: [{"label": label, "score": 0.5}],
            words=["their field 'label' is read"],
        ),
        judged(
            "an object in an object",
            lambda n, label: {"response": {"label": label, "reason": f"case {n}"}},
            words=["their field 'response' is read", "their field 'label' is read"],
        ),
        judged(
            "objects with different fields",
            lambda n, label: {["label", "verdict"][n % 2]: label},
            cells=None,
            words=["none of which is clearly the label"],
        ),
        judged(
            "'Final answer: cat' beside 'cat'",
            lambda n, label: headed[list(LABELS)[n]],
            cells=headed,
            words=["--fold-case"],
        ),
        judged(
            "the same, with --fold-case",
            lambda n, label: headed[list(LABELS)[n]],
            words=["most frequent spelling"],
            options={"fold_case": True, "classes": ["cat", "cow", "dog"]},
        ),
        judged(
            "refusals",
            lambda n, label: refused[list(LABELS)[n]],
            cells=refused,
            words=["read as classes: 'I cannot judge this'", "--missing 'I cannot judge this'"],
        ),
        judged(
            "big_cat, big cat and big-cat",
            lambda n, label: dashed[list(LABELS)[n]],
            cells=dashed,
            words=["--fold-case"],
        ),
        judged(
            "invisible characters within labels",
            lambda n, label: hidden[list(LABELS)[n]],
            cells=hidden,
            words=["invisible characters", "--fold-case"],
        ),
    ]


def _notations() -> list[TriedFile]:
    """Labels in two notations, one of them for every other response."""

    def mixed(source: str, other: Callable[[str], str], words: str, plain: str = "{}") -> TriedFile:
        cells = changed(NUMBERS, lambda n, label: other(label) if n % 2 else plain.format(label))
        return TriedFile(source, {"votes.csv": as_table(long_rows(cells), ";")}, cells, [words])

    kept_apart = "numbers of equal value kept apart, because they are written in several ways"
    names = {"1": "positive", "2": "negative", "3": "neutral"}
    signs = changed(NUMBERS, lambda n, label: names[label][: 3 if n % 2 else None])
    truths = changed(
        NUMBERS, lambda n, label: f"{label == '1':d}.0" if n % 2 else str(label == "1")
    )
    return [
        mixed("spreadsheets: 1,5 beside 1.5", "{},5".format, kept_apart, "{}.5"),
        mixed("R and SAS: .5 beside 0.5", ".{}".format, kept_apart, "0.{}"),
        mixed("Excel: 50% beside 0.5", "{}0%".format, kept_apart, "0.{}"),
        mixed("sums: 0.30000000000000004 beside 0.3", "0.{}00000000004".format, kept_apart, "0.{}"),
        mixed("judges: 3 / 5 beside 3/5", "{} / 5".format, "--fold-case", "{}/5"),
        TriedFile(
            "judges: pos beside positive",
            {"votes.csv": as_table(long_rows(signs))},
            signs,
            ["labels that may mean the same are different classes: 'neg', 'negative'"],
        ),
        TriedFile(
            "pandas: True and False beside 1.0 and 0.0",
            {"votes.csv": as_table(long_rows(truths))},
            truths,
            ["labels that may mean the same"],
        ),
    ]


def _unusual_markers() -> list[TriedFile]:
    """Marks of missing responses that may be classes, for every ninth response."""

    def marked(program: str, marker: str) -> TriedFile:
        cells = changed(LABELS, lambda n, label: label if n % 9 else marker)
        return TriedFile(
            f"{program}: missing labels written as {marker}",
            {"votes.csv": as_table(long_rows(cells))},
            cells,
            [f"read as classes: {marker!r}"],
        )

    return [
        marked("a person", "\u2014"),
        marked("a person", "(NA)"),
        marked("a person", "not rated"),
        marked("Snorkel, with names of classes", "-1"),
        marked("JavaScript", "[object Object]"),
        marked("R", "character(0)"),
    ]


def _repeats() -> list[TriedFile]:
    rows = long_rows()
    other = {"cat": "cow", "cow": "dog", "dog": "cat"}
    mistakes = [{**row, "label": other[row["label"]]} for row in rows[:9]]
    kept = {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n > 8}
    return [
        TriedFile(
            "long CSV with repeated rows",
            {"votes.csv": as_table(rows + rows[5:15] + mistakes[5:] + rows[5:15])},
            LABELS,
            ["repeated responses: one per item and annotator counts"],
        ),
        TriedFile(
            "long CSV in which annotators contradict themselves",
            {"votes.csv": as_table(rows + mistakes)},
            kept,
            ["9 contradictory responses treated as missing", "--repeats"],
        ),
        TriedFile(
            "the same, with --repeats first",
            {"votes.csv": as_table(rows + mistakes)},
            LABELS,
            options={"repeats": "first"},
        ),
    ]


def _judges() -> list[TriedFile]:
    rows = long_rows(names="id judge verdict")
    failed = [{"id": "q00", "judge": "joe", "verdict": "ERROR"}] * 3
    cells = {**LABELS, ("q00", "joe"): "invalid"}
    scored = [{**row, "verdict": {"label": row["verdict"], "score": 0.5}} for row in rows]
    graded = [{**row, "verdict": {"grade_a": row["verdict"], "grade_b": "x"}} for row in rows]
    path = {"label": "verdict.grade_a"}
    thought = "It has whiskers and a long tail, so my verdict is cat"
    reasoned = {**LABELS, ("q00", "joe"): thought}
    letters = changed(LABELS, lambda _, label: {"cat": "A", "cow": "B", "dog": "C"}[label])
    forms = ("{}", "({})", "Option {}", "\\boxed{{{}}}")
    spelled = changed(letters, lambda n, letter: forms[n % 4].format(letter))
    return [
        TriedFile(
            "judges: JSON lines with failed verdicts",
            {"judges.jsonl": as_json_lines(rows + failed)},
            LABELS,
            ["3 labels treated as missing: 'ERROR'", "--keep-na"],
        ),
        TriedFile(
            "judges: wide CSV with failed verdicts",
            {"judges.csv": wide(LABELS, "parse_error", id=ITEMS)},
            LABELS,
            ["treated as missing: 'parse_error'"],
        ),
        TriedFile(
            "judges: 'invalid' beside other verdicts",
            {"judges.csv": as_table(long_rows(cells, "id judge verdict"))},
            cells,
            ["read as classes: 'invalid'", "--missing invalid"],
        ),
        TriedFile(
            "judges: 'invalid', with --missing invalid",
            {"judges.csv": as_table(long_rows(cells, "id judge verdict"))},
            LABELS,
            ["1 label treated as missing: 'invalid'"],
            {"missing": "invalid"},
        ),
        TriedFile(
            "judges: verdicts that are objects with a label",
            {"judges.jsonl": as_json_lines(scored)},
            LABELS,
            ["their field 'label' is read"],
        ),
        TriedFile(
            "judges: verdicts that are objects with several grades",
            {"judges.jsonl": as_json_lines(graded)},
            None,
            ["'grade_a', 'grade_b'", "label='verdict.grade_a'"],
        ),
        TriedFile(
            "the same, with --label verdict.grade_a",
            {"judges.jsonl": as_json_lines(graded)},
            LABELS,
            options=path,
        ),
        TriedFile(
            "judges: a column 'scores' of objects",
            {
                "judges.jsonl": as_json_lines(
                    [
                        {"id": row["id"], "judge": row["judge"], "scores": {"a": 1, "b": 2}}
                        for row in rows
                    ]
                )
            },
            None,
            ["label='scores.a'"],
        ),
        TriedFile(
            "judges: errors that are objects",
            {
                "judges.jsonl": as_json_lines(
                    [*rows, {"id": "q00", "judge": "joe", "verdict": {"error": {"code": 429}}}]
                )
            },
            words=["1 label treated as missing: objects that are errors"],
        ),
        TriedFile(
            "judges: reasoning in place of a verdict",
            {"judges.csv": as_table(long_rows(reasoned, "id judge verdict"))},
            reasoned,
            ["1 of 4 classes are sentences", "keep only the verdict"],
        ),
        TriedFile(
            "judges: A, (A), Option A and \\boxed{A}, with --fold-case",
            {"judges.csv": as_table(long_rows(spelled, "id judge verdict"))},
            letters,
            ["read in the most frequent spelling"],
            {"fold_case": True},
        ),
        TriedFile(
            "labels that are lists",
            {
                "votes.jsonl": as_json_lines(
                    [
                        {**row, "label": [row["label"], "more"][: 1 + n % 2]}
                        for n, row in enumerate(long_rows())
                    ]
                )
            },
            LABELS,
            ["with several labels: only the first is used"],
        ),
    ]


def _rows_between() -> list[TriedFile]:
    """Rows that are no responses, in the middle of a table, and responses that are hard to find."""
    lines = text(long_rows()).decode().splitlines()
    half = len(lines) // 2

    def between(line: str) -> dict[str, bytes]:
        return {"votes.csv": "\n".join([*lines[:half], line, *lines[half:]]).encode()}

    swapped = [
        ",".join([who, item, label])
        for item, who, label in (line.split(",") for line in lines[half:])
    ]
    reordered = {(i, a): label for n, ((i, a), label) in enumerate(LABELS.items()) if n < half - 1}
    reordered |= {
        (a, i): label for n, ((i, a), label) in enumerate(LABELS.items()) if n >= half - 1
    }
    reordered |= {("annotator", "item"): "label"}
    titled = [
        {key.title(): value for key, value in row.items()} if n % 2 else row
        for n, row in enumerate(long_rows())
    ]
    other_run = dict.fromkeys(LABELS, "cat")
    by_id = long_rows(names="id model label")
    ids = {(i[1:].lstrip("0") or "0", a): label for (i, a), label in LABELS.items()}
    floats = [
        {**row, "item": f"{row['item']}.0" if n % 2 else row["item"]}
        for n, row in enumerate(long_rows({**ids, ("extra", "ann"): "cat"}))
    ]
    return [
        TriedFile(
            "CSV files that were joined, with headers in another case",
            between("Item,ANNOTATOR, label"),
            words=["1 repeated header row skipped"],
        ),
        TriedFile(
            "CSV files that were joined, with columns in another order",
            {"votes.csv": "\n".join([*lines[:half], "annotator,item,label", *swapped]).encode()},
            reordered,
            ["Check the items: 'annotator' has labels that no other item has"],
        ),
        TriedFile(
            "JSON lines in which every other object has Item, Annotator, Label",
            {"votes.jsonl": as_json_lines(titled)},
            {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n % 2 == 0},
            ["46 objects without 'item', 'annotator', 'label' skipped"],
        ),
        TriedFile(
            "items 7 and 7.0 beside one that is text",
            {"votes.csv": as_table(floats)},
            {(row["item"], row["annotator"]): row["label"] for row in floats},
            ["only by case, Unicode form, zeros or type", "'1.0'"],
        ),
        TriedFile(
            "long CSV with the responses of two runs, without a column that says which",
            {"votes.csv": as_table([*long_rows(), *long_rows(other_run)])},
            {cell: label for cell, label in LABELS.items() if label == "cat"},
            ["Check the items: annotators labelled an item 2.0 times on average"],
        ),
        TriedFile(
            "LLM: a column task that names the task, and a column id",
            {"votes.csv": as_table([{"task": "animals", **row} for row in by_id])},
            words=["item = 'id'"],
        ),
    ]


def _tables() -> list[TriedFile]:
    dates = [f"2024-01-{1 + n % 28:02d}" for n in range(N_ITEMS)]
    splits = ["train", "test"] * (N_ITEMS // 2)
    lengths = [17 + n for n in range(N_ITEMS)]
    not_annotators = ["not read as annotators", "3 annotator columns: 'ann', 'bob', 'eve'"]
    return [
        TriedFile(
            "crowd-kit: task, worker, label",
            {"votes.csv": as_table(long_rows(names="task worker label"))},
        ),
        TriedFile(
            "long CSV with a column truth",
            {"votes.csv": as_table([{**row, "truth": TRUTH[row["item"]]} for row in long_rows()])},
            words=["gold labels found in 'truth'"],
        ),
        TriedFile(
            "wide CSV with a column truth",
            {"wide.csv": wide(id=ITEMS, truth=list(TRUTH.values()))},
            words=["gold labels found in 'truth'"],
        ),
        *(
            TriedFile(
                f"wide CSV with a column {name}",
                {"wide.csv": wide(LABELS, "", item=ITEMS, **{f"after_{name}": [*TRUTH.values()]})},
                words=[f"gold labels found in {name!r}"],
            )
            for name in ("gold_standard", "y_true", "Correct Answer", "goldlabel")
        ),
        *(
            TriedFile(
                f"wide CSV with a column {name}",
                {"wide.csv": wide(cells, "", item=ITEMS, **{f"after_{name}": values})},
                cells,
                [*not_annotators, f"{name!r}"],
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
            TriedFile(
                f"wide CSV whose first column is {name or 'unnamed'}",
                {"wide.csv": wide(LABELS, "", **{name: names})},
                _renamed(LABELS, names),
                ["3 annotator columns: 'ann', 'bob', 'eve'"],
            )
            for name, names in (
                ("", _IDS),
                ("tweet", _TWEETS),
                ("image_path", [f"img/{n}.png" for n in _IDS]),
                ("Unnamed: 0", [str(n) for n in range(N_ITEMS)]),
            )
        ),
        TriedFile(
            "pandas: wide CSV whose columns are numbered",
            {"wide.csv": pd.DataFrame([list(r.values()) for r in wide_rows()]).to_csv().encode()},
            {(str(ITEMS.index(i)), str(ANNOTATORS.index(a))): k for (i, a), k in LABELS.items()},
        ),
        TriedFile(
            "Snorkel: labelling functions, −1 abstains",
            {"lf.csv": wide(NUMBERS, "-1")},
            _by_row(NUMBERS),
            ["treated as missing: '-1'"],
        ),
        TriedFile(
            "wide CSV in which no columns share labels",
            {"wide.csv": as_table([{"a": f"x{n % 4}", "b": f"y{n % 3}"} for n in range(N_ITEMS)])},
            None,
            ["no two of the columns 'a', 'b' share labels"],
        ),
        TriedFile(
            "long CSV whose label column is named for what was asked",
            {"votes.csv": as_table(long_rows(names="tweet_id user sentiment"))},
            words=["label = 'sentiment' (detected)"],
        ),
        TriedFile(
            "database: hitid, workerid, answer",
            {"votes.csv": as_table(long_rows(names="hitid workerid answer"))},
        ),
        TriedFile(
            "pandas: wide Parquet with an index that has no name",
            {"wide.parquet": pd.DataFrame(wide_rows(), index=ITEMS).to_parquet()},
        ),
        *_questions(),
        *_headers(),
        *_separators(),
        *_suspicious(),
        *_columns_of_classes(),
        *_columns_of_questions(),
        *_rows_that_are_no_items(),
    ]


def _columns_of_classes() -> list[TriedFile]:
    """Tables with a column per class: counts, shares, and one 1 per response or per item."""
    classes = list(WORDS.values())
    votes = {item: [LABELS[item, a] for a in ANNOTATORS if (item, a) in LABELS] for item in ITEMS}
    counts = {(item, k): str(own.count(k)) for item, own in votes.items() for k in classes}
    shares = {
        (item, k): plain_share(own.count(k) / len(own) if own else 0)
        for item, own in votes.items()
        for k in classes
    }
    one_hot = [
        {"item": i, "annotator": a, **{k: int(k == label) for k in classes}}
        for (i, a), label in LABELS.items()
    ]
    products = {
        (item, f"{a}_{k}"): str(int(LABELS[item, a] == k)) for item, a in LABELS for k in classes
    }
    tables = {name: pd.Series(cells).unstack() for name, cells in (("n", counts), ("p", shares))}
    grouped = [
        {"item": item, "label": k, "count": own.count(k)}
        for item, own in votes.items()
        for k in sorted({*own})
    ]
    write = "write one row per response"
    return [
        TriedFile(
            "pandas: numbers of votes, one column per class",
            {"wide.csv": tables["n"].to_csv(index_label="item").encode()},
            counts,
            ["as in columns with the counts or shares of votes", write],
        ),
        TriedFile(
            "pandas: shares of votes, one column per class",
            {"wide.csv": tables["p"].to_csv(index_label="item").encode()},
            shares,
            ["as in columns with the counts or shares of votes", write],
        ),
        TriedFile(
            "pandas: value_counts, one row per item and class",
            {"votes.csv": as_table(grouped)},
            None,
            ["counts responses in column 'count'", "Write one row per response"],
        ),
        TriedFile(
            "wide CSV with numbers of votes named n_cat, n_cow, n_dog",
            {"wide.csv": tables["n"].add_prefix("n_").to_csv(index_label="item").encode()},
            None,
            ["no column with labels", "one column per annotator"],
        ),
        TriedFile("one column of 0 and 1 per class", {"votes.csv": as_table(one_hot)}),
        TriedFile(
            "pandas: get_dummies",
            {"votes.csv": pd.get_dummies(FRAME, columns=["label"]).to_csv(index=False).encode()},
        ),
        TriedFile(
            "one column of 0 and 1 per annotator and class",
            {"wide.csv": pd.Series(products).unstack().to_csv(index_label="item").encode()},
            products,
            ["or of one class each"],
        ),
    ]


def plain_share(share: float) -> str:
    """A share as it is read: with two digits, without zeros at the end."""
    return f"{share:.2f}".rstrip("0").rstrip(".")


def _columns_of_questions() -> list[TriedFile]:
    """A column per annotator and question."""
    sizes = {cell: ("big", "small")[int(cell[0][1:]) % 2] for cell in LABELS}
    both = {
        (item, f"{who}_{question}"): ("no", "yes")[cells[item, who] in ("cat", "big")]
        for question, cells in (("cat", LABELS), ("big", sizes))
        for item, who in LABELS
    }
    return [
        TriedFile(
            "one column per annotator and question",
            {"wide.csv": pd.Series(both).unstack().to_csv(index_label="item").encode()},
            both,
            ["one annotator and one class or question per column", "--annotator"],
        ),
        TriedFile(
            "Chatbot Arena: a column winner",
            {"votes.csv": as_table(long_rows(names="question_id judge winner"))},
        ),
    ]


def with_second_row(content: bytes, row: bytes) -> bytes:
    """Insert a row below the header."""
    header, *others = content.splitlines()
    return b"\n".join([header, row, *others])


def _rows_that_are_no_items() -> list[TriedFile]:
    """Totals, comments and footers below a table, and tables that are drawn or turned."""
    totals = {**LABELS, **{("Total", a): "40" for a in ANNOTATORS}}
    words = ("Open-Ended", "Open-Ended", "Other")
    survey = {("Item", a): word for a, word in zip(ANNOTATORS, words, strict=True)}
    lines = text(long_rows()).decode().splitlines()
    drawn = [f"| {' | '.join(line.split(','))} |" for line in lines]
    rule = "+------+-----------+-------+"
    padded = {
        (str(int(i[1:])) if who == "eve" else i[1:], who): one for (i, who), one in LABELS.items()
    }
    turned = {(who, f"Image {i}"): one for (i, who), one in LABELS.items()}
    form = [
        {"Email Address": a, **{f"Image {i}": LABELS.get((i, a), "") for i in ITEMS}}
        for a in ANNOTATORS
    ]
    return [
        TriedFile(
            "Excel: a row of totals",
            {"wide.csv": wide(item=ITEMS) + b"Total,40,40,40\r\n"},
            totals,
            ["'Total' has labels that no other item has", "Delete the row"],
        ),
        TriedFile(
            "surveys: a second header below the first one",
            {"wide.csv": with_second_row(wide(item=ITEMS), b"Item,Open-Ended,Open-Ended,Other")},
            {**LABELS, **survey},
            ["'Item' has labels that no other item has", "second header"],
        ),
        TriedFile(
            "databases: types below the header",
            {"votes.csv": with_second_row(text(long_rows()), b"string,string,string")},
            {**LABELS, ("string", "string"): "string"},
            ["'string' has labels that no other item has", "second header"],
        ),
        TriedFile(
            "a comment between the rows",
            {"votes.csv": "\n".join([*lines[:50], "# second batch", *lines[50:]]).encode()},
            words=["'# second batch' has no response", "Delete rows that are not items"],
        ),
        TriedFile(
            "SQL Server: the number of rows below the table",
            {"votes.csv": "\n".join([*lines, "", "(92 rows affected)"]).encode()},
            words=["'(92 rows affected)' has no response"],
        ),
        TriedFile(
            "MySQL: a table as the terminal shows it",
            {"votes.txt": "\n".join([rule, drawn[0], rule, *drawn[1:], rule]).encode()},
            None,
            ["drawn with lines", "Export it as CSV"],
        ),
        TriedFile(
            "PostgreSQL: a table as the terminal shows it",
            {
                "votes.txt": "\n".join(
                    [drawn[0].strip("|"), rule.strip("+"), *(one.strip("|") for one in drawn[1:])]
                ).encode()
            },
            None,
            ["drawn with lines"],
        ),
        TriedFile(
            "SQLite: a dump",
            {"votes.txt": b"PRAGMA foreign_keys=OFF;\nINSERT INTO votes VALUES('q1','ann');\n"},
            None,
            ["is SQL. Export the table as CSV."],
        ),
        TriedFile(
            "YAML",
            {"votes.yaml": b"- item: q1\n  annotator: ann\n  label: cat\n"},
            None,
            ["is YAML", "CSV or JSON"],
        ),
        TriedFile(
            "items with leading zeros of some annotators only",
            {"votes.csv": as_table(long_rows(padded))},
            padded,
            ["only by case, Unicode form, zeros or type"],
        ),
        TriedFile(
            "Google Forms: one row per annotator, one column per item",
            {"form.csv": as_table(form)},
            turned,
            ["40 columns for 3 rows", "transpose the table"],
        ),
    ]


def _separators() -> list[TriedFile]:
    """Commas, quotes and lines around a table, as spreadsheets and people write them."""
    lines = text(long_rows()).decode().splitlines()
    rows = wide(item=ITEMS).decode().splitlines()
    quoted = [", ".join(f'"{cell}"' for cell in line.split(",")) for line in lines]
    single = [",".join(f"'{cell}'" for cell in line.split(",")) for line in lines]
    return [
        TriedFile(
            "Excel: empty columns after the table",
            {"votes.csv": "\n".join(f"{line},,," for line in lines).encode()},
        ),
        TriedFile(
            "wide CSV whose rows, but not the header, end in a comma",
            {"wide.csv": "\n".join([rows[0], *(f"{row}," for row in rows[1:])]).encode()},
        ),
        TriedFile(
            "Excel: a title above the header",
            {"wide.csv": "\n".join(["Crowd of May,,,", *rows]).encode()},
            None,
            ["name its columns in row 2", "Delete the lines above the header"],
        ),
        TriedFile("LLM: CSV with spaces before quotes", {"votes.csv": "\n".join(quoted).encode()}),
        TriedFile("single quotes", {"votes.csv": "\n".join(single).encode()}),
        TriedFile(
            "commas in a text that is not quoted",
            {
                "votes.csv": text([{"text": "a b", **row} for row in long_rows()]).replace(
                    b" ", b","
                )
            },
            None,
            ["line 2: 5 cells, but the first row has 4", "Quote cells"],
        ),
    ]


def _questions() -> list[TriedFile]:
    colours = [{**row, "question": "colour"} for row in long_rows()]
    sizes = [{**row, "question": "size", "label": "big"} for row in long_rows()]
    return [
        TriedFile(
            "long CSV with two questions",
            {"votes.csv": as_table(colours + sizes)},
            None,
            ["several questions: 'colour', 'size'", "question="],
        ),
        TriedFile(
            "the same, with --question colour",
            {"votes.csv": as_table(colours + sizes)},
            LABELS,
            options={"question": "colour"},
        ),
        TriedFile(
            "long CSV with two columns of annotators",
            {
                "votes.csv": as_table(
                    [
                        {**row, "judge": "x", "model": "y"}
                        for row in long_rows(names="item who label")
                    ]
                )
            },
            None,
            ["the annotator may be in column 'judge', 'model'", "annotator="],
        ),
    ]


def _headers() -> list[TriedFile]:
    columns = {"item": "0", "annotator": "1", "label": "2"}
    numbered = [
        {"item": i[1:].lstrip("0") or "0", "annotator": str(ANNOTATORS.index(a)), "label": label}
        for (i, a), label in NUMBERS.items()
    ]
    return [
        TriedFile(
            "long CSV without a header",
            {"votes.csv": text(long_rows(), header=False)},
            None,
            ["together name each row", "item='0', annotator='1', label='2'"],
        ),
        TriedFile(
            "long table of numbers without a header, separated by spaces",
            {"votes.txt": text(numbered, header=False).replace(b",", b" ")},
            None,
            ["together name each row", "item='0', annotator='1', label='2'"],
        ),
        TriedFile(
            "long CSV of numbers with names that say nothing",
            {"votes.csv": text(numbered).replace(b"item,annotator,label", b"x,y,z")},
            None,
            ["together name each row", "item='x', annotator='y', label='z'"],
        ),
        TriedFile(
            "the same, with --item x --annotator y --label z",
            {"votes.csv": text(numbered).replace(b"item,annotator,label", b"x,y,z")},
            {(row["item"], row["annotator"]): row["label"] for row in numbered},
            options={"item": "x", "annotator": "y", "label": "z"},
        ),
        TriedFile(
            "the same, with --item 0 --annotator 1 --label 2",
            {"votes.csv": text(long_rows(), header=False)},
            LABELS,
            ["no header found"],
            columns,
        ),
        TriedFile(
            "MACE: wide CSV without a header",
            {"wide.csv": text(wide_rows(), header=False)},
            {(str(ITEMS.index(i)), str(ANNOTATORS.index(a))): k for (i, a), k in LABELS.items()},
            ["no header found"],
        ),
        TriedFile(
            "wide CSV without a header, with ids in the first column",
            {
                "wide.csv": text(
                    [{"": item, **row} for item, row in zip(ITEMS, wide_rows(), strict=True)],
                    header=False,
                )
            },
            {(i, str(1 + ANNOTATORS.index(a))): k for (i, a), k in LABELS.items()},
            ["no header found"],
        ),
        TriedFile(
            "CSV files that were joined with their headers",
            {"votes.csv": LONG + LONG[: LONG.index(b"\n") + 1] * 2},
            LABELS,
            ["2 repeated header rows skipped"],
        ),
        TriedFile(
            "R: write.table, with row names that the header does not name",
            {
                "votes.txt": b"item annotator label\n"
                + b"".join(
                    f'"{n}" {" ".join(row.values())}\n'.encode()
                    for n, row in enumerate(long_rows(), 1)
                )
            },
        ),
        TriedFile(
            "text with one column",
            {"votes.txt": b"cat\ndog\ncat\ncow\n" * 5},
            None,
            ["only one column"],
        ),
        TriedFile(
            "Excel: CSV that begins with sep=;",
            {"votes.csv": b"sep=;\r\n" + as_table(long_rows(), ";")},
            None,
            ["sep=;", "first line"],
        ),
    ]


def _suspicious() -> list[TriedFile]:
    sentences = {
        cell: f"It is clearly a {k} to me, case {n % 12}"
        for n, (cell, k) in enumerate(LABELS.items())
    }
    leaked = {**LABELS, **{(item, "sys"): _vote(item) for item in ITEMS}}
    odd = {**LABELS, **{(item, "odd"): "emu" for item in ITEMS}}
    scores = {cell: f"{n % 30}" for n, cell in enumerate(LABELS)}
    ids = {cell: f"w{100 + n % 25}" for n, cell in enumerate(LABELS)}
    cased = {
        (item, who.title() if n % 2 else who): label
        for n, ((item, who), label) in enumerate(LABELS.items())
    }
    nameless = {(item, who.replace("eve", "nan")): one for (item, who), one in LABELS.items()}
    return [
        TriedFile(
            "annotators that differ by case",
            {"votes.csv": as_table(long_rows(cased))},
            cased,
            ["3 of 6 differ from others only by case"],
        ),
        TriedFile(
            "pandas: missing annotators written as nan",
            {"votes.csv": as_table(long_rows(nameless))},
            nameless,
            ["'nan' is read as the name of an annotator"],
        ),
        TriedFile(
            "labels that are sentences",
            {"votes.csv": as_table(long_rows(sentences))},
            sentences,
            ["classes are sentences", "--label"],
        ),
        TriedFile(
            "labels that are numbers",
            {"votes.csv": as_table(long_rows(scores))},
            scores,
            ["classes are numbers", "--label"],
        ),
        TriedFile(
            "labels that are ids",
            {"votes.csv": as_table(long_rows(ids))},
            ids,
            ["25 classes", "--label"],
        ),
        TriedFile(
            "an annotator who agrees with nobody",
            {"votes.csv": as_table(long_rows(odd))},
            odd,
            ["nobody agrees with 'odd'", "--annotator"],
        ),
        TriedFile(
            "an annotator who is the vote of the others",
            {"votes.csv": as_table(long_rows(leaked))},
            leaked,
            ["the vote of the others always agrees with 'sys'", "--annotator"],
        ),
    ]


def _vote(item: str) -> str:
    labels = [LABELS[item, who] for who in ANNOTATORS if (item, who) in LABELS]
    return max(sorted(set(labels)), key=labels.count) if labels else "cat"


def _files() -> list[TriedFile]:
    records = long_rows()
    columns = {name: [row[name] for row in records] for name in records[0]}
    by_item = {
        item: {who: LABELS[item, who] for who in ANNOTATORS if (item, who) in LABELS}
        for item in ITEMS
    }
    nested = [
        {"id": item, "annotations": [{"by": who, "value": label} for who, label in one.items()]}
        for item, one in by_item.items()
    ]
    compact = json.dumps({"model": "x", "results": records}).encode()
    zstandard = b"\x28\xb5\x2f\xfd" + bytes(range(100))
    workbook = as_archive({"xl/workbook.xml": b"<x/>", "[Content_Types].xml": b"<x/>"})
    markdown = "| item | annotator | label |\n|---|---|---|\n" + "".join(
        f"| {' | '.join(row.values())} |\n" for row in records
    )
    return [
        TriedFile("JSON on one line: an object with a list of records", {"votes.json": compact}),
        TriedFile("JSON list of records", {"votes.json": json.dumps(records).encode()}),
        *(
            TriedFile(
                f"pandas: to_json(orient={orient!r})",
                {"votes.json": FRAME.to_json(orient=orient, lines=orient == "lines").encode()},
            )
            for orient in ("columns", "records", "split")
        ),
        TriedFile("JSON by columns", {"votes.json": json.dumps(columns).encode()}),
        TriedFile(
            "jq: JSON objects one after another",
            {"votes.json": "\n".join(json.dumps(row, indent=2) for row in records).encode()},
        ),
        TriedFile(
            "JSON object {item: {annotator: label}}",
            {"votes.json": json.dumps(by_item).encode()},
        ),
        TriedFile(
            "JSON records with a list of annotations each",
            {"votes.json": json.dumps(nested).encode()},
            None,
            ["'annotations' holds nested values", "one row per response"],
        ),
        TriedFile(
            "LLM: JSON in a code fence", {"votes.json": b"```json\n[]\n```\n"}, None, ["```"]
        ),
        TriedFile(
            "Excel: Unicode text (UTF-16 with a byte-order mark)",
            {"votes.txt": as_table(records, "\t").decode().encode("utf-16")},
        ),
        TriedFile(
            "UTF-16 without a byte-order mark, little endian",
            {"votes.csv": LONG.decode().encode("utf-16-le")},
        ),
        TriedFile(
            "UTF-16 without a byte-order mark, big endian",
            {"votes.csv": LONG.decode().encode("utf-16-be")},
        ),
        TriedFile("Excel: CSV UTF-8 with a byte-order mark", {"votes.csv": b"\xef\xbb\xbf" + LONG}),
        TriedFile(
            "Excel: CSV in Windows-1252",
            {"votes.csv": LONG.replace(b"cat", b"ch\xe2t")},
            None,
            ["0xe2", "UTF-8"],
        ),
        *(
            TriedFile(f"separated by {name}", {"votes.txt": as_table(records, separator)})
            for name, separator in (
                ("semicolons", ";"),
                ("tabs", "\t"),
                ("vertical bars", "|"),
                ("colons", ":"),
                ("spaces", " "),
            )
        ),
        TriedFile("LLM: a Markdown table", {"votes.md": markdown.encode()}, None, ["Markdown"]),
        TriedFile("a web page", {"votes.csv": b"<!DOCTYPE html><html></html>"}, None, ["HTML"]),
        TriedFile("gzip", {"votes.csv.gz": gzip.compress(LONG)}),
        TriedFile("bzip2", {"votes.csv.bz2": bz2.compress(LONG)}),
        TriedFile("xz", {"votes.csv.xz": lzma.compress(LONG)}),
        TriedFile("zip", {"votes.zip": as_archive({"votes.csv": LONG})}),
        TriedFile("tar", {"votes.tar": _as_tar(LONG)}, None, ["tar -xf"]),
        TriedFile("tar with gzip", {"votes.tgz": gzip.compress(_as_tar(LONG))}, None, ["tar -xf"]),
        TriedFile(
            "compressed twice", {"a.csv.gz": gzip.compress(gzip.compress(LONG))}, None, ["twice"]
        ),
        TriedFile(
            "Git LFS: a pointer",
            {"votes.csv": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"},
            None,
            ["git lfs pull"],
        ),
        TriedFile("a binary file", {"votes.csv": LONG + bytes(9)}, None, ["NUL characters"]),
        *_json_shapes(by_item),
        TriedFile("Zstandard", {"votes.csv.zst": zstandard}, None, ["Zstandard", "unzstd"]),
        TriedFile("Excel workbook", {"votes.xlsx": workbook}, None, ["Excel workbook", "CSV"]),
        TriedFile(
            "LibreOffice: an OpenDocument spreadsheet",
            {"votes.ods": as_archive({"mimetype": b"application/x", "content.xml": b"<x/>"})},
            None,
            ["OpenDocument", "CSV"],
        ),
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
            TriedFile(
                f"JSON: {shape}",
                {"votes.json": json.dumps(document).encode()},
                several if shape.endswith("…}") else LABELS,
            )
            for shape, document in shapes.items()
        ),
        TriedFile(
            "Python: JSON lines with NaN",
            {"votes.jsonl": "\n".join(map(json.dumps, with_nan)).encode()},
            LABELS,
            ["1 label treated as missing: 'NaN'"],
        ),
        TriedFile(
            "JSON: {id, annotators: […], labels: […]}",
            {"votes.json": json.dumps(lists).encode()},
        ),
        TriedFile(
            "Hugging Face: Parquet with lists of annotators and labels",
            {"votes.parquet": parquet(pl.DataFrame(lists))},
        ),
        TriedFile(
            "JSON: {id, label: […]} of annotators who are not named",
            {"votes.jsonl": as_json_lines([{"id": i, "label": ["cat", "cat"]} for i in ITEMS])},
            None,
            ["a label occurs twice", "one row per response"],
        ),
        TriedFile(
            "Inspect: scores with a value, an answer and an explanation",
            {"log.json": json.dumps({"samples": scores}).encode()},
            words=["their field 'value' is read"],
        ),
        TriedFile(
            "Labelbox: labels by project",
            {"export.ndjson": as_json_lines(projects)},
            None,
            ["holds nested values", "one row per response"],
        ),
        TriedFile(
            "JSON lines of lists without names",
            {
                "votes.jsonl": b"\n".join(
                    json.dumps([*row.values()]).encode() for row in long_rows()
                )
            },
            None,
            ["one object per response"],
        ),
        TriedFile(
            "JSON lists without names",
            {"votes.json": json.dumps([[*row.values()] for row in long_rows()]).encode()},
            None,
            ["one object per response"],
        ),
    ]


def _tools() -> list[TriedFile]:
    return [*_argilla(), *_mturk(), *_label_studio(), *_other_tools()]


def _argilla() -> list[TriedFile]:
    rows: list[dict[str, Any]] = []
    for item in ITEMS:
        users = [who for who in ANNOTATORS if (item, who) in LABELS]
        rows.append(
            {
                "id": item,
                "status": "completed",
                "_server_id": f"s{item}",
                "text": f"Text {item}",
                "topic.responses": [LABELS[item, who] for who in users],
                "topic.responses.users": users,
                "topic.responses.status": ["submitted"] * len(users),
                "topic.suggestion": None,
                "topic.suggestion.score": 0.7,
            }
        )
    nested = [
        {
            "id": row["id"],
            "fields": {"text": row["text"]},
            "status": "completed",
            "responses": {
                "topic": [
                    {"user_id": who, "value": value, "status": "submitted"}
                    for who, value in zip(
                        row["topic.responses.users"], row["topic.responses"], strict=True
                    )
                ]
            },
        }
        for row in rows
    ]
    suggestion = {"topic": {"value": "cat", "agent": "gpt"}}
    return [
        TriedFile("Argilla: records as Parquet", {"records.parquet": parquet(pl.DataFrame(rows))}),
        TriedFile("Argilla: records as JSON", {"records.json": json.dumps(nested).encode()}),
        TriedFile(
            "Argilla: records with suggestions of a model",
            {
                "records.json": json.dumps(
                    [{**row, "suggestions": suggestion} for row in nested]
                ).encode()
            },
            {**LABELS, **{(item, "gpt"): "cat" for item in ITEMS}},
            ["40 suggestions of models read as responses"],
        ),
    ]


def _mturk() -> list[TriedFile]:
    def assignment(item: str, who: str, **answers: str) -> dict[str, Any]:
        return {
            "HITId": item,
            "WorkerId": who,
            "AssignmentStatus": "Approved",
            **{f"Answer.{name}": value for name, value in answers.items()},
        }

    ticks = [
        assignment(i, a, **{f"animal.{k}": str(k == label).lower() for k in WORDS.values()})
        for (i, a), label in LABELS.items()
    ]
    ticks[0] = {**ticks[0], **{key: "true" for key in ticks[0] if key.startswith("Answer.")}}
    first = {**LABELS, next(iter(LABELS)): "cat"}
    loud = [
        {k: v.upper() if k.startswith("Answer.") else v for k, v in row.items()} for row in ticks
    ]
    single = [
        assignment(i, a, **{"cat.on": str(label == "cat").lower()})
        for (i, a), label in LABELS.items()
    ]
    labelled = [assignment(i, a, **{"animal.label": label}) for (i, a), label in LABELS.items()]
    reviewed = [
        {**row, "AssignmentStatus": "Submitted", "Reject": "" if n % 9 else "no effort"}
        for n, row in enumerate(labelled)
    ]
    return [
        TriedFile(
            "MTurk: tick boxes, one response with several ticks",
            {"batch.csv": as_table(ticks)},
            first,
            ["1 response with several labels"],
        ),
        TriedFile(
            "MTurk: tick boxes saved by Excel (TRUE, FALSE)",
            {"batch.csv": as_table(loud)},
            first,
            ["1 response with several labels"],
        ),
        TriedFile(
            "MTurk: a single tick box",
            {"batch.csv": as_table(single)},
            {cell: str(label == "cat").lower() for cell, label in LABELS.items()},
        ),
        TriedFile(
            "MTurk: Answer.animal.label",
            {"batch.csv": as_table(labelled)},
            words=["label = 'Answer.animal'"],
        ),
        TriedFile(
            "MTurk: reviewed, with reasons in the column Reject",
            {"batch.csv": as_table(reviewed)},
            {cell: label for n, (cell, label) in enumerate(LABELS.items()) if n % 9},
            ["11 rejected assignments skipped"],
        ),
    ]


def _label_studio() -> list[TriedFile]:
    minimal = [
        {
            "id": i,
            "image": f"/data/{i}.png",
            "animal": label,
            "annotator": a,
            "annotation_id": n,
            "created_at": "2024-01-01T00:00:00Z",
            "updated_at": "2024-01-01T00:00:00Z",
            "lead_time": 3.5,
        }
        for n, ((i, a), label) in enumerate(LABELS.items())
    ]
    several = [{**row, "animal": {"choices": [row["animal"], "emu"]}} for row in minimal]
    tasks = [
        {
            "id": item,
            "data": {"image": f"/data/{item}.png"},
            "annotations": [
                {
                    "completed_by": {"email": a},
                    "result": [
                        {
                            "type": "choices",
                            "from_name": "animal",
                            "to_name": "image",
                            "value": {"choices": [LABELS[item, a]]},
                        }
                    ],
                }
                for a in ANNOTATORS
                if (item, a) in LABELS
            ],
        }
        for item in ITEMS
    ]
    choice = {"type": "choices", "from_name": "animal", "value": {"choices": ["cat"]}}
    cat = {"model_version": "m1", "result": [choice]}
    return [
        TriedFile("Label Studio: JSON-MIN", {"min.json": json.dumps(minimal).encode()}),
        TriedFile(
            "Label Studio: JSON-MIN with several choices",
            {"min.json": json.dumps(several).encode()},
            words=["with several labels"],
        ),
        TriedFile("Label Studio: CSV", {"export.csv": as_table(minimal)}),
        TriedFile("Label Studio: JSON", {"export.json": json.dumps(tasks).encode()}),
        TriedFile(
            "Label Studio: JSON with predictions of a model",
            {
                "export.json": json.dumps(
                    [{**task, "predictions": [cat]} for task in tasks]
                ).encode()
            },
            {**LABELS, **{(item, "m1"): "cat" for item in ITEMS}},
            ["40 predictions of models read as responses"],
        ),
    ]


def _other_tools() -> list[TriedFile]:
    toloka = [
        {
            "INPUT:image": f"{i}.png",
            "OUTPUT:animal": label,
            "GOLDEN:animal": "",
            "ASSIGNMENT:task_id": i,
            "ASSIGNMENT:worker_id": a,
            "ASSIGNMENT:status": "APPROVED",
        }
        for (i, a), label in LABELS.items()
    ]
    prodigy = [
        {"text": i, "_input_hash": i, "_session_id": a, "answer": "accept", "accept": [label]}
        for (i, a), label in LABELS.items()
    ]
    span = {"start": 0, "end": 3, "label": "CAT"}
    spans = [
        {key: value for key, value in row.items() if key != "accept"} | {"spans": [span]}
        for row in prodigy
    ]
    doccano = {
        f"{who}.jsonl": as_json_lines(
            [{"id": i, "text": i, "label": [label]} for (i, a), label in LABELS.items() if a == who]
        )
        for who in ANNOTATORS
    }
    appen = [
        {"_unit_id": i, "_worker_id": a, "_golden": "false", "animal": label, "animal_gold": ""}
        for (i, a), label in LABELS.items()
    ]
    return [
        TriedFile("Appen: full report", {"f123.csv": as_table(appen)}),
        TriedFile("Toloka: TSV", {"toloka.tsv": as_table(toloka, "\t")}),
        TriedFile("Prodigy: JSON lines", {"prodigy.jsonl": as_json_lines(prodigy)}),
        TriedFile(
            "Prodigy: JSON lines with spans",
            {"prodigy.jsonl": as_json_lines(spans)},
            None,
            ["contains text spans, not classes"],
        ),
        TriedFile("doccano: one file per annotator", doccano),
    ]


GROUPS: dict[str, list[TriedFile]] = {
    "Values": _values(),
    "Tables": [*_tables(), *_rows_between()],
    "File types": _files(),
    "Tools": _tools(),
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
