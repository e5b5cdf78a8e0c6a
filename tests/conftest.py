"""What several test files need."""

from pathlib import Path

import pytest
from hypothesis import settings

from blindfuse.datasets import Crowd, load

# A kernel compiles when it is first called, which may be in the middle of any example.
settings.register_profile("patient", deadline=None)
settings.register_profile("long", deadline=None, max_examples=3200)
settings.load_profile("patient")

SHARED = Path(__file__).parents[2] / "shared" / "data"


class Crowds:
    """Public crowd sets with truth; a test that asks for one is skipped where they are absent."""

    def __getitem__(self, name: str) -> Crowd:
        if not (SHARED / "crowd" / name).is_dir():
            pytest.skip(f"the crowd set {name!r} is not on this machine")
        return load(name, SHARED)


@pytest.fixture
def crowds() -> Crowds:
    return Crowds()
