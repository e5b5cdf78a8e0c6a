"""Files that are written whole or not at all, and the folder of what is costly to make again."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from platformdirs import user_cache_path

OLD = 3600.0
"""Seconds after which nobody writes to a place any more, on this machine or another."""


@contextmanager
def beside(*targets: Path) -> Iterator[list[Path]]:
    """Places beside the targets to write to, which take their names when all are written.

    Whatever goes wrong before that, an interrupt too, leaves the targets as they were. What a
    process left that was killed while it wrote is removed by the next one, when it is old.
    """
    for target in targets:
        _remove_left(target)
    places = [target.with_name(f".{target.name}.{os.getpid()}") for target in targets]
    try:
        yield places
        for place, target in zip(places, targets, strict=True):
            place.replace(target)
    finally:
        for place in places:
            place.unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove places beside the target that nobody has written to for long."""
    for place in target.parent.glob(f".{escape(target.name)}.*"):
        with suppress(OSError):
            if place.suffix[1:].isdigit() and time.time() - place.stat().st_mtime > OLD:
                place.unlink()


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file at once: nobody ever sees half of it."""
    with beside(Path(path)) as (place,):
        place.write_bytes(content)


def cache_folder() -> Path:
    """The folder that BLINDFUSE_CACHE names; if none, the user's cache folder."""
    return Path(os.environ.get("BLINDFUSE_CACHE") or user_cache_path("blindfuse"))
