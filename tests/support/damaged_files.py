"""Small files of every format that readers accept, and ways to damage a file."""

import gzip
import json
import random
import re
from collections.abc import Callable
from typing import Any

from tests.support.reader_files import WRITERS, Rows, as_archive, as_json_lines
from tests.support.set_files import FILES as SET_FILES
from tests.support.tool_exports import DOCCANO

ROWS: Rows = [
    (item, annotator, "yes" if (n + m) % 3 else "no")
    for n, item in enumerate(["i1", "007", "день", "1e5"])
    for m, annotator in enumerate(["ann", "bob", "cy"])
]
"""The responses in the long tables."""

WIDE = b"item,ann,bob,cy\ni1,yes,no,yes\n007,no,,no\ni3,yes,yes,\n"
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
    **{
        f"{number}-{file}": content
        for number, (file, content) in enumerate(SET_FILES.values())
        if not file.startswith("s.csv") or number > 6  # of tools
    },
    "judges.jsonl": as_json_lines(JUDGES),
    "doccano.zip": as_archive(
        {f"{name}.jsonl": as_json_lines(rows) for name, rows in DOCCANO.items()}
    ),
    "packed.zip": as_archive({"a.csv.gz": gzip.compress(WIDE), "b.csv": WIDE}),
}
"""Files of every format and every compression."""

ODD_BYTES: list[bytes] = [
    *(b"", b"\x00", b'"', b"'", b"\\", b",", b"\t", b"\r", b"\n\n", b"{", b"]", b"null", b"NaN"),
    *(b"true", b"-1", b"1e999", b"9" * 400, b"0x1F", b"{}", b"[]", b'""', b"[[0, 1]]", b"=1+1"),
    *(b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800"),
    *(b"\xe2\x80\xa8", b"\x1b[2J"),
    *(b"[" * 3000, b'{"a":' * 3000, b"a" * 5000, b"item", b"label", b"../x", b"\xf0\x9f\x98\x80"),
]
"""Bytes that are unusual in a cell."""

ODD_VALUES: list[Any] = [
    *(None, True, -1, 1e308, 10**400, "", "x", [], {}, [[]], [None], {"id": None}, [{}], "\ud800"),
    *({"value": {"choices": None}}, {"a": [1, {"b": []}]}, [0, 1, "x"], "\x00", float("nan")),
]
"""Values that are unusual in JSON."""


def flip_bits(data: bytes, rng: random.Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def truncate_or_repeat(data: bytes, rng: random.Random) -> bytes:
    begin, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice([data[:end], data[:begin] + data[end:], data[:end] + data[begin:]])


def insert_odd_bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(ODD_BYTES) + data[at:]


def replace_a_cell(data: bytes, rng: random.Random) -> bytes:
    cells = [cell for cell in re.split(rb'[\t",]', data) if cell]
    return (
        data.replace(rng.choice(cells), rng.choice(ODD_BYTES), rng.randint(1, 3)) if cells else data
    )


def rearrange_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    changed = [lines[:at] + lines[at + 1 :], lines[:at] + [lines[at]] * 3 + lines[at + 1 :]]
    return b"".join(rng.choice([*changed, rng.sample(lines, len(lines))]))


def change_encoding(data: bytes, rng: random.Random) -> bytes:
    encodings = ["utf-16", "utf-16-le", "latin-1", "cp1251", "utf-32", "utf-8-sig"]
    return data.decode(errors="replace").encode(rng.choice(encodings), "replace")


def replace_a_json_value(data: bytes, rng: random.Random) -> bytes:
    """Replace or remove one value of a JSON document or of JSON lines."""
    try:
        lines = [json.loads(data)] if data[:1] == b"[" else list(map(json.loads, data.splitlines()))
    except (ValueError, RecursionError):
        return data
    places = [place for line in lines for place in _places(line)]
    if not places:
        return data
    container, key = rng.choice(places)
    if rng.random() < 0.2:
        del container[key]
    else:
        container[key] = rng.choice(ODD_VALUES)
    return "\n".join(json.dumps(line) for line in lines).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in nested lists and objects, as (container, key)."""
    if not isinstance(value, list | dict):
        return []
    keys = range(len(value)) if isinstance(value, list) else value
    here = [(value, key) for key in keys]
    return here + [place for container, key in here for place in _places(container[key])]


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [
    *(flip_bits, truncate_or_repeat, insert_odd_bytes, replace_a_cell, rearrange_lines),
    *(change_encoding, replace_a_json_value),
]


def damage(data: bytes, seed: int) -> bytes:
    """Return the file with one to three random damages."""
    rng = random.Random(seed)
    for change in rng.choices(DAMAGES, k=rng.choice([1, 1, 2, 3])):
        data = change(data, rng) if data else data
    return data
