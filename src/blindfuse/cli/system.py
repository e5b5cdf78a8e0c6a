"""Limits of the system (disk space, permissions, memory) and messages about them."""

import errno
import math
import os
from pathlib import Path

from blindfuse.errors import BadParameter

MIN_ADDRESS_SPACE = 2 * 10**9
"""Bytes of address space that the libraries reserve before any data is read, with two threads."""
LIGHT_COMMANDS = ("methods", "datasets")
"""Commands that do not load most of the libraries."""

_OTHER_PATH = "Choose another path."
_REMEDIES = {
    errno.ENOSPC: "Free some space, or choose another path.",
    errno.EDQUOT: "Free some space, or choose another path.",
    errno.EFBIG: "Raise the limit on the file size (ulimit -f), or choose another path.",
    errno.EROFS: _OTHER_PATH,
    errno.EACCES: _OTHER_PATH,
    errno.EPERM: _OTHER_PATH,
    errno.EEXIST: _OTHER_PATH,
    errno.ENOTDIR: _OTHER_PATH,
    errno.EISDIR: _OTHER_PATH,
    errno.ELOOP: _OTHER_PATH,
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.EBADF: "Standard output is closed; redirect it to a file or to /dev/null.",
    errno.EIO: "The disk may be broken.",
    errno.EMFILE: "Raise the limit on open files (ulimit -n).",
    errno.ENFILE: "Close other programs.",
}
_OUT_OF_MEMORY = ("failed to map segment", "can't start new thread", "cannot allocate memory")
"""Messages of libraries that run out of memory and do not raise MemoryError."""


def refuse_tight_memory(command: str | None) -> None:
    """Raise an error if the libraries could not be loaded: some of them would hang or abort."""
    limit = _address_space_limit()
    if command not in LIGHT_COMMANDS and limit is not None and limit < MIN_ADDRESS_SPACE:
        raise BadParameter(
            f"The memory limit of {limit / 1e9:.1f} GB is too low: the libraries reserve "
            f"{MIN_ADDRESS_SPACE / 1e9:.0f} GB of address space, though they use less. "
            "Raise the limit (ulimit -v)."
        )


def describe_system_error(error: BaseException) -> str | None:
    """Return a message for an error that the system caused; None if the error is a bug."""
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        return "Not enough memory. Free some, raise the limit, or fuse fewer items."
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        path = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
        return f"{error.strerror}{path}. {_REMEDIES[error.errno]}"
    return None


def remedy(error: OSError) -> str:
    """Return what to do about a file that cannot be written."""
    return _REMEDIES.get(error.errno or 0, _OTHER_PATH)


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


def _address_space_limit() -> int | None:
    """Return the limit of this process in bytes; None if there is none."""
    try:
        import resource
    except ImportError:  # not a Unix system
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit
