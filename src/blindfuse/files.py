"""Atomic writing of files, the cache folder, and the limit on what a packed file unpacks to."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from blindfuse.errors import BadParameter

MAX_UNPACKED_BYTES = 1 << 28
MAX_UNPACKED_RATIO = 200
"""A packed file may unpack to MAX_UNPACKED_BYTES or to MAX_UNPACKED_RATIO times its size, whichever
is more. Tables usually compress to a tenth of their size."""
UNPACKED_VARIABLE = "BLINDFUSE_MAX_UNPACKED_BYTES"
"""The environment variable that raises the limit."""

MAX_NAME_BYTES = 240
"""Length of a file name to which two dots and a process number can be added."""

STALE_SECONDS = 3600.0
"""Age at which a temporary file is taken to be abandoned, by this machine or another."""


@contextmanager
def atomic_paths(*targets: Path) -> Iterator[list[Path]]:
    """Yield one temporary path per target, in its folder; rename all to the targets at the end.

    If anything fails before that, an interrupt included, the targets stay as they were. Temporary
    files of a process that was killed are removed by a later call, once they are stale. A symbolic
    link stays, and the file it points to is replaced; an existing file keeps its permissions.
    """
    files = [Path(os.path.realpath(target)) for target in targets]
    for file in files:
        _remove_stale(file)
    temporary = [file.with_name(f"{_temporary_prefix(file)}{os.getpid()}") for file in files]
    try:
        yield temporary
        for path, file in zip(temporary, files, strict=True):
            if file.exists():
                path.chmod(stat.S_IMODE(file.stat().st_mode))
            path.replace(file)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


def _remove_stale(target: Path) -> None:
    """Remove temporary files of the target that have not been written to for a long time."""
    for path in target.parent.glob(f"{escape(_temporary_prefix(target))}*"):
        with suppress(OSError):
            if path.suffix[1:].isdigit() and time.time() - path.stat().st_mtime > STALE_SECONDS:
                path.unlink()


def _temporary_prefix(target: Path) -> str:
    """Return the name of the target's temporary files without the process number.

    Where that would be longer than file systems allow, a hash stands for the name.
    """
    encoded = os.fsencode(target.name)
    short = target.name if len(encoded) <= MAX_NAME_BYTES else blake2b(encoded).hexdigest()[:32]
    return f".{short}."


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that no other process ever sees it half written."""
    with atomic_paths(Path(path)) as (temporary,):
        temporary.write_bytes(content)


def unpacked_limit(size: int) -> int:
    """Return the number of bytes that a packed file of this size may unpack to."""
    chosen = os.environ.get(UNPACKED_VARIABLE, "")
    if chosen and not chosen.isdecimal():
        raise BadParameter(f"{UNPACKED_VARIABLE}={chosen} must be a number of bytes.")
    return max(MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO * size, int(chosen or 0))


def too_large_message(name: object, unpacked: str) -> str:
    """Return the message about a file that exceeds the limit; ``unpacked`` ends in "more"."""
    return (
        f"{name} unpacks to {unpacked} than the limit of {MAX_UNPACKED_RATIO} times its size "
        f"(and at least {MAX_UNPACKED_BYTES:,} bytes). It may be damaged or malicious. If it is "
        f"right, set {UNPACKED_VARIABLE} to the number of bytes to allow."
    )


def cache_folder() -> Path:
    """Return the folder named by BLINDFUSE_CACHE, or else the cache folder of the user."""
    return Path(os.environ.get("BLINDFUSE_CACHE") or user_cache_path("blindfuse"))
