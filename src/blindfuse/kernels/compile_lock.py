"""A lock per kernel, so that processes that start together do not compile the same kernel twice."""

import os
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix system: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

MAX_WAIT_SECONDS = 60.0
"""A process that holds a lock for longer hangs, so the kernel is compiled a second time."""
POLL_SECONDS = 0.02


def acquire(folder: Path, kernel: str) -> bool:
    """Wait while another process compiles a kernel of this folder; return whether it did.

    The system releases the lock of a process that ends. A folder that is not writable has no locks.
    """
    descriptor, waited = _open(folder), False
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while descriptor is not None and time.monotonic() < deadline:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(kernel))
            break
        except BlockingIOError:
            waited = True
            time.sleep(POLL_SECONDS)
        except OSError:  # a file system without locks
            break
    return waited


def release(folder: Path, kernel: str) -> None:
    """Let other processes read or compile the kernel."""
    descriptor = _open(folder)
    if descriptor is not None:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, _offset(kernel))
        except OSError:
            return


def is_available(folder: Path) -> bool:
    """Return whether processes can share the kernels of this folder."""
    return _open(folder) is not None


@cache
def _open(folder: Path) -> int | None:
    """Return a file of which every byte is the lock of a kernel; None if it cannot be written.

    It stays open, because closing it would release all locks.
    """
    if fcntl is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / "kernels.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None


def _offset(kernel: str) -> int:
    return int.from_bytes(blake2b(kernel.encode(), digest_size=4).digest())
