"""Exports of annotation tools: what is read, noted and refused.

tests/support/tried_files.py has whole files of the same tools; here is one case per rule.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from blindfuse import read
from tests.support.reader_files import (
    Case,
    as_archive,
    as_cells,
    as_json_lines,
    as_table,
    check_case,
    has_note,
    labels_by_name,
    stream,
    write_file,
)
from tests.support.tool_exports import (
    DOCCANO as DOCCANO_FILES,
)
from tests.support.tool_exports import (
    LABEL_STUDIO_SHORT,
    LABEL_STUDIO_USER,
    TOLOKA,
    argilla_record,
    label_studio_annotation,
    label_studio_choice,
    label_studio_task,
    mturk_assignment,
    prodigy_task,
)


def case(about: str, rows: Any, responses: str | None, *notes: str, **options: Any) -> Case:
    """A file of JSON, of JSON lines ("lines …") or of text ("table …")."""
    gold, columns = options.pop("gold", None), options.pop("columns", None)
    if about.startswith("table"):
        content = as_table(rows, options.pop("by", ","))
    else:
        is_lines = about.startswith("lines")
        content = as_json_lines(rows) if is_lines else json.dumps(rows).encode()
    expected = None if responses is None else as_cells(responses)
    return Case(about, content, expected, notes, gold, columns, options)


OTHER_STRUCTURES: list[dict[str, Any]] = [
    {"id": 1, "data": {}, "annotations": [3]},
    {"id": 1, "data": None, "annotations": []},
    {"id": 1, "data": {}, "annotations": [{"result": [{"type": "choices"}]}]},
]


def choice(label: str, question: str = "sentiment") -> dict[str, Any]:
    return label_studio_choice(label, question)


def annotation(user: Any, *results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return label_studio_annotation(user, *results, **fields)


STARS = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
BOX = {"from_name": "box", "type": "rectanglelabels", "value": {"rectanglelabels": ["Car"]}}
BOTH = {**choice("x"), "value": {"choices": ["x", "y"]}}
TWO_QUESTIONS = [label_studio_task(n, annotation(1, choice("x"), STARS)) for n in range(3)]
TWICE = label_studio_task(1, annotation(1, choice("x")), annotation(1, choice("y")))
TRUTH = [
    label_studio_task(
        1,
        annotation(1, choice("red", "colour"), choice("big", "size")),
        annotation(9, choice("blue", "colour"), choice("small", "size"), ground_truth=True),
    ),
    label_studio_task(2, annotation(1, choice("blue", "colour"), choice("small", "size"))),
]
SIZES = "1 1 big, 2 1 small"
SIZE: Any = {"gold": {"1": "small"}, "question": "size"}
SHORT = "1 1 x, 1 2 y, 2 1 y, 3 2 x"

LABEL_STUDIO = [
    case(
        "people and models",
        [
            label_studio_task(
                1,
                annotation(LABEL_STUDIO_USER, choice("да")),
                annotation(7, choice("нет")),
                predictions=[{"model_version": "m1", "result": [choice("да")]}, 17],
            ),
            label_studio_task(2, annotation(7, choice("да"), ground_truth=True)),
            label_studio_task(3),
        ],
        "1 ann@example.com да, 1 7 нет, 1 m1 да",
        "1 annotation marked as ground truth",
        "1 prediction of models",
        gold={"2": "да"},
        columns={"item": "id", "annotator": "completed_by", "label": "sentiment"},
    ),
    case(
        "cancelled, empty, boxes and several choices",
        [
            label_studio_task(
                1, annotation(1, choice("x")), annotation(2, choice("y"), was_cancelled=True)
            ),
            label_studio_task(2, annotation(1), annotation(2, BOX, BOTH)),
        ],
        "1 1 x, 2 2 x",
        "1 cancelled annotation skipped",
        "1 annotation without a result",
        "1 response with several labels",
    ),
    case("repeated: the last", [TWICE], "1 1 y", repeats="last"),
    case(
        "completions of older exports, and another item",
        [{"id": 4, "data": {"text": "a"}, "completions": [annotation(1, choice("x"))]}],
        "a 1 x",
        item="text",
    ),
    case("a rating", TWO_QUESTIONS, "0 1 4, 1 1 4, 2 1 4", question="stars"),
    case("no such item", TWO_QUESTIONS, None, "task without 'name'", item="name"),
    case("two questions", TWO_QUESTIONS, None, "several questions: 'sentiment', 'stars'"),
    case("no such question", TWO_QUESTIONS, None, "did you mean 'stars'", question="star"),
    case("gold labels of the question", TRUTH, SIZES, "1 annotation marked", **SIZE),
    case(
        "JSON-MIN with texts of the tasks",
        [{**row, "text": f"{row['text']} {n}"} for n, row in enumerate(LABEL_STUDIO_SHORT)],
        SHORT,
        columns={"item": "id", "annotator": "annotator", "label": "mood"},
    ),
    case(
        "table: CSV with cancelled annotations",
        [{**row, "was_cancelled": str(row["id"] == 3)} for row in LABEL_STUDIO_SHORT],
        "1 1 x, 1 2 y, 2 1 y",
        "1 cancelled",
        question="mood",
    ),
    *(
        case(f"another structure: {task}", [task], None, "structure of an export from Label Studio")
        for task in OTHER_STRUCTURES
    ),
]

NESTED = [
    argilla_record(
        1,
        {"mood": [{"value": "x", "user_id": "u1"}, {"value": "y", "user_id": "u2"}]},
        {"mood": {"value": "x", "score": 0.5, "agent": "model"}},
    ),
    argilla_record(2, {"mood": [{"value": "y", "user_id": "u1", "status": "discarded"}]}),
    argilla_record(3, {"mood": [{"value": ["y", "x"], "user_id": "u1"}]}),
]
FLAT = [
    {
        "id": f"r{n}",
        "text": "t",
        "mood.responses": ["x", "y"],
        "mood.responses.users": ["u1", "u2"],
        "mood.responses.status": ["submitted", "draft" if n else "submitted"],
        "mood.suggestion": "y",
        "mood.suggestion.agent": None,
        "why.responses": [f"because {n}", f"since {n}"],
        "why.responses.users": ["u1", "u2"],
    }
    for n in range(3)
]
ARGILLA = [
    case(
        "nested records",
        NESTED,
        "r1 u1 x, r1 u2 y, r1 model x, r3 u1 y",
        "1 draft or discarded response skipped",
        "1 response with several labels",
    ),
    case("no such item", NESTED, None, "record without 'name'", item="name"),
    case("another item", NESTED, "t1 u1 x, t1 u2 y, t1 model x, t3 u1 y", item="text"),
    case(
        "lines: flat records; the question with classes",
        FLAT,
        "r0 u1 x, r0 u2 y, r1 u1 x, r2 u1 x, r0 suggestion y, r1 suggestion y, r2 suggestion y",
        columns={"item": "id", "annotator": "user_id or agent", "label": "mood"},
    ),
    *(
        case(
            f"another structure: {responses}",
            [{"id": 1, "fields": {}, "responses": responses}],
            None,
            "structure of an export from Argilla",
        )
        for responses in ({"q": "x"}, [1])
    ),
]

SPAM = [prodigy_task(n, "ann", "accept" if n else "reject", label="SPAM") for n in range(2)]
MIXED = [*SPAM, *(prodigy_task(n, "ann", label="HAM") for n in range(2))]
PRODIGY = [
    case(
        "lines: choices",
        [
            prodigy_task(-7, "set-ann", accept=["x"]),
            prodigy_task(-7, "set-bob", accept=["y", "x"]),
            prodigy_task(8, "set-ann", "ignore", accept=["y"]),
            prodigy_task(8, "set-bob", "reject", accept=["y"]),
            prodigy_task(9, None, accept=[1], _annotator_id="set-cy"),
        ],
        "-7 set-ann x, -7 set-bob y, 9 set-cy 1",
        "1 ignored response skipped",
        "1 response with several labels",
    ),
    case("lines: answers about one label", SPAM, "0 ann reject, 1 ann accept"),
    case(
        "lines: answers without a label",
        [{key: value for key, value in row.items() if key != "label"} for row in SPAM],
        "0 ann reject, 1 ann accept",
    ),
    case(
        "lines: no sessions",
        [{"_input_hash": 1, "answer": "accept"}],
        None,
        "no session or annotator column",
    ),
    case("lines: spans", [prodigy_task(1, "ann", spans=[])], None, "text spans, not classes"),
    case("lines: two questions", MIXED, None, "several questions: 'SPAM', 'HAM'"),
    case("lines: one of them", MIXED, "0 ann accept, 1 ann accept", question="HAM"),
]

DOCCANO = [
    case(
        "lines: labels of several annotators",
        [{"id": 1, "label": ["x", "x", "y"]}],
        None,
        "a label occurs twice",
    ),
    case("lines: spans", [{"id": 1, "text": "a b", "label": [[0, 1, "PER"]]}], None, "text spans"),
]

VOTES = "000 w0 dog, 001 w0 cat, 002 w0 dog, 003 w0 cat, 000 w1 dog, 001 w1 cat"
IMAGES = "0.jpg w0 dog, 1.jpg w0 cat, 2.jpg w0 dog, 3.jpg w0 cat, 4.jpg w1 dog, 5.jpg w1 cat"
NO_TASKS = [{k: v for k, v in row.items() if k != "ASSIGNMENT:task_id"} for row in TOLOKA]
ONE_INPUT = [{k: v for k, v in row.items() if k != "INPUT:size"} for row in NO_TASKS]
SURE = [{**row, "OUTPUT:sure": "yes"} for row in TOLOKA]
GOLDEN = [
    {
        "INPUT:image": item,
        "OUTPUT:result": label,
        "GOLDEN:result": golden,
        "ASSIGNMENT:worker_id": worker,
    }
    for item, label, golden, worker in (
        ("1", "cat", "dog", "w"),
        ("1", "dog", "dog", "v"),
        ("2", "cat", "", "w"),
    )
]
TABS = {"by": "\t"}
TOLOKAS = [
    case("table: accepted and submitted", TOLOKA, VOTES, "2 assignments skipped", **TABS),
    case("table: two inputs", NO_TASKS, None, "'INPUT:image', 'INPUT:size'", **TABS),
    case("table: the only input", ONE_INPUT, IMAGES, **TABS),
    case("table: two outputs", SURE, None, "'result', 'sure'", "question='result'", **TABS),
    case(
        "table: the other",
        SURE,
        VOTES.replace("dog", "yes").replace("cat", "yes"),
        question="sure",
        **TABS,
    ),
    case(
        "table: no such output",
        TOLOKA,
        None,
        "did you mean 'result'",
        question="resul",
        **TABS,
    ),
    case(
        "table: golden",
        GOLDEN,
        "1 w cat, 1 v dog, 2 w cat",
        "in 'GOLDEN:result'",
        gold={"1": "dog"},
        **TABS,
    ),
]

ASSIGNMENTS = [
    mturk_assignment(1, "A1", label="x"),
    mturk_assignment(1, "A2", "Submitted", label="y"),
    mturk_assignment(1, "A3", "", label="y"),
    mturk_assignment(2, "A1", "Rejected", label="y"),
]
TICKS = [
    mturk_assignment(1, "A1", q__yes="true", q__no="false"),
    mturk_assignment(1, "A2", q__yes="false", q__no="true"),
    mturk_assignment(2, "A1", q__yes="false", q__no="false"),
]


def in_json(*documents: str, **answers: str) -> list[dict[str, str]]:
    return [
        mturk_assignment(1, f"A{n}", taskAnswers=document, **answers)
        for n, document in enumerate(documents, 1)
    ]


MTURK = [
    case(
        "table: not rejected",
        ASSIGNMENTS,
        "3X1 A1 x, 3X1 A2 y, 3X1 A3 y",
        "1 rejected assignment skipped",
    ),
    case("table: another item", ASSIGNMENTS, "u1 A1 x, u1 A2 y, u1 A3 y", item="Input.url"),
    case("table: tick boxes", TICKS, "3X1 A1 yes, 3X1 A2 no"),
    case(
        "table: tick boxes in JSON",
        in_json('[{"q":{"yes":true,"no":false}}]', '[{"q":{"yes":false,"no":true}}]'),
        "3X1 A1 yes, 3X1 A2 no",
    ),
    case(
        "table: labels in JSON",
        in_json(*(json.dumps([{"q": {"label": one}}]) for one in ("день", 'a"b"c', None))),
        '3X1 A1 день, 3X1 A2 a"b"c',
    ),
    *(
        case(
            f"table: malformed JSON {n}",
            in_json(document),
            None,
            "row 1: Answer.taskAnswers",
            "is not a JSON list of answers",
        )
        for n, document in enumerate(("[{", r'[{"q": "\ud800"}]', "[" * 100_000))
    ),
    case(
        "table: a question in JSON and in a column",
        in_json('[{"q": "x"}]', q="y"),
        None,
        "columns of the same name: 'Answer.q'",
    ),
]

PAIRS = {"1": {"ann": "cat", "bob": "dog"}, "2": {"ann": "dog"}}
JUDGED = "1 ann cat, 1 bob dog, 2 ann dog"
LISTS = [
    {"id": 1, "annotators": ["ann", "bob"], "labels": ["cat", "dog"]},
    {"id": 2, "annotators": ["ann", "eve"], "labels": ["dog", None]},
    {"id": 3, "annotators": [], "labels": []},
]
VOTED = [
    (item, [{"judge_name": judge, "label": label} for judge, label in pairs.items()])
    for item, pairs in PAIRS.items()
]
FIELDS = ["annotations", "evaluations", "crowd_labels", "x"]
JUDGES = [
    *(
        case(
            f"lists named {who} and {what}",
            [{"id": row["id"], who: row["annotators"], what: row["labels"]} for row in LISTS],
            JUDGED,
        )
        for who, what in (
            ("annotators", "labels"),
            ("workers", "answers"),
            ("annotator_ids", "label"),
        )
    ),
    case(
        "lists of other lengths, late",
        [*LISTS * 30, {**LISTS[0], "labels": ["x"]}],
        None,
        "different lengths",
    ),
    case("lists of other lengths", [*LISTS, {**LISTS[0], "labels": []}], None, "one row per"),
    *(
        case(f"objects in {name}", [{"id": item, name: votes} for item, votes in VOTED], JUDGED)
        for name in FIELDS
    ),
    case("labels by annotator", [{"id": 1, "x": PAIRS["1"]}], "1 ann cat, 1 bob dog", label="x"),
    case(
        "a field of verdicts",
        [{"id": 1, "x": {who: {"a": {"b": label}} for who, label in PAIRS["1"].items()}}],
        "1 ann cat, 1 bob dog",
        label="x.a.b",
    ),
    case(
        "no clear annotator",
        [{"id": n, "comments": [{"author": a, "score": n} for a in "xy"]} for n in range(9)],
        None,
        "'comments'",
    ),
    case(
        "one column beside nested values",
        [{"vars": f"q{n}", "grading": {"parts": [{"p": n % 2}]}} for n in range(20)],
        None,
        "column 'grading' holds nested values",
    ),
]


def classes(prefix: str, no: str, yes: str) -> list[dict[str, str]]:
    return [
        {
            "item": item,
            "annotator": who,
            **{prefix + name: yes if label == name else no for name in ("cat", "dog")},
        }
        for (item, who), label in as_cells(JUDGED).items()
    ]


ROWS = classes("", "0", "1")
INDICATORS = [
    *(
        case(f"table: {no} and {yes} after {prefix!r}", classes(prefix, no, yes), JUDGED)
        for no, yes in (("0", "1"), ("FALSE", "TRUE"), ("0.0", "1.0"))
        for prefix in ("", "label_", "class: ")
    ),
    case("table: empty cells", [*ROWS, {**ROWS[0], "item": "3", "cat": "", "dog": ""}], JUDGED),
    case(
        "table: neither 0 nor 1, late",
        [*ROWS * 400, {**ROWS[0], "cat": "2"}],
        None,
        "row 1,201: '2' in column 'cat' does not say whether the class applies",
    ),
    case(
        "table: two classes in a row",
        [{**ROWS[0], "dog": "1"}, *ROWS[1:]],
        None,
        "no column name looks like the label",
    ),
]
FORMATS = {
    "label-studio": LABEL_STUDIO,
    "argilla": ARGILLA,
    "prodigy": PRODIGY,
    "doccano": DOCCANO,
    "toloka": TOLOKAS,
    "mturk": MTURK,
    "judges": JUDGES,
    "indicators": INDICATORS,
}


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, one, id=f"{name}: {one.about}")
        for name, cases in FORMATS.items()
        for one in cases
    ],
)
def test_an_export_is_read_or_refused(name: str, case: Case) -> None:
    check_case(case)
    if case.cells is not None:
        assert read(stream(case.content), **case.options).format == name


def test_contradictory_annotations_are_missing() -> None:
    responses = read(stream(json.dumps([TWICE]))).responses
    assert labels_by_name(responses) == {}
    assert responses.repeated == 1


def test_a_column_of_labels_goes_before_columns_of_zero_and_one() -> None:
    found = read(stream("item,annotator,label,a,b\nq1,ann,x,1,0\nq1,bob,y,0,1\nq2,ann,x,1,0\n"))
    assert found.format == "long"
    assert found.responses.classes.tolist() == ["x", "y"]


def test_folders_and_archives_of_doccano_are_read(tmp_path: Path) -> None:
    files = {f"{name}.jsonl": as_json_lines(rows) for name, rows in DOCCANO_FILES.items()}
    folder = tmp_path / "export"
    folder.mkdir()
    for name, content in files.items():
        write_file(folder, name, content)
    for path in (folder, write_file(tmp_path, "export.zip", as_archive(files))):
        found = read(path)
        assert found.format == "doccano"
        assert labels_by_name(found.responses) == as_cells("1 ann x, 1 bob y, 2 bob x")
        assert has_note(found, "1 response with several labels")
        assert has_note(found, "1 empty label treated as missing")
