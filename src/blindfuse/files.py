"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(*targets: Path) -> Iterator[list[Path]]:
    """Places beside the targets to write to, which take their names when all are written.

    Whatever goes wrong before that, an interrupt too, leaves the targets as they were.
    """
    places = [target.with_name(f".{target.name}.{os.getpid()}") for target in targets]
    try:
        yield places
        for place, target in zip(places, targets, strict=True):
            place.replace(target)
    finally:
        for place in places:
            place.unlink(missing_ok=True)
