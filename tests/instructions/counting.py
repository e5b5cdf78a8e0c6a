"""Instructions of every hot kernel per unit of work, as callgrind counts them.

    python -m tests.instructions.counting

writes counts.json anew, after a change that is meant to change them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.instructions.kernels import KERNELS

KEPT = Path(__file__).with_name("counts.json")

# One processor for all machines, of which valgrind knows every instruction; and no luck.
PROCESSOR = {
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
WORK = [sys.executable, "-m", "tests.instructions.kernels"]


def measured() -> dict[str, float]:
    """Instructions a unit: the difference of two sizes, so that what every call costs is gone."""
    with TemporaryDirectory() as folder:
        totals = _totals(Path(folder))
    found = {}
    for name, kernel in KERNELS.items():
        (few, many), units = kernel.sizes, kernel.units
        more = totals[f"{name} {many}"] - totals[f"{name} {few}"]
        found[name] = round(more / (units(many) - units(few)), 2)
    return found


def _totals(folder: Path) -> dict[str, int]:
    """Instructions by the name under which they were counted."""
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.getenv("PYTHONPATH")]))
    surroundings = os.environ | PROCESSOR | {"PYTHONPATH": paths}
    surroundings["NUMBA_CACHE_DIR"] = str(folder / "cache")
    counter = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    counter.append(f"--callgrind-out-file={folder / 'counts'}")
    for command in (WORK, counter + WORK):  # what the first one compiles, the second one loads
        subprocess.run(command, env=surroundings, capture_output=True, check=True)
    return dict(_dumped(path.read_text()) for path in folder.glob("counts.*"))


def _dumped(dump: str) -> tuple[str, int]:
    """The name and the instructions of one of callgrind's files."""
    return dump.split("Client Request: ")[1].split("\n")[0], int(dump.split("\ntotals: ")[1])


if __name__ == "__main__":
    KEPT.write_text(json.dumps(measured(), indent=2) + "\n")
