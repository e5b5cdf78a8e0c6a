"""The work whose instructions are counted: each hot kernel on a small and on a large input.

Run under callgrind by ``counting.py``. Kernels are called as the library calls them, in one thread.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from blindfuse.kernels.hash_codes import factorize_hashes
from blindfuse.model.posteriors import count_votes, expected_counts
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.moments.counts import MomentCounts
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import sort_into_rows
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import MomentProblem, Problem, ResponseProblem, Settings
from tests.instructions.counter import count

Work = Callable[[], object]


@dataclass(frozen=True)
class Kernel:
    """The work that is counted: ``work(size)`` processes ``units(size)`` units."""

    unit: str
    work: Callable[[int], Work]
    units: Callable[[int], int]
    sizes: tuple[int, int]


def crowd(n_items: int, n_annotators: int, n_classes: int) -> Responses:
    """Responses with an accuracy of at least two thirds, the same in every run."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=(n_items, 1))
    guesses = rng.integers(n_classes, size=(n_items, n_annotators))
    correct = rng.random((n_items, n_annotators)) < 2 / 3
    return Responses.from_matrix(np.where(correct, truth, guesses), classes=np.arange(n_classes))


def counting(n_items: int) -> Work:
    """With this many annotators, AND and popcount for triples take most instructions."""
    return partial(MomentCounts.count, crowd(n_items, 16, 5), threads=1)


def e_step(n_items: int) -> Work:
    """From 5,000 items on, responses are packed, here into pairs of codes."""
    responses = crowd(n_items, 10, 5)
    votes = count_votes(responses, threads=1)
    start, prior = vote_confusions(votes.counts), votes.totals / votes.totals.sum()
    return partial(expected_counts, responses, start, prior, threads=1)


def moment_sweep(n_annotators: int) -> Work:
    responses = crowd(500, n_annotators, 4)
    counts = MomentCounts.count(responses, threads=1)
    return _sweep(MomentProblem(counts.moments(), "counts"), responses)


def response_sweep(n_items: int) -> Work:
    responses = crowd(n_items, 8, 4)
    return _sweep(ResponseProblem(responses), responses)


def _sweep(problem: Problem, responses: Responses) -> Work:
    votes = count_votes(responses, threads=1)
    factors = Factors.pack(vote_confusions(votes.counts), votes.totals / votes.totals.sum())
    return partial(problem.sweep, factors, Settings())


def factorizing(n_hashes: int) -> Work:
    rng = np.random.default_rng(0)
    values = rng.integers(2**64, size=300, dtype=np.uint64)
    return partial(factorize_hashes, values[rng.integers(300, size=n_hashes)])


def sorting(n_responses: int) -> Work:
    rng = np.random.default_rng(0)
    rows = rng.integers(1000, size=n_responses).astype(np.int32)
    symbols = rng.integers(5, size=n_responses).astype(np.int8)
    return partial(sort_into_rows, rows, rows[::-1].copy(), symbols, 1000)


KERNELS = {
    "moment_counts.count_tuples": Kernel("response", counting, lambda n: 16 * n, (2**14, 2**15)),
    "posteriors.model_counts": Kernel("response", e_step, lambda n: 10 * n, (2000, 4000)),
    "posteriors.packed_pair_counts": Kernel("response", e_step, lambda n: 10 * n, (40_000, 80_000)),
    "sweeps.sweep_moments": Kernel(
        "third moment", moment_sweep, lambda m: m * (m - 1) * (m - 2) // 2 * 4**3, (6, 12)
    ),
    "sweeps.sweep_responses": Kernel("response", response_sweep, lambda n: 8 * n, (4000, 8000)),
    "hash_codes.factorize_hashes": Kernel("hash", factorizing, lambda n: n, (20_000, 60_000)),
    "sorting.scatter": Kernel("response", sorting, lambda n: n, (20_000, 60_000)),
}


def main() -> None:
    for name, kernel in KERNELS.items():
        for size in kernel.sizes:
            work = kernel.work(size)
            work()  # compiles, or loads compiled code
            count(f"{name} {size}", work)


if __name__ == "__main__":
    main()
