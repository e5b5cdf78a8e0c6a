"""Arrays in a file that is whole or absent: versioned, with names beside, and never a pickle."""

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadModel
from blindfuse.files import beside

VERSION = 1

_UNREADABLE = (
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
    """Write an ``.npz`` file without pickle, beside and then renamed: whole or not at all."""
    said = {"format": format, "version": VERSION, **header}
    with beside(Path(path)) as [place], place.open("wb") as file:
        np.savez(file, header=np.array(json.dumps(said)), **arrays)


def load_arrays(
    path: str | os.PathLike[str], format: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of what :func:`save_arrays` wrote; anything else is refused."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            if header.get("format") != format or header.get("version") != VERSION:
                raise BadModel(
                    f"{path} is {header.get('format')!r} version {header.get('version')!r}, "
                    f"not {format!r} version {VERSION}. Save it again with this version."
                )
            return header, {name: file[name] for name in file.files if name != "header"}
    except FileNotFoundError:
        raise BadModel(f"There is no file {path}. Check the path.") from None
    except BadModel:
        raise
    except _UNREADABLE as why:
        raise damaged(path, format, why) from why


def damaged(path: str | os.PathLike[str], format: str, why: object) -> BadModel:
    """The error about a file that does not hold what it should."""
    return BadModel(f"{path} holds no {format}, or is damaged ({why}). Save it again.")
