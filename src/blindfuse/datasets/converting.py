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


def _rows(path: Path, delimiter: str, skip: int = 0) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for place, row in enumerate(csv.reader(file, delimiter=delimiter)):
            if row and place >= skip:
                yield row


def _columns(
    delimiter: str,
    *,
    skip: int = 0,
    labels: tuple[int, int, int] = (0, 1, 2),
    truth: tuple[int, int] = (0, 1),
) -> Converter:
    """Convert files whose columns ``labels`` are item, annotator and label.

    The last file, which may be the same, has the columns ``truth``, item and true label, and may
    repeat a row for every response to the item.
    """

    def convert(raw: list[Path]) -> Tables:
        item, annotator, label = labels
        rows = [(row[item], row[annotator], row[label]) for row in _rows(raw[0], delimiter, skip)]
        true = {row[truth[0]]: row[truth[1]] for row in _rows(raw[-1], delimiter, skip)}
        return Tables(rows, list(true.items()))

    return convert


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

    Scores from 0 to 10 mean toxic from 5 on; one that is not a number is treated as missing.
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
                labels[item, judge] = str(int(score >= 5))
    return Tables([(*pair, label) for pair, label in labels.items()], list(truth.items()))


CONVERTERS: dict[str, Converter] = {
    **dict.fromkeys(("bird", "dog", "rte", "trec", "web"), _columns("\t")),
    **dict.fromkeys(("fact_eval", "product"), _columns(",", skip=1)),
    **dict.fromkeys(
        ("cf_amt_weather", "sp", "zc_in", "zc_us"),
        _columns(",", labels=(1, 0, 2), truth=(1, 3)),
    ),
    "adult": _adult,
    "barzan": _columns("\t", labels=(1, 0, 2)),
    "judges_toxicity": _judges,
    "labelme": _matrix,
    "temp": _columns("\t", skip=1, labels=(2, 1, 3), truth=(2, 4)),
}
"""The converter of each crowd dataset. It takes the raw files in the order of ``sources.csv``."""
