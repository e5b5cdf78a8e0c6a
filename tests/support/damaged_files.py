"""Small files of every format that readers take, and what can happen to a file."""

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

from tests.readers.test_formats import (
    ANN,
    DOCCANO,
    SHORT,
    TOLOKA,
    annotation,
    argilla,
    choice,
    hit,
    prodigy,
    task,
)
from tests.readers.test_reading import WRITERS, Rows

ROWS: Rows = [
    (item, who, "yes" if (n + m) % 3 else "no")
    for n, item in enumerate(["i1", "007", "день", "1e5"])
    for m, who in enumerate(["ann", "bob", "cy"])
]
"""What the plain tables hold."""


def as_lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def as_table(rows: list[dict[str, Any]], separator: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_archive(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


WIDE = b"item,ann,bob,cy\ni1,yes,no,yes\n007,no,,no\ni3,yes,yes,\n"
NESTED = [
    argilla(
        n,
        {"mood": [{"value": "x", "user_id": "u1"}, {"value": "y", "user_id": "u2"}]},
        {"mood": {"value": "x", "score": 0.5, "agent": "model"}},
    )
    for n in range(3)
]
FLAT = [
    {"id": f"r{n}", "mood.responses": ["x", "y"], "mood.responses.users": ["u1", "u2"]}
    for n in range(3)
]
TASKS = [
    task(
        n,
        annotation(ANN, choice("x")),
        annotation(7, choice("y"), ground_truth=n == 2),
        models=[{"model_version": "m", "result": [choice("x")], "score": 0.9}],
    )
    for n in range(3)
]
JUDGES: list[dict[str, Any]] = [
    {"sample_id": f"s{n}", "judge": judge, "verdict": "AB"[n % 2], "truth": "A"}
    for n in range(4)
    for judge in ("gpt", {"name": "claude"})
]

FILES: dict[str, bytes] = {
    "commas.csv": WRITERS["CSV"](ROWS),
    "tabs.tsv": WRITERS["TSV"](ROWS),
    "semicolons.csv": WRITERS["semicolons"](ROWS),
    "lines.jsonl": WRITERS["JSONL"](ROWS),
    "list.json": WRITERS["JSON"](ROWS),
    "table.parquet": WRITERS["Parquet"](ROWS),
    "file.arrow": WRITERS["Arrow"](ROWS),
    "stream.arrow": WRITERS["Arrow stream"](ROWS),
    "packed.csv.gz": WRITERS["gzip"](ROWS),
    "wide.csv": WIDE,
    "label-studio.json": json.dumps(TASKS).encode(),
    "label-studio-short.json": json.dumps(SHORT).encode(),
    "toloka.tsv": as_table(TOLOKA, "\t"),
    "mturk.csv": as_table([hit(n, f"A{m}", label="xy"[n % 2]) for n in (1, 2) for m in (1, 2)]),
    "mturk-ticks.csv": as_table([hit(n, "A1", q__yes="true", q__no="false") for n in (1, 2)]),
    "mturk-json.csv": as_table([hit(1, "A1", taskAnswers='[{"q":{"yes":true,"no":false}}]')]),
    "prodigy.jsonl": as_lines([prodigy(n, f"s{n % 2}", accept=["x"]) for n in range(4)]),
    "argilla.json": json.dumps(NESTED).encode(),
    "argilla-flat.jsonl": as_lines(FLAT),
    "judges.jsonl": as_lines(JUDGES),
    "doccano.zip": as_archive({f"{who}.jsonl": as_lines(DOCCANO[who]) for who in DOCCANO}),
    "packed.zip": as_archive({"a.csv.gz": gzip.compress(WIDE), "b.csv": WIDE}),
}
"""Every format and every packing, by a name that says which."""

ODD: list[bytes] = [
    *(b"", b"\x00", b'"', b"'", b"\\", b",", b"\t", b"\r", b"\n\n", b"{", b"]", b"null", b"NaN"),
    *(b"true", b"-1", b"1e999", b"9" * 400, b"0x1F", b"{}", b"[]", b'""', b"[[0, 1]]", b"=1+1"),
    *(
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\xe2\x80\xa8",
        b"\x1b[2J",
    ),
    *(b"[" * 3000, b'{"a":' * 3000, b"a" * 5000, b"item", b"label", b"../x", b"\xf0\x9f\x98\x80"),
]
"""What nobody expects in a cell."""

VALUES: list[Any] = [
    *(None, True, -1, 1e308, 10**400, "", "x", [], {}, [[]], [None], {"id": None}, [{}], "\ud800"),
    *({"value": {"choices": None}}, {"a": [1, {"b": []}]}, [0, 1, "x"], "\x00", float("nan")),
]
"""What nobody expects as a value of JSON."""


def flipped(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def cut_out(data: bytes, rng: random.Random) -> bytes:
    begin, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:begin] + data[end:]


def repeated(data: bytes, rng: random.Random) -> bytes:
    begin, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[begin:]


def interrupted(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(ODD) + data[at:]


def with_an_odd_cell(data: bytes, rng: random.Random) -> bytes:
    cells = [one for one in data.replace(b"\t", b",").replace(b'"', b",").split(b",") if one]
    return data.replace(rng.choice(cells), rng.choice(ODD), rng.randint(1, 3)) if cells else data


def lines_mixed(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    act = rng.choice(["drop", "repeat", "shuffle"])
    if act == "shuffle":
        rng.shuffle(lines)
    elif lines:
        at = rng.randrange(len(lines))
        lines[at : at + 1] = [] if act == "drop" else [lines[at]] * 3
    return b"".join(lines)


def in_another_encoding(data: bytes, rng: random.Random) -> bytes:
    return data.decode(errors="replace").encode(
        rng.choice(["utf-16", "utf-16-le", "latin-1", "cp1251", "utf-32", "utf-8-sig"]), "replace"
    )


def with_an_odd_value(data: bytes, rng: random.Random) -> bytes:
    """JSON, whole or in lines, in which one value is another, or is gone."""
    try:
        lines = [json.loads(data)] if data[:1] == b"[" else list(map(json.loads, data.splitlines()))
    except (ValueError, RecursionError):
        return data
    places = [place for line in lines for place in _places(line)]
    if not places:
        return data
    holder, key = rng.choice(places)
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(VALUES)
    return "\n".join(json.dumps(line) for line in lines).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in nested lists and objects, as its holder and its key there."""
    if not isinstance(value, list | dict):
        return []
    keys = range(len(value)) if isinstance(value, list) else value
    here = [(value, key) for key in keys]
    return here + [place for holder, key in here for place in _places(holder[key])]


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [
    flipped,
    truncated,
    cut_out,
    repeated,
    interrupted,
    with_an_odd_cell,
    lines_mixed,
    in_another_encoding,
    with_an_odd_value,
]


def damaged(data: bytes, seed: int) -> bytes:
    """A file after one to three accidents."""
    rng = random.Random(seed)
    for damage in rng.choices(DAMAGES, k=rng.choice([1, 1, 2, 3])):
        data = damage(data, rng) if data else data
    return data
