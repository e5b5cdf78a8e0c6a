"""Measure what labels on many machines cost, print it, and write docs/scale.md.

Run with ``.venv/bin/python benchmarks/engines.py``. Everything that a worker does with a partition
is done here with one, on one core; nothing but time depends on the machine.
"""

import pickle
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindfuse.engines.arrow import Names, codes_of, gathered, hashed
from blindfuse.model.model import Model
from blindfuse.moments.moment_statistics import MomentStatistics
from blindfuse.responses.responses import Responses
from report import Section, environment, to_text

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"

LABELS = 1_000_000
"""In the partition that is measured."""

PARTITION = 10_000_000
"""Labels in a partition of the tables to come."""

ROUNDS = 50
"""Of EM, in what is foretold."""


def drawn(n_annotators: int, n_classes: int, per_item: int) -> tuple[pa.Table, Names]:
    """A partition of labels as text: each item is labelled by annotators drawn for it."""
    rng = np.random.default_rng(0)
    n_items = LABELS // per_item
    who = np.argpartition(rng.random((n_items, n_annotators)), per_item - 1, axis=1)[:, :per_item]
    truth = rng.integers(n_classes, size=(n_items, 1))
    right = rng.random((n_items, per_item)) < 0.7
    labels = np.where(right, truth, rng.integers(n_classes, size=right.shape))
    names = Names(
        np.array([f"annotator {m:05d}" for m in range(n_annotators)], dtype=object),
        np.array([f"class {k:02d}" for k in range(n_classes)], dtype=object),
    )
    item = np.repeat(np.arange(n_items), per_item)
    table = pa.table(
        {
            "item": pa.array([f"item {n:08d}" for n in range(n_items)]).take(pa.array(item)),
            "annotator": pa.array(names.annotators).take(pa.array(who.ravel())),
            "label": pa.array(names.classes).take(pa.array(labels.ravel())),
        }
    )
    return table.take(pa.array(rng.permutation(table.num_rows))), names


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and seconds a label: the best of five, after one that compiles."""
    work()
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    return result, best / LABELS


class Measured:
    """One crowd: seconds a label of each step, and bytes of all that travels or stays."""

    def __init__(self, n_annotators: int, n_classes: int, per_item: int) -> None:
        self.shape = n_annotators, n_classes, per_item
        table, names = drawn(*self.shape)
        self.table_bytes = table.nbytes / LABELS
        coded, self.coding = timed(lambda: _coded(table, names))
        self.shuffled = coded.nbytes / LABELS
        part, self.sorting = timed(lambda: _part(coded, names))
        self.kept = len(pickle.dumps(part)) / LABELS
        model = _model(names)
        sums, self.e_step = timed(lambda: model.sums(part, threads=1))
        self.sums_bytes = len(pickle.dumps(sums))
        self.model_bytes = len(pickle.dumps(model))
        self.counting, self.counted_bytes = np.nan, 8 * _counts(n_annotators, n_classes)
        if self.counted_bytes < 2**26:
            counted, self.counting = timed(lambda: MomentStatistics.of(part, threads=1))
            self.counted_bytes = len(pickle.dumps(counted))


def _coded(table: pa.Table, names: Names) -> pa.Table:
    return pa.table(
        {
            "item": table["item"],
            "annotator": codes_of(table["annotator"], names.annotators, "Annotators"),
            "label": codes_of(table["label"], names.classes, "Labels").astype(np.int16),
        }
    )


def _part(coded: pa.Table, names: Names) -> Responses:
    items, annotators, labels = coded.columns
    return hashed(*gathered(items, annotators.to_numpy(), labels.to_numpy(), names))


def _model(names: Names) -> Model:
    M, K = map(len, names)
    confusion = 0.7 * np.eye(K) + 0.3 / K
    return Model(np.tile(confusion, (M, 1, 1)), np.full(K, 1 / K), *names)


def _counts(M: int, K: int) -> int:
    """Numbers in Counted: votes, and moments of one, two and three annotators."""
    return M * K**2 + K + M * K + comb(M, 2) * K**2 + comb(M, 3) * K**3


def bytes_section(measured: list[Measured]) -> Section:
    section = Section(
        "Bytes",
        ["M", "K", "labels an item", "table", "shuffled", "kept", "counts", "model", "sums"],
        note="Table, shuffled and kept are bytes a label: as text, as codes with the item's name "
        "(once, by item), and as the answers that stay on a worker. Counts travel once from each "
        "partition, and are 8 · (MK² + K + MK + C(M,2)K² + C(M,3)K³) bytes; the model goes to each "
        "worker and the sums come from each partition in every round, both about 8MK² bytes.",
    )
    for one in measured:
        per_label = [f"{size:.1f}" for size in (one.table_bytes, one.shuffled, one.kept)]
        sent = [f"{size:,}" for size in (one.counted_bytes, one.model_bytes, one.sums_bytes)]
        section.rows.append([*(f"{n:,}" for n in one.shape), *per_label, *sent])
    return section


def time_section(measured: list[Measured]) -> Section:
    section = Section(
        "Time",
        ["M", "K", "labels an item", "E-step", "coding", "sorting by item", "counting"],
        note="In nanoseconds a label on one core of the machine that measured. Coding, sorting and "
        "counting are done once, an E-step in every round; where every annotator answers every "
        "item, it looks at different answers only.",
    )
    for one in measured:
        costs = one.e_step, one.coding, one.sorting, one.counting
        each = [f"{1e9 * cost:.1f}" if cost == cost else "not formed" for cost in costs]
        section.rows.append([*(f"{n:,}" for n in one.shape), *each])
    return section


def needs_section(one: Measured) -> Section:
    M, K, per_item = one.shape
    section = Section(
        f"What large tables need, M = {M:,}, K = {K}, {per_item} labels an item",
        [
            "labels",
            "partitions",
            "shuffled once",
            "by a partition",
            "kept in memory",
            "a round sends",
            "core hours",
        ],
        note=f"With {PARTITION:,} labels a partition and {ROUNDS} rounds of EM. Core hours are "
        "those of our own work, coding and sorting included, without reading, shuffling and the "
        "engine's own; divide by cores for hours. Partitions and sums grow with the table, the "
        "model and what the driver holds do not.",
    )
    for labels in (10**9, 10**11):
        partitions = labels // PARTITION
        seconds = labels * (one.coding + one.sorting + ROUNDS * one.e_step)
        section.rows.append(
            [
                f"10^{round(np.log10(labels))}",
                f"{partitions:,}",
                _size(labels * one.shuffled),
                _size(PARTITION * one.shuffled),
                _size(labels * one.kept),
                _size(partitions * one.sums_bytes),
                f"{seconds / 3600:,.1f}",
            ]
        )
    return section


def _size(count: float) -> str:
    unit, size = next(pair for pair in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)) if count >= pair[1])
    return f"{count / size:,.1f} {unit}"


def page(sections: list[Section]) -> str:
    intro = (Path(__file__).parent / "scale.md").read_text(encoding="utf-8").strip()
    origin = "Written by `benchmarks/engines.py`; no number in the tables is typed by hand."
    parts = [intro, f"{origin} {environment()}"]
    for section in sections:
        rows = [section.header, ["---"] * len(section.header), *section.rows]
        table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        parts += [f"### {section.title}", table, section.note]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    measured = [Measured(10, 3, 10), Measured(20, 5, 20), Measured(1_000, 5, 5)]
    sections = [bytes_section(measured), time_section(measured), needs_section(measured[-1])]
    for section in sections:
        print(to_text(section), flush=True)
    PAGE.write_text(page(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
