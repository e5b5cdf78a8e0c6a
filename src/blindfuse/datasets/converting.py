"""From each raw format to rows of item, annotator, label; and of item, label for the truth."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple


class Tables(NamedTuple):
    """Labels as (item, annotator, label) and the truth as (item, label), all of it text."""

    labels: list[tuple[str, str, str]]
    truth: list[tuple[str, str]]


Converter = Callable[[list[Path]], Tables]

TOXIC = 5.0
"""The score from which a judge, who scores 0 to 10, says toxic."""


def _rows(path: Path, delimiter: str, skip: int = 0) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for place, row in enumerate(csv.reader(file, delimiter=delimiter)):
            if row and place >= skip:
                yield row


def _item_first(delimiter: str, header: int) -> Converter:
    """Two files: item, annotator, label; item, label, which may come once per answer."""

    def convert(raw: list[Path]) -> Tables:
        labels = [(row[0], row[1], row[2]) for row in _rows(raw[0], delimiter, header)]
        truth = {row[0]: row[1] for row in _rows(raw[1], delimiter, header)}
        return Tables(labels, list(truth.items()))

    return convert


def _annotator_first(raw: list[Path]) -> Tables:
    """Two files with tabs: annotator, item, label; item, label."""
    labels = [(row[1], row[0], row[2]) for row in _rows(raw[0], "\t")]
    return Tables(labels, [(row[0], row[1]) for row in _rows(raw[1], "\t")])


def _truth_in_line(raw: list[Path]) -> Tables:
    """One file: annotator, item, label, truth, and perhaps a time."""
    rows = list(_rows(raw[0], ","))
    truth = {row[1]: row[3] for row in rows}
    return Tables([(row[1], row[0], row[2]) for row in rows], list(truth.items()))


def _adult(raw: list[Path]) -> Tables:
    """Sites differ by more than case, the last of repeated answers counts, sites get numbers."""
    answers: dict[tuple[str, str], str] = {}
    number: dict[str, str] = {}
    for annotator, site, label in _rows(raw[0], "\t"):
        item = number.setdefault(site.lower(), f"site{len(number)}")
        answers[item, annotator] = label
    gold = {site.lower(): label for site, label in _rows(raw[1], "\t")}
    truth = [(number[site], label) for site, label in gold.items() if site in number]
    return Tables([(*pair, label) for pair, label in answers.items()], truth)


def _snow(raw: list[Path]) -> Tables:
    """Snow et al. (2008): one line an answer, with the truth."""
    with raw[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    labels = [(row["orig_id"], row["!amt_worker_ids"], row["response"]) for row in rows]
    return Tables(labels, list({row["orig_id"]: row["gold"] for row in rows}.items()))


def _matrix(raw: list[Path]) -> Tables:
    """A matrix of items by annotators, −1 where there is no answer; the truth line by line."""
    labels = [
        (str(item), str(annotator), label)
        for item, row in enumerate(_rows(raw[0], " "))
        for annotator, label in enumerate(row)
        if label != "-1"
    ]
    return Tables(labels, [(str(item), row[0]) for item, row in enumerate(_rows(raw[1], " "))])


def _judges(raw: list[Path]) -> Tables:
    """One file a judge, in orders of their own: a comment is known by its text.

    A score that is no number is no answer.
    """
    number: dict[str, str] = {}
    labels: dict[tuple[str, str], str] = {}
    truth: dict[str, str] = {}
    for path in raw:
        judge = path.name.partition("-")[2].removesuffix(".csv")
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                item = number.setdefault(row["text"], str(len(number)))
                truth.setdefault(item, row["label"])
                try:
                    score = float(row["parsed_output"])
                except ValueError:
                    continue
                labels[item, judge] = str(int(score >= TOXIC))
    return Tables([(*pair, label) for pair, label in labels.items()], list(truth.items()))


CONVERTERS: dict[str, Converter] = {
    "adult": _adult,
    "barzan": _annotator_first,
    "bird": _item_first("\t", 0),
    "cf_amt_weather": _truth_in_line,
    "dog": _item_first("\t", 0),
    "fact_eval": _item_first(",", 1),
    "judges_toxicity": _judges,
    "labelme": _matrix,
    "product": _item_first(",", 1),
    "rte": _item_first("\t", 0),
    "sp": _truth_in_line,
    "temp": _snow,
    "trec": _item_first("\t", 0),
    "web": _item_first("\t", 0),
    "zc_in": _truth_in_line,
    "zc_us": _truth_in_line,
}
"""How each set's raw files, in the order of ``sources.csv``, become tables."""
