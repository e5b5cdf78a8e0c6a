"""Compile the slowest kernel in another process while this one reads files and compiles others.

Numba compiles under a lock, so threads would not help. The kernel reaches this process through the
cache on disk (``blindfuse.kernels.cache``), which waits for kernels that are being compiled.
"""

import atexit
import subprocess
import sys


def compile_in_background() -> None:
    """Start the other process, unless the kernel is compiled already or cannot be shared."""
    from blindfuse.kernels.cache import is_missing
    from blindfuse.kernels.sweeps import sweep_responses
    from blindfuse.kernels.threads import thread_count

    if thread_count(None) > 1 and is_missing(sweep_responses):
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(process.kill)


def main() -> None:
    """Compile the sweep of Algorithm 1 for tables of any size."""
    import numpy as np

    from blindfuse.estimators.blind_ensemble import BlindEnsemble
    from blindfuse.simulation import simulate

    responses = simulate(30, 4, 2, np.random.default_rng(0), missing=0.3).responses
    BlindEnsemble(moments="labels", max_sweeps=1, shrinkage=None)._fit_model(responses)


if __name__ == "__main__":
    main()
