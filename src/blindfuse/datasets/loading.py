"""Load a dataset by name, from a folder with a fixed layout.

``FOLDER/crowd/NAME/labels.csv.gz`` has the columns item, annotator and label, and
``FOLDER/crowd/NAME/truth.csv.gz`` the columns item and label; ``FOLDER/uci/NAME.npz`` has features
``X`` and classes ``y``. The folder is an argument, or the environment variable ``BLINDFUSE_DATA``.
Without either, a dataset is downloaded once and kept in the same layout in the cache: the folder
``BLINDFUSE_CACHE``, by default the user's cache folder.
"""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindfuse.datasets.downloading import fetch_crowd, fetch_features
from blindfuse.errors import BadParameter, list_names
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes

Folder = str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False)
class Crowd:
    """Responses, and the true classes ``truth[item]`` as class codes, −1 where unknown."""

    name: str
    responses: Responses
    truth: Codes


def load(name: str, folder: Folder = None) -> Crowd:
    """Load a crowd dataset; every column is read as text."""
    root = _local_folder(folder)
    path = _crowd_in_folder(root, name) if root else fetch_crowd(name)
    rows = _rows(path / "labels.csv.gz")
    responses = Responses.from_long(
        [row["item"] for row in rows],
        [row["annotator"] for row in rows],
        [row["label"] for row in rows],
    )
    code_of = {label: code for code, label in enumerate(responses.classes)}
    truth = {row["item"]: code_of[row["label"]] for row in _rows(path / "truth.csv.gz")}
    codes = [truth.get(item, -1) for item in responses.items]
    return Crowd(name, responses, np.array(codes, dtype=np.intp))


def load_features(
    name: str, folder: Folder = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load a feature dataset: ``features[item, feature]`` and ``classes[item]``."""
    root = _local_folder(folder)
    path = root / "uci" / f"{name}.npz" if root else fetch_features(name)
    if not path.is_file():
        available = sorted(path.stem for path in path.parent.glob("*.npz"))
        raise BadParameter(_not_in_folder(f"feature dataset {name!r}", path.parent, available))
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"].astype(np.float32), stored["y"].astype(np.int64)


def _local_folder(folder: Folder) -> Path | None:
    named = folder or os.environ.get("BLINDFUSE_DATA")
    return Path(named) if named else None


def _crowd_in_folder(root: Path, name: str) -> Path:
    path = root / "crowd" / name
    if not all((path / file).is_file() for file in ("labels.csv.gz", "truth.csv.gz")):
        available = sorted(file.parent.name for file in path.parent.glob("*/labels.csv.gz"))
        raise BadParameter(_not_in_folder(f"dataset {name!r}", path.parent, available))
    return path


def _not_in_folder(dataset: str, folder: Path, available: list[str]) -> str:
    return (
        f"There is no {dataset} in {folder}, only {list_names(available, 20) or 'none'}. "
        "Pass another folder, or set BLINDFUSE_DATA."
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
