"""What the machine has and refuses, in words: room on a disk, the right to write, memory."""

import errno
import math
import os
from pathlib import Path

from blindfuse.errors import BadParameter

LEAST = 2 * 10**9
"""Bytes of address space that the libraries take before there is any answer, with two threads."""
LIGHT = ("methods", "datasets")
"""Commands that do without most of the libraries."""

_ELSEWHERE = "Choose another place."
_STEPS = {
    errno.ENOSPC: "Make room, or choose another place.",
    errno.EDQUOT: "Make room, or choose another place.",
    errno.EFBIG: "Raise the limit on the size of files (ulimit -f), or choose another place.",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.EEXIST: _ELSEWHERE,
    errno.ENOTDIR: _ELSEWHERE,
    errno.EISDIR: _ELSEWHERE,
    errno.ELOOP: _ELSEWHERE,
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.EIO: "The disk may be broken.",
    errno.EMFILE: "Raise the limit on open files (ulimit -n).",
    errno.ENFILE: "Close other programs.",
}
_STARVED = ("failed to map segment", "can't start new thread", "cannot allocate memory")
"""How libraries say that there is no memory, where they do not raise MemoryError."""


def refuse_tight_memory(command: str | None) -> None:
    """An error if libraries could not even be loaded: some of them would hang, or abort."""
    limit = _address_space()
    if command not in LIGHT and limit is not None and limit < LEAST:
        raise BadParameter(
            f"The memory limit of {limit / 1e9:.1f} GB is too low: the libraries alone reserve "
            f"{LEAST / 1e9:.0f} GB of addresses, though they use less. Raise it (ulimit -v)."
        )


def in_words(error: BaseException) -> str | None:
    """What to tell about an error that is the machine's; None if it is a bug."""
    if isinstance(error, MemoryError) or _is_starved(error):
        return "There is not enough memory. Free some or raise the limit, or fuse fewer items."
    if isinstance(error, OSError) and error.errno in _STEPS:
        where = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
        return f"{error.strerror}{where}. {_STEPS[error.errno]}"
    return None


def next_step(error: OSError) -> str:
    """What to do about a file that cannot be written."""
    return _STEPS.get(error.errno or 0, _ELSEWHERE)


def _is_starved(error: BaseException | None) -> bool:
    """Whether this error, or one that led to it, says so."""
    if error is None:
        return False
    said = str(error).casefold()
    return any(words in said for words in _STARVED) or _is_starved(
        error.__cause__ or error.__context__
    )


def free_memory() -> float:
    """Bytes that programs may still take, with what the system would give up for them.

    All of the machine's where that is not told, no limit where nothing is.
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        told = dict(line.split(":", 1) for line in lines if ":" in line)
        return float(told["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        names = getattr(os, "sysconf_names", {})
        if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():
            return math.inf
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _address_space() -> int | None:
    """The limit of this process, in bytes; None if there is none."""
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit
