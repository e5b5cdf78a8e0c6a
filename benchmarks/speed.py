"""Speed: acceleration, a whole fit, sweeps over sparse responses, and imports."""

import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindEnsemble, NotConverged, fuse, simulate
from blindfuse.solver.solve import Options, solve
from children import peak_memory_of
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2
from report import Check, Section


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of several calls, after one to compile."""
    function()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def acceleration() -> Section:
    """Anderson acceleration and the paper's plain alternation, both until they stop."""
    section = Section(
        "Anderson acceleration compared with plain alternation, 3 seeds each",
        [
            *("setting", "N", "sweeps", "plain sweeps"),
            *("ratio of sweeps", "ratio of time", "objective / plain"),
        ],
    )
    sweep_ratios: list[float] = []
    time_ratios: list[float] = []
    objectives: list[float] = []
    unconverged: list[float] = []
    for setting in (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4):
        for n_items in (10**4, 10**5):
            for seed in range(3):
                responses = setting.draw(n_items, seed).responses
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NotConverged)
                    accelerated, plain = (
                        solve(responses, options, np.random.default_rng(0)).trace
                        for options in (
                            Options(tolerance=1e-6, max_sweeps=5000),
                            Options(acceleration=None, tolerance=1e-8, max_sweeps=20_000),
                        )
                    )
                sweep_ratios.append(plain.sweeps / accelerated.sweeps)
                time_ratios.append(float(plain.seconds.sum() / accelerated.seconds.sum()))
                ratio = float(accelerated.objective.min() / plain.objective.min())
                (objectives if plain.converged else unconverged).append(ratio)
                if seed == 0:
                    sweeps = f"{accelerated.sweeps:,}", f"{plain.sweeps:,}"
                    gains = f"{sweep_ratios[-1]:.0f} ×", f"{time_ratios[-1]:.0f} ×", f"{ratio:.5f}"
                    section.rows.append([setting.name, f"{n_items:,}", *sweeps, *gains])
    section.checks = [
        Check("median ratio of sweeps", median(sweep_ratios), 10, at_most=False),
        Check("median ratio of time", median(time_ratios), 10, at_most=False),
        Check("largest objective / that of converged plain alternation", max(objectives), 1.001),
    ]
    if unconverged:
        section.note = (
            f"Plain alternation did not converge within 20,000 sweeps in {len(unconverged)} of "
            f"{len(unconverged) + len(objectives)} runs; in these runs the accelerated "
            f"objective is {min(unconverged):.4f} to {max(unconverged):.4f} times the plain one."
        )
    return section


def numpy_vote(matrix: NDArray[np.int8], n_classes: int) -> NDArray[np.intp]:
    """Return the majority vote, by the fastest vectorised NumPy code known to us."""
    cells = np.arange(len(matrix))[:, None] * n_classes + matrix
    votes = np.bincount(cells.ravel(), minlength=len(matrix) * n_classes)
    return np.asarray(votes.reshape(-1, n_classes).argmax(axis=1))


def vote_by_comparisons(matrix: NDArray[np.int8], n_classes: int) -> NDArray[np.intp]:
    """Return the majority vote as most people would write it."""
    votes = np.stack([(matrix == k).sum(axis=1) for k in range(n_classes)], axis=1)
    return np.asarray(votes.argmax(axis=1))


def majority_votes() -> Section:
    """The time of a whole fit relative to a majority vote, and its memory in a new process."""
    section = Section(
        "Cost of a whole fit (counting, solving, labelling), K = 5, N = 1,000,000",
        ["M", "measured", "value"],
    )
    matrix = np.array(FIGURE_3.draw(10**6, 0).responses.matrix())
    vote = seconds(lambda: numpy_vote(matrix, 5), repeats=15)
    fit = seconds(lambda: BlindEnsemble().fit(matrix), repeats=15)
    section.rows.append(["10", "time / time of a NumPy majority vote", f"{fit / vote:.1f}"])
    section.checks.append(Check("M = 10: time / time of a NumPy majority vote", fit / vote, 6))
    responses = simulate(10**6, 10, 5, np.random.default_rng(0)).responses
    reported = np.ascontiguousarray(responses.matrix())
    vote = seconds(lambda: vote_by_comparisons(reported, 5), repeats=9)
    calls = {
        "fuse": lambda: fuse(responses),
        "with diagnostics": lambda: fuse(responses).diagnostics,
    }
    for (name, call), limit in zip(calls.items(), (3.5, 7), strict=True):
        ratio = seconds(call, repeats=9) / vote
        name = f"{name}: time / time of a vote by comparisons"
        section.rows.append(["10", name, f"{ratio:.1f}"])
        section.checks.append(Check(name, ratio, limit))
    code = """
import numpy as np
from blindfuse import BlindEnsemble, simulate
matrix = np.array(simulate(10**6, 30, 5, np.random.default_rng(0)).responses.matrix())
BlindEnsemble().fit(matrix)
"""
    gibibytes = peak_memory_of(code) / 1024
    section.rows.append(["30", "peak memory of simulation and fit, GiB", f"{gibibytes:.2f}"])
    section.checks.append(Check("M = 30: peak memory in GiB", gibibytes, 1.5))
    return section
