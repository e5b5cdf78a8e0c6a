"""Arrays: checked before they reach kernels, and saved in versioned files without pickle."""

import json
import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from blindfuse.errors import BadModel, BlindfuseError
from blindfuse.files import atomic_paths, too_large_message, unpacked_limit
from blindfuse.typing import Array

VERSION = 2


def check_shape(array: Any, name: str, shape: tuple[int, ...]) -> None:
    """Raise BadModel unless this is an array of real numbers with this shape."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.shape != shape:
        found = (
            f"{array.dtype} of shape {array.shape}"
            if isinstance(array, np.ndarray)
            else f"of type {type(array).__name__}"
        )
        raise BadModel(f"{name} must be an array of numbers of shape {shape}, but it is {found}.")


def matrix_shape(array: Any, name: str) -> tuple[int, int]:
    """Return the shape of a matrix of real numbers; raise BadModel if this is not one."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iuf":
        raise BadModel(f"{name} must be a matrix of numbers, with one row per annotator.")
    return array.shape[0], array.shape[1]


def check_numbers(array: Any, name: str, shape: tuple[int, ...], minimum: float = -np.inf) -> Array:
    """Return a contiguous array of int64 or float64; raise BadModel if a number is not valid.

    All numbers must be finite and at least ``minimum``.
    """
    check_shape(array, name, shape)
    if not np.all(np.isfinite(array)) or not np.all(array >= minimum):
        least = "" if minimum == -np.inf else f" and at least {minimum:g}"
        raise BadModel(f"{name} must be finite{least}, but contains other numbers.")
    exact = np.int64 if array.dtype.kind in "iu" else np.float64
    return np.ascontiguousarray(array, dtype=exact)


def save_arrays(
    path: str | os.PathLike[str], format: str, header: dict[str, Any], arrays: dict[str, Any]
) -> None:
    """Write the arrays and the header to an ``.npz`` file, which is replaced atomically."""
    full_header = {"format": format, "version": VERSION, **header}
    with atomic_paths(Path(path)) as [temporary], temporary.open("wb") as file:
        np.savez(file, header=np.array(json.dumps(full_header)), **arrays)


def load_arrays(
    path: str | os.PathLike[str], format: str
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file that :func:`save_arrays` wrote.

    Raise :class:`BadModel` for any other file.
    """
    try:
        with open(path, "rb") as raw:
            _check_sizes(path, raw)
            raw.seek(0)
            file = np.load(raw, allow_pickle=False)
            header = json.loads(str(file["header"]))
            if header.get("format") != format or header.get("version") != VERSION:
                raise BadModel(
                    f"{path} is {header.get('format')!r} version {header.get('version')!r}, "
                    f"not {format!r} version {VERSION}. Save it again with this version of "
                    "blindfuse."
                )
            return header, {name: file[name] for name in file.files if name != "header"}
    except FileNotFoundError:
        raise BadModel(f"The file {path} does not exist. Check the path.") from None
    except (BlindfuseError, MemoryError):
        raise
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # zipfile, its decompressors and NumPy have no common base error
        raise damaged_file_error(path, format) from error


def _check_sizes(path: str | os.PathLike[str], raw: IO[bytes]) -> None:
    """Raise an error if the file unpacks to too much, or an array is larger than its content.

    NumPy allocates the memory for an array before it reads the content.
    """
    with zipfile.ZipFile(raw) as archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if unpacked > unpacked_limit(os.fstat(raw.fileno()).st_size):
            raise BadModel(too_large_message(path, f"{unpacked:,} bytes, more"))
        for member in members:
            with archive.open(member) as file:
                if _array_bytes(file) > member.file_size:
                    raise ValueError(f"{member.filename} is shorter than its array")


def _array_bytes(file: IO[bytes]) -> int:
    """Return the size of the array in a ``.npy`` file, as its header states it."""
    versions = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = versions[npy.read_magic(file)](file)
    return math.prod(shape) * dtype.itemsize


def damaged_file_error(path: str | os.PathLike[str], format: str) -> BadModel:
    """Return the error for a file of another format, or a damaged one."""
    return BadModel(f"{path} does not contain a {format}, or is damaged. Save it again.")
