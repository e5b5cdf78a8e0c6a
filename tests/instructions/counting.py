"""Instructions of every hot kernel per unit of work, counted by callgrind.

    python -m tests.instructions.counting

writes new reference counts to counts.json, after an intended change.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.instructions.kernels import KERNELS

REFERENCE = Path(__file__).with_name("counts.json")

# The same instruction set on every machine, one that valgrind supports, and fixed hashes.
PROCESSOR = {
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
WORK = [sys.executable, "-m", "tests.instructions.kernels"]


def measured() -> dict[str, float]:
    """Instructions per unit: the difference of two sizes, which removes the cost of a call."""
    with TemporaryDirectory() as folder:
        totals = _totals(Path(folder))
    counts = {}
    for name, kernel in KERNELS.items():
        (few, many), units = kernel.sizes, kernel.units
        more = totals[f"{name} {many}"] - totals[f"{name} {few}"]
        counts[name] = round(more / (units(many) - units(few)), 2)
    return counts


def _totals(folder: Path) -> dict[str, int]:
    """Instructions by the name of the work and its size."""
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.getenv("PYTHONPATH")]))
    environment = os.environ | PROCESSOR | {"PYTHONPATH": paths}
    environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    counter = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    counter.append(f"--callgrind-out-file={folder / 'counts'}")
    for command in (WORK, counter + WORK):  # the first run compiles what the second loads
        subprocess.run(command, env=environment, capture_output=True, check=True)
    return dict(_read_dump(path.read_text()) for path in folder.glob("counts.*"))


def _read_dump(dump: str) -> tuple[str, int]:
    """Return the name and the number of instructions in one file of callgrind."""
    return dump.split("Client Request: ")[1].split("\n")[0], int(dump.split("\ntotals: ")[1])


if __name__ == "__main__":
    REFERENCE.write_text(json.dumps(measured(), indent=2) + "\n")
