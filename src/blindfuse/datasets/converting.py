"""Convert the raw files of each dataset to rows of text: labels and true labels."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


class Tables(NamedTuple):
    """Labels as (item, annotator, label), and true labels as (item, label), all as text."""

    labels: list[tuple[str, str, str]]
    truth: list[tuple[str, str]]


Converter = Callable[[list[Path]], Tables]

TOXIC_SCORE = 5.0
"""A judge's score from 0 to 10 means toxic from this value on."""


def _rows(path: Path, delimiter: str, skip: int = 0) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for place, row in enumerate(csv.reader(file, delimiter=delimiter)):
            if row and place >= skip:
                yield row


def _item_first(delimiter: str, header_rows: int) -> Converter:
    """Convert a file of (item, annotator, label) and a file of (item, true label).

    The second file may repeat a row for every response to the item.
    """

    def convert(raw: list[Path]) -> Tables:
        labels = [(row[0], row[1], row[2]) for row in _rows(raw[0], delimiter, header_rows)]
        truth = {row[0]: row[1] for row in _rows(raw[1], delimiter, header_rows)}
        return Tables(labels, list(truth.items()))

    return convert


def _annotator_first(raw: list[Path]) -> Tables:
    """Convert tab-separated files of (annotator, item, label) and (item, true label)."""
    labels = [(row[1], row[0], row[2]) for row in _rows(raw[0], "\t")]
    return Tables(labels, [(row[0], row[1]) for row in _rows(raw[1], "\t")])


def _truth_in_row(raw: list[Path]) -> Tables:
    """Convert one file of (annotator, item, label, true label), optionally with a time."""
    rows = list(_rows(raw[0], ","))
    truth = {row[1]: row[3] for row in rows}
    return Tables([(row[1], row[0], row[2]) for row in rows], list(truth.items()))


def _adult(raw: list[Path]) -> Tables:
    """Convert labels of web sites: URLs ignore case and are replaced by numbered names.

    If an annotator labelled a site more than once, the last label is kept.
    """
    labels: dict[tuple[str, str], str] = {}
    names: dict[str, str] = {}
    for annotator, site, label in _rows(raw[0], "\t"):
        item = names.setdefault(site.lower(), f"site{len(names)}")
        labels[item, annotator] = label
    gold = {site.lower(): label for site, label in _rows(raw[1], "\t")}
    truth = [(names[site], label) for site, label in gold.items() if site in names]
    return Tables([(*pair, label) for pair, label in labels.items()], truth)


def _snow(raw: list[Path]) -> Tables:
    """Convert a file of Snow et al. (2008): one row per response, with the true label."""
    with raw[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    labels = [(row["orig_id"], row["!amt_worker_ids"], row["response"]) for row in rows]
    return Tables(labels, list({row["orig_id"]: row["gold"] for row in rows}.items()))


def _matrix(raw: list[Path]) -> Tables:
    """Convert a matrix ``[item, annotator]``, −1 for missing, and one true label per line."""
    labels = [
        (str(item), str(annotator), label)
        for item, row in enumerate(_rows(raw[0], " "))
        for annotator, label in enumerate(row)
        if label != "-1"
    ]
    return Tables(labels, [(str(item), row[0]) for item, row in enumerate(_rows(raw[1], " "))])


def _judges(raw: list[Path]) -> Tables:
    """Convert one file per judge, each in its own order; comments are matched by their text.

    A score that is not a number is treated as missing.
    """
    items: dict[str, str] = {}
    labels: dict[tuple[str, str], str] = {}
    truth: dict[str, str] = {}
    for path in raw:
        judge = path.name.partition("-")[2].removesuffix(".csv")
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                item = items.setdefault(row["text"], str(len(items)))
                truth.setdefault(item, row["label"])
                try:
                    score = float(row["parsed_output"])
                except ValueError:
                    continue
                labels[item, judge] = str(int(score >= TOXIC_SCORE))
    return Tables([(*pair, label) for pair, label in labels.items()], list(truth.items()))


CONVERTERS: dict[str, Converter] = {
    "adult": _adult,
    "barzan": _annotator_first,
    "bird": _item_first("\t", 0),
    "cf_amt_weather": _truth_in_row,
    "dog": _item_first("\t", 0),
    "fact_eval": _item_first(",", 1),
    "judges_toxicity": _judges,
    "labelme": _matrix,
    "product": _item_first(",", 1),
    "rte": _item_first("\t", 0),
    "sp": _truth_in_row,
    "temp": _snow,
    "trec": _item_first("\t", 0),
    "web": _item_first("\t", 0),
    "zc_in": _truth_in_row,
    "zc_us": _truth_in_row,
}
"""The converter of each crowd dataset. It takes the raw files in the order of ``sources.csv``."""
