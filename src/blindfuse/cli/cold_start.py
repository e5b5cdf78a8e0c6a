"""Compile kernels in another process while this one reads files and compiles the others.

Numba compiles under a lock, so threads would not help. The kernels reach this process through the
cache on disk (``blindfuse.kernels.cache``), which waits for kernels that are being compiled.
"""

import atexit
import subprocess
import sys
from contextlib import suppress


def compile_in_background() -> None:
    """Start the other process, unless the kernels are compiled already or cannot be shared."""
    from blindfuse.kernels.cache import is_missing
    from blindfuse.kernels.sweeps import admm
    from blindfuse.kernels.threads import thread_count

    if thread_count(None) < 2 or not is_missing(admm):
        return
    with suppress(OSError):  # without another process, this one compiles everything
        process = subprocess.Popen(
            [sys.executable, "-m", "blindfuse.cli.cold_start"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(process.kill)


def main() -> None:
    """Compile what the first sweep calls, and then what fuse needs after the sweeps.

    The caller compiles the kernels that the sweep calls from the other end of the list, and then
    the sweep itself. Tables below MIN_COMPILED need no other kernels.
    """
    import numpy as np

    from blindfuse.estimators.mixed_membership import MixedMembership
    from blindfuse.kernels import sweeps
    from blindfuse.simulation import simulate
    from blindfuse.solver.problem import ResponseProblem

    block = np.full((2, 2), 0.5)
    buffers = np.eye(2), np.empty((5, 2, 2)), np.empty(4)
    sweeps.admm(np.eye(2), block.copy(), block, np.zeros((2, 2)), *buffers, None, 1e-6, 1)
    responses = simulate(30, 4, 2, np.random.default_rng(0), missing=0.3).responses
    problem = ResponseProblem(responses)
    groups, rows = problem.patterns, np.full((4, 2, 2), 0.5)
    own = *groups.by_annotator[1:], rows[0], rows[0], problem.workspace[0], groups.sizes, None
    sweeps._replace(*groups.by_annotator[0][:2], *own)
    sums = rows, problem.symbol_counts, np.empty((1, 2)), None
    sweeps._sum_all(problem.workspace[0], groups.sizes, *sums)
    sweeps.project_model(rows, np.full(2, 0.5))
    MixedMembership(max_iter=1).fit(responses)


if __name__ == "__main__":
    main()
