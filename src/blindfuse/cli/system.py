"""Messages about errors that the system caused, and the memory that is free."""

import errno
import math
import os
from pathlib import Path

_REMEDIES = {
    errno.ENOSPC: "Free some space, or choose another path.",
    errno.EDQUOT: "Free some space, or choose another path.",
    errno.EBADF: "Standard output is closed; redirect it to a file or to /dev/null.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}
_OUT_OF_MEMORY = ("failed to map segment", "can't start new thread", "cannot allocate memory")
"""Messages of libraries that run out of memory and do not raise MemoryError."""


def describe_system_error(error: BaseException) -> str | None:
    """Return a message for an error that the system caused; None if the error is a bug."""
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        return "Not enough memory. Free some, raise the limit, or fuse fewer items."
    if not isinstance(error, OSError) or error.errno in (None, errno.ENOENT):
        return None
    path = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
    return f"{error.strerror}{path}. {remedy(error)}"


def remedy(error: OSError) -> str:
    """Return what to do about a file that cannot be written."""
    return _REMEDIES.get(error.errno or 0, "Choose another path.")


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether this error, or one of its causes, reports a lack of memory."""
    if error is None:
        return False
    message = str(error).casefold()
    return any(phrase in message for phrase in _OUT_OF_MEMORY) or _is_out_of_memory(
        error.__cause__ or error.__context__
    )


def free_memory() -> float:
    """Return the bytes of memory that are available, including caches that can be reclaimed.

    Where the system does not report that, return its total memory, and infinity if that is unknown.
    """
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = dict(line.split(":", 1) for line in lines if ":" in line)
        return float(sizes["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        names = getattr(os, "sysconf_names", {})
        if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():
            return math.inf
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
