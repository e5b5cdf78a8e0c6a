"""Versioned ``.npz`` files: arrays with a JSON header, written atomically and without pickle."""

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadModel
from blindfuse.files import atomic_paths

VERSION = 2

_READ_ERRORS = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_arrays(
    path: str | os.PathLike[str], format: str, header: dict[str, Any], arrays: dict[str, Any]
) -> None:
    """Write the arrays and the header to an ``.npz`` file, which is replaced atomically."""
    full_header = {"format": format, "version": VERSION, **header}
    with atomic_paths(Path(path)) as [temporary], temporary.open("wb") as file:
        np.savez(file, header=np.array(json.dumps(full_header)), **arrays)


def load_arrays(
    path: str | os.PathLike[str], format: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file that :func:`save_arrays` wrote.

    Raise :class:`BadModel` for any other file.
    """
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
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
    except BadModel:
        raise
    except _READ_ERRORS as error:
        raise damaged_file_error(path, format) from error


def damaged_file_error(path: str | os.PathLike[str], format: str) -> BadModel:
    """Return the error for a file of another format, or a damaged one."""
    return BadModel(f"{path} does not contain a {format}, or is damaged. Save it again.")
