"""Measure the cost of distributed fitting, print it, and write docs/scale.md.

Run with ``.venv/bin/python benchmarks/engines.py``. It measures on one core what a worker does with
one partition; only the times depend on the machine.
"""

import pickle
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from blindfuse.engines.arrow import Names, encode, to_responses
from blindfuse.model.model import Model
from blindfuse.moments.statistics import MomentStatistics
from blindfuse.responses.alphabet import Alphabet
from report import Section, environment, to_text

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"

MEASURED_LABELS = 1_000_000
"""Labels in the partition that is measured."""

PARTITION_LABELS = 10_000_000
"""Labels per partition in the projections for large tables."""

ITERATIONS = 50
"""Iterations of EM in the projections for large tables."""


def simulate_partition(
    n_annotators: int, n_classes: int, labels_per_item: int
) -> tuple[pa.Table, Names]:
    """Return a partition of labels as text; random annotators label each item."""
    rng = np.random.default_rng(0)
    n_items = MEASURED_LABELS // labels_per_item
    order = np.argpartition(rng.random((n_items, n_annotators)), labels_per_item - 1, axis=1)
    annotators = order[:, :labels_per_item]
    truth = rng.integers(n_classes, size=(n_items, 1))
    correct = rng.random((n_items, labels_per_item)) < 0.7
    labels = np.where(correct, truth, rng.integers(n_classes, size=correct.shape))
    names = Names(
        np.array([f"annotator {m:05d}" for m in range(n_annotators)], dtype=object),
        Alphabet.plain(np.array([f"class {k:02d}" for k in range(n_classes)], dtype=object)),
    )
    item = np.repeat(np.arange(n_items), labels_per_item)
    table = pa.table(
        {
            "item": pa.array([f"item {n:08d}" for n in range(n_items)]).take(pa.array(item)),
            "annotator": pa.array(names.annotators).take(pa.array(annotators.ravel())),
            "label": pa.array(names.alphabet.classes).take(pa.array(labels.ravel())),
        }
    )
    return table.take(pa.array(rng.permutation(table.num_rows))), names


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the seconds per label: the best of five, after one call to compile."""
    function()
    best = np.inf
    for _ in range(5):
        started = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - started)
    return result, best / MEASURED_LABELS


class PartitionCost:
    """Seconds per label of each step, and the bytes that are sent or kept."""

    def __init__(self, n_annotators: int, n_classes: int, labels_per_item: int) -> None:
        self.shape = n_annotators, n_classes, labels_per_item
        table, names = simulate_partition(*self.shape)
        self.table_bytes = table.nbytes / MEASURED_LABELS
        codes, self.encoding = timed(lambda: encode(table, names))
        self.shuffled = codes.nbytes / MEASURED_LABELS
        partition, self.grouping = timed(lambda: to_responses(codes, names))
        self.kept = len(pickle.dumps(partition)) / MEASURED_LABELS
        model = _model(names)
        expected, self.e_step = timed(lambda: model.expected_counts(partition, threads=1))
        self.expected_bytes = len(pickle.dumps(expected))
        self.model_bytes = len(pickle.dumps(model))
        self.counting, self.moment_bytes = np.nan, 8 * _n_counts(n_annotators, n_classes)
        if self.moment_bytes < 2**26:
            counted, self.counting = timed(
                lambda: MomentStatistics.from_responses(partition, threads=1)
            )
            self.moment_bytes = len(pickle.dumps(counted))


def _model(names: Names) -> Model:
    annotators, classes = names.annotators, names.alphabet.classes
    M, K = len(annotators), len(classes)
    confusion = 0.7 * np.eye(K) + 0.3 / K
    return Model(np.tile(confusion, (M, 1, 1)), np.full(K, 1 / K), annotators, classes)


def _n_counts(M: int, K: int) -> int:
    """Size of MomentStatistics: votes, and moments of one, two and three annotators."""
    return M * K**2 + K + M * K + comb(M, 2) * K**2 + comb(M, 3) * K**3


def bytes_section(costs: list[PartitionCost]) -> Section:
    section = Section(
        "Bytes",
        [
            *("M", "K", "labels per item", "table", "shuffled", "kept"),
            *("moment counts", "model", "expected counts"),
        ],
        note="The columns “table” (as text), “shuffled” (as codes with the item's name, once) and "
        "“kept” (as the responses that stay on a worker) are bytes per label. Each partition sends "
        "its moment counts once, 8 · (MK² + K + MK + C(M,2)K² + C(M,3)K³) bytes. In each iteration "
        "of EM the model goes to each worker, and each partition sends its expected counts; both "
        "are about 8MK² bytes.",
    )
    for cost in costs:
        per_label = [f"{size:.1f}" for size in (cost.table_bytes, cost.shuffled, cost.kept)]
        sent = [f"{size:,}" for size in (cost.moment_bytes, cost.model_bytes, cost.expected_bytes)]
        section.rows.append([*(f"{n:,}" for n in cost.shape), *per_label, *sent])
    return section


def time_section(costs: list[PartitionCost]) -> Section:
    section = Section(
        "Time",
        ["M", "K", "labels per item", "E-step", "encoding", "grouping by item", "counting moments"],
        note="In nanoseconds per label on one core. Encoding, grouping and counting are done once, "
        "the E-step in every iteration. With complete responses, the E-step visits each distinct "
        "row of responses only once.",
    )
    for cost in costs:
        steps = cost.e_step, cost.encoding, cost.grouping, cost.counting
        times = [f"{1e9 * step:.1f}" if step == step else "not formed" for step in steps]
        section.rows.append([*(f"{n:,}" for n in cost.shape), *times])
    return section


def projection_section(cost: PartitionCost) -> Section:
    M, K, labels_per_item = cost.shape
    section = Section(
        f"Projection for large tables, M = {M:,}, K = {K}, {labels_per_item} labels per item",
        [
            "labels",
            "partitions",
            "shuffled once",
            "per partition",
            "kept in memory",
            "sent per iteration",
            "core hours",
        ],
        note=f"With {PARTITION_LABELS:,} labels per partition and {ITERATIONS} iterations of EM. "
        "Core hours include encoding, grouping and EM, but not reading, shuffling and the engine's "
        "own overhead; divide them by the number of cores. The partitions and their expected "
        "counts grow with the table; the model and the memory of the driver do not.",
    )
    for labels in (10**9, 10**11):
        partitions = labels // PARTITION_LABELS
        seconds = labels * (cost.encoding + cost.grouping + ITERATIONS * cost.e_step)
        section.rows.append(
            [
                f"10^{round(np.log10(labels))}",
                f"{partitions:,}",
                _size(labels * cost.shuffled),
                _size(PARTITION_LABELS * cost.shuffled),
                _size(labels * cost.kept),
                _size(partitions * cost.expected_bytes),
                f"{seconds / 3600:,.1f}",
            ]
        )
    return section


def _size(count: float) -> str:
    unit, size = next(pair for pair in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)) if count >= pair[1])
    return f"{count / size:,.1f} {unit}"


def page(sections: list[Section]) -> str:
    intro = (Path(__file__).parent / "scale.md").read_text(encoding="utf-8").strip()
    origin = "Generated by `benchmarks/engines.py`."
    parts = [intro, f"{origin} {environment()}"]
    for section in sections:
        rows = [section.header, ["---"] * len(section.header), *section.rows]
        table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
        parts += [f"### {section.title}", table, section.note]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    costs = [PartitionCost(10, 3, 10), PartitionCost(20, 5, 20), PartitionCost(1_000, 5, 5)]
    sections = [bytes_section(costs), time_section(costs), projection_section(costs[-1])]
    for section in sections:
        print(to_text(section), flush=True)
    PAGE.write_text(page(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
