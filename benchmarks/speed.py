"""Cost: sweeps saved by acceleration, a fit in majority votes, growth with labels, imports."""

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindEnsemble, NotConverged, simulate
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import LabelProblem, Settings
from blindfuse.solver.solve import Options, solve
from children import peak_of
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2
from report import Check, Section


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least of several runs, after one that compiles."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def acceleration() -> Section:
    """Anderson's mix against the paper's plain alternation, each run until it stops by itself."""
    section = Section(
        "Anderson acceleration against plain alternation, 3 seeds each",
        ["setting", "N", "sweeps", "plain sweeps", "fewer", "less time", "objective / plain"],
    )
    fewer: list[float] = []
    faster: list[float] = []
    objectives: list[float] = []
    unfinished: list[float] = []
    for setting in (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4):
        for n_items in (10**4, 10**5):
            for seed in range(3):
                responses = setting.draw(n_items, seed).responses
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NotConverged)
                    mixed, plain = (
                        solve(responses, options, np.random.default_rng(0)).trace
                        for options in (
                            Options(tolerance=1e-6, max_sweeps=5000),
                            Options(acceleration=None, tolerance=1e-8, max_sweeps=20_000),
                        )
                    )
                fewer.append(plain.sweeps / mixed.sweeps)
                faster.append(float(plain.seconds.sum() / mixed.seconds.sum()))
                ratio = float(mixed.objective.min() / plain.objective.min())
                (objectives if plain.converged else unfinished).append(ratio)
                if seed == 0:
                    sweeps = f"{mixed.sweeps:,}", f"{plain.sweeps:,}"
                    gains = f"{fewer[-1]:.0f} ×", f"{faster[-1]:.0f} ×", f"{ratio:.5f}"
                    section.rows.append([setting.name, f"{n_items:,}", *sweeps, *gains])
    section.checks = [
        Check("median ratio of sweeps", median(fewer), 10, at_most=False),
        Check("median ratio of time", median(faster), 10, at_most=False),
        Check("largest objective over that of converged plain alternation", max(objectives), 1.001),
    ]
    if unfinished:
        section.note = (
            f"Plain alternation did not converge within 20,000 sweeps in {len(unfinished)} of "
            f"{len(unfinished) + len(objectives)} runs; there, the accelerated objective is "
            f"{min(unfinished):.4f} to {max(unfinished):.4f} of what it had reached."
        )
    return section


def numpy_vote(matrix: NDArray[np.int8], n_classes: int) -> NDArray[np.intp]:
    """The fastest vectorised majority vote that we know in NumPy."""
    cells = np.arange(len(matrix))[:, None] * n_classes + matrix
    votes = np.bincount(cells.ravel(), minlength=len(matrix) * n_classes)
    return np.asarray(votes.reshape(-1, n_classes).argmax(axis=1))


def majority_votes() -> Section:
    """A whole fit of a plain array, in majority votes of it; memory in a process of its own."""
    section = Section(
        "Cost of a whole fit (counting, solving, labelling), K = 5, N = 1,000,000",
        ["M", "measured", "value"],
    )
    matrix = np.array(FIGURE_3.draw(10**6, 0).responses.matrix())
    vote = seconds(lambda: numpy_vote(matrix, 5), repeats=15)
    fit = seconds(lambda: BlindEnsemble().fit(matrix), repeats=15)
    section.rows.append(["10", "in NumPy majority votes", f"{fit / vote:.1f}"])
    section.checks.append(Check("M = 10: a fit in NumPy majority votes", fit / vote, 6))
    code = """
import numpy as np
from blindfuse import BlindEnsemble, simulate
matrix = np.array(simulate(10**6, 30, 5, np.random.default_rng(0)).responses.matrix())
BlindEnsemble().fit(matrix)
"""
    gigabytes = peak_of(code) / 1024
    section.rows.append(["30", "peak memory of simulating and fitting, GiB", f"{gigabytes:.2f}"])
    section.checks.append(Check("M = 30: peak memory in GiB", gigabytes, 1.5))
    return section


def linear() -> Section:
    """Time of a label-direct sweep against the number of labels; no two items alike."""
    section = Section(
        "A sweep straight from labels, 500 annotators, 10 labels an item, K = 4",
        ["labels", "time per label, relative"],
    )
    costs = []
    for n_responses in (10**5, 10**6, 10**7):
        rng = np.random.default_rng(0)
        responses = simulate(n_responses // 10, 500, 4, rng, missing=0.98).responses
        votes = count_votes(responses)
        problem = LabelProblem(responses)
        factors = Factors.begin(vote_confusions(votes.counts), votes.totals / votes.totals.sum())
        spent = seconds(lambda p=problem, f=factors: p.sweep(f, Settings()))  # type: ignore[misc]
        costs.append(spent / responses.n_responses)
    for n_responses, cost in zip((10**5, 10**6, 10**7), costs, strict=True):
        section.rows.append([f"{n_responses:,}", f"{cost / costs[0]:.2f}"])
    section.checks.append(
        Check("largest over smallest time per label", max(costs) / min(costs), 1.5)
    )
    return section


def imports() -> Section:
    """What ``import blindfuse`` costs and loads."""
    section = Section("import blindfuse", ["measured", "value"])
    code = """
import sys, time
began = time.perf_counter()
import blindfuse
print(time.perf_counter() - began, len({"numba", "polars", "sklearn"} & set(sys.modules)))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(5)
    ]
    took = min(float(run[0]) for run in runs)
    heavy = float(runs[0][1])
    section.rows = [["seconds", f"{took:.3f}"], ["heavy modules loaded", f"{heavy:.0f}"]]
    section.checks = [
        Check("seconds", took, 0.3),
        Check("numba, polars, sklearn loaded", heavy, 0),
    ]
    return section
