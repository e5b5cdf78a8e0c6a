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
    """Compile the ADMM that the first sweep calls, and then what fuse needs after the sweeps.

    The caller meanwhile compiles the sweep, which takes as long as all of these.
    """
    import numpy as np

    from blindfuse.diagnostics.correlated_errors import score_correlated_errors
    from blindfuse.diagnostics.diagnose import diagnose
    from blindfuse.estimators.mixed_membership import MixedMembership
    from blindfuse.kernels.sweeps import admm, project_model
    from blindfuse.simulation import simulate

    block = np.full((2, 2), 0.5)
    admm(np.eye(2), block.copy(), block, np.zeros((2, 2)), np.eye(2), np.zeros((6, 2, 2)), np.zeros(4), None, 1e-6, 1)
    simulation = simulate(30, 4, 2, np.random.default_rng(0), missing=0.3)
    responses, model = simulation.responses, simulation.model
    posteriors = model.posteriors(responses)
    project_model(model.confusions.copy(), model.prior.copy())
    score_correlated_errors(responses, model, posteriors)
    MixedMembership(max_iter=1).fit(responses)
    diagnose(responses, model, posteriors)


if __name__ == "__main__":
    main()
