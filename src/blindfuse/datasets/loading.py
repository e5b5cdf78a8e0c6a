"""Datasets by name, from a folder in a documented layout.

``FOLDER/crowd/NAME/labels.csv.gz`` has the columns item, annotator, label, and
``FOLDER/crowd/NAME/truth.csv.gz`` the columns item, label; ``FOLDER/uci/NAME.npz`` has features
``X`` and classes ``y``. The folder is given, or named by the environment variable
``BLINDFUSE_DATA``; without either, a set is downloaded once and kept in that layout in the cache,
the folder that ``BLINDFUSE_CACHE`` names (the user's cache folder if none).
"""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindfuse.datasets.downloading import fetch_crowd, fetch_features
from blindfuse.errors import BadParameter, naming
from blindfuse.responses.responses import Responses

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers, and ``truth[item]`` as class codes, −1 where it is not known."""

    name: str
    responses: Responses
    truth: NDArray[np.intp]


def load(name: str, folder: Folder = None) -> Crowd:
    """The crowd set of this name; every column is read as text."""
    root = _given(folder)
    where = _in_folder(root, name) if root else fetch_crowd(name)
    rows = _rows(where / "labels.csv.gz")
    responses = Responses.from_long(
        [row["item"] for row in rows],
        [row["annotator"] for row in rows],
        [row["label"] for row in rows],
    )
    class_at = {label: code for code, label in enumerate(responses.classes)}
    true = {row["item"]: class_at[row["label"]] for row in _rows(where / "truth.csv.gz")}
    codes = [true.get(item, -1) for item in responses.items]
    return Crowd(name, responses, np.array(codes, dtype=np.intp))


def load_features(
    name: str, folder: Folder = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features ``[item, feature]`` and classes ``[item]`` of the feature set of this name."""
    root = _given(folder)
    path = root / "uci" / f"{name}.npz" if root else fetch_features(name)
    if not path.is_file():
        found = sorted(path.stem for path in path.parent.glob("*.npz"))
        raise BadParameter(
            f"There is no feature set {name!r} in {path.parent}, only "
            f"{naming(found, 20) or 'none'}. Pass its folder, or set BLINDFUSE_DATA."
        )
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"].astype(np.float32), stored["y"].astype(np.int64)


def _given(folder: Folder) -> Path | None:
    named = folder or os.environ.get("BLINDFUSE_DATA")
    return Path(named) if named else None


def _in_folder(root: Path, name: str) -> Path:
    where = root / "crowd" / name
    if not all((where / file).is_file() for file in ("labels.csv.gz", "truth.csv.gz")):
        found = sorted(path.parent.name for path in where.parent.glob("*/labels.csv.gz"))
        raise BadParameter(
            f"There is no dataset {name!r} in {where.parent}, only {naming(found, 20) or 'none'}. "
            "Pass its folder, or set BLINDFUSE_DATA."
        )
    return where


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
