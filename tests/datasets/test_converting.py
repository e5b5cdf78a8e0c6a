"""Conversion of raw files to the documented layout.

The files in the shared folder were converted from the pinned files. The tests write them back in
the raw format; with the pinned hash, they are the original files, byte by byte.
"""

import csv
import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest

from blindfuse.datasets import load
from blindfuse.datasets.converting import CONVERTERS
from blindfuse.datasets.downloading import PinnedFile, pinned_files
from tests.conftest import SHARED
from tests.datasets.conftest import Server

# pooch leaves the socket of a broken connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Rows = list[dict[str, str]]


def shared_tables(name: str) -> tuple[Rows, Rows]:
    folder = SHARED / "crowd" / name
    if not folder.is_dir():
        pytest.skip(f"the dataset {name!r} is not in the shared folder")
    found = []
    for table in ("labels", "truth"):
        with gzip.open(folder / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            found.append(list(csv.DictReader(file)))
    return found[0], found[1]


def raw_texts(name: str) -> list[list[str]]:
    """Write the shared tables as the lines of the raw files."""
    labels, truth = shared_tables(name)
    true = {row["item"]: row["label"] for row in truth}
    if name == "sp":  # annotators first, and true labels beside the responses
        order = ("annotator", "item", "label")
        return [[",".join([*(row[c] for c in order), true[row["item"]]]) for row in labels]]
    if name == "labelme":
        cells = [["-1"] * 59 for _ in truth]
        for row in labels:
            cells[int(row["item"])][int(row["annotator"])] = row["label"]
        return [[" ".join(row) for row in cells], list(true.values())]
    if name == "dog":  # its true labels are repeated for every response
        truth = [{"item": row["item"], "label": true[row["item"]]} for row in labels]
    headers = {
        "product": (["question,worker,answer"], ["question,truth"]),
        "fact_eval": (["item,worker,label"], ["item,truth"]),
    }
    separator = "," if name in headers else "\t"
    first = ("annotator", "item") if name == "barzan" else ("item", "annotator")
    columns = ((labels, (*first, "label")), (truth, ("item", "label")))
    return [
        [*header, *(separator.join(row[column] for column in names) for row in rows)]
        for header, (rows, names) in zip(headers.get(name, ([], [])), columns, strict=True)
    ]


RAW = ("bird", "trec", "rte", "web", "dog", "fact_eval", "product", "barzan", "sp", "labelme")


def bytes_with_pinned_hash(lines: list[str], file: PinnedFile) -> bytes:
    for ending in ("\n", "\r\n"):
        for last in (ending, ""):
            body = (ending.join(lines) + last).encode()
            if hashlib.sha256(body).hexdigest() == file.sha256:
                assert len(body) == file.bytes
                return body
    raise AssertionError(f"{file.path} cannot be written with its pinned hash")


@pytest.mark.parametrize("name", RAW)
def test_pinned_files_give_the_shared_tables(server: Server, name: str) -> None:
    for lines, file in zip(raw_texts(name), pinned_files()[name], strict=True):
        server.put(file, bytes_with_pinned_hash(lines, file))
    converted, shared = load(name), load(name, SHARED)
    assert len(server.requested) == len(pinned_files()[name])
    for attribute in ("items", "annotators", "classes"):
        names, expected = (getattr(crowd.responses, attribute) for crowd in (converted, shared))
        assert names.tolist() == expected.tolist()
    assert converted.truth.tolist() == shared.truth.tolist()
    assert converted.responses.by_item.codes.tolist() == shared.responses.by_item.codes.tolist()
    assert converted.responses.by_item.symbols.tolist() == shared.responses.by_item.symbols.tolist()


def convert(name: str, folder: Path, *texts: str, names: tuple[str, ...] = ()) -> Any:
    raw = []
    for place, text in enumerate(texts):
        raw.append(folder / (names[place] if names else str(place)))
        raw[-1].write_text(text, encoding="utf-8")
    return CONVERTERS[name](raw)


def test_adult_ignores_the_case_of_urls_and_keeps_the_last_label(tmp_path: Path) -> None:
    labels = "w1\thttp://A.com\tG\nw2\thttp://b.com\tX\nw1\thttp://a.com\tP\n"
    gold = "http://B.com\tX\nhttp://never-seen.com\tG\nhttp://a.COM\tP\n"
    tables = convert("adult", tmp_path, labels, gold)
    assert tables.labels == [("site0", "w1", "P"), ("site1", "w2", "X")]
    assert tables.truth == [("site1", "X"), ("site0", "P")]


def test_true_labels_in_every_row_are_read_once(tmp_path: Path) -> None:
    snow = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\nx\tw\t4_0\t1\t2\n"
    assert convert("temp", tmp_path, snow) == ([("4_0", "w", "1")], [("4_0", "2")])
    timed = "w,81,0,2,14\nv,81,1,2,5\n"
    assert convert("cf_amt_weather", tmp_path, timed) == (
        [("81", "w", "0"), ("81", "v", "1")],
        [("81", "2")],
    )


def test_judges_are_joined_by_text_and_scores_that_are_not_numbers_are_missing(
    tmp_path: Path,
) -> None:
    one = (
        'raw_output,parsed_output,model,text,label\nx,5.0,m,"a, b",1\nx,Answer:::,m,c,0\nx,,m,d,0\n'
    )
    two = "text,label,raw_output,parsed_output,model\nc,0,x,4.9,m\nd,0,x,9,m\n"
    tables = convert(
        "judges_toxicity", tmp_path, one, two, names=("00-Judge-1.csv", "01-Judge-2b.csv")
    )
    assert tables.labels == [("0", "Judge-1", "1"), ("1", "Judge-2b", "0"), ("2", "Judge-2b", "1")]
    assert tables.truth == [("0", "1"), ("1", "0"), ("2", "0")]
