"""The hot kernels take as many instructions as before. Unlike time, this does not vary.

``make test-instructions`` installs valgrind and runs this test. It also fails with fewer
instructions; ``make tests/instructions/counts.json`` then saves the new counts.
"""

import json
import platform
import shutil

import pytest

from tests.instructions.counting import REFERENCE, measured
from tests.instructions.kernels import KERNELS

TOLERANCE = 0.15
"""Relative change that a new version of LLVM may cause."""


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the reference counts are for x86-64")
def test_hot_kernels_take_as_many_instructions_as_the_reference() -> None:
    reference = json.loads(REFERENCE.read_text())
    assert set(reference) == set(KERNELS)
    changed = {
        name: f"{count} per {KERNELS[name].unit}, was {reference[name]}"
        for name, count in measured().items()
        if abs(count / reference[name] - 1) > TOLERANCE
    }
    assert not changed
