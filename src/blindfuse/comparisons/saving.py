"""Rankings as ``.npz`` files: the fields of nested dataclasses, by their path."""

import os
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from blindfuse.model.arrays import damaged_file_error, load_arrays, save_arrays
from blindfuse.responses.coding import as_names

FORMAT = "ranking"


def save_fields(path: str | os.PathLike[str], value: Any) -> None:
    """Write a dataclass of arrays, names, numbers and such dataclasses."""
    header: dict[str, Any] = {}
    arrays: dict[str, Any] = {}

    def collect(value: Any, name: str) -> None:
        if is_dataclass(value):
            for field in fields(value):
                collect(getattr(value, field.name), f"{name}.{field.name}")
        elif isinstance(value, np.ndarray) and value.dtype != object:
            arrays[name] = value
        else:
            header[name] = value.tolist() if isinstance(value, np.ndarray) else value

    collect(value, "")
    save_arrays(path, FORMAT, header, arrays)


def load_fields(path: str | os.PathLike[str], kind: type) -> Any:
    """Read a dataclass of this kind that :func:`save_fields` wrote."""
    header, arrays = load_arrays(path, FORMAT)

    def restore(kind: Any, name: str) -> Any:
        if name in arrays:
            return arrays[name]
        if name in header:
            value = header[name]
            if isinstance(value, list):
                return tuple(value) if kind == tuple[str, ...] else as_names(value)
            return value
        (kind,) = filter(is_dataclass, (kind, *get_args(kind)))
        hints = get_type_hints(kind)
        return kind(
            **{
                field.name: restore(hints[field.name], f"{name}.{field.name}")
                for field in fields(kind)
            }
        )

    try:
        return restore(kind, "")
    except (TypeError, ValueError, KeyError) as error:
        raise damaged_file_error(path, FORMAT) from error
