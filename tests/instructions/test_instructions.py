"""The hot kernels need no more instructions than they did; time would tell of the machine's mood.

``make test-instructions`` installs valgrind and runs this. Fewer instructions fail too: then
``make tests/instructions/counts.json`` keeps the better figures.
"""

import json
import platform
import shutil

import pytest

from tests.instructions.counting import KEPT, measured
from tests.instructions.kernels import KERNELS

SLACK = 0.15
"""What a new version of LLVM may make of the same loop."""


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the counts are those of x86-64")
def test_hot_kernels_take_the_instructions_they_took() -> None:
    kept = json.loads(KEPT.read_text())
    assert set(kept) == set(KERNELS)
    changed = {
        name: f"{found} a {KERNELS[name].unit}, was {kept[name]}"
        for name, found in measured().items()
        if abs(found / kept[name] - 1) > SLACK
    }
    assert not changed
