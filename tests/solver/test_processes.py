"""The same iterations in every process, whether or not it compiled the kernels itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOLVE = """
import warnings
import numpy as np
from blindfuse import BlindEnsemble, simulate
warnings.simplefilter("ignore")
responses = simulate(300, 12, 3, np.random.default_rng(0), missing=0.5).responses
trace = BlindEnsemble(moments={moments!r}, max_sweeps=60, tolerance=0.0).fit(responses).trace_
print(" ".join(value.hex() for value in trace.objective.tolist()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moments", ["counts", "labels"])
def test_sweeps_do_not_depend_on_which_process_compiled_them(moments: str, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", SOLVE.format(moments=moments)]
    compiling, loading = (
        subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert compiling == loading
    assert len(compiling.split()) == 60
