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
    path = _in_folder(folder, "crowd", name) or fetch_crowd(name)
    labels, truth = _rows(path / "labels.csv.gz"), _rows(path / "truth.csv.gz")
    columns = ([row[column] for row in labels] for column in ("item", "annotator", "label"))
    responses = Responses.from_long(*columns)
    code_of = {label: code for code, label in enumerate(responses.classes)}
    true_codes = {row["item"]: code_of[row["label"]] for row in truth}
    codes = [true_codes.get(item, -1) for item in responses.items]
    return Crowd(name, responses, np.array(codes, dtype=np.intp))


def load_features(
    name: str, folder: Folder = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load a feature dataset: ``features[item, feature]`` and ``classes[item]``."""
    path = _in_folder(folder, "uci", f"{name}.npz") or fetch_features(name)
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"].astype(np.float32), stored["y"].astype(np.int64)


def _in_folder(folder: Folder, kind: str, name: str) -> Path | None:
    """Return the place of a dataset in the user's folder; None if there is no such folder."""
    named = folder or os.environ.get("BLINDFUSE_DATA")
    if not named:
        return None
    path = Path(named) / kind / name
    if not path.exists():
        available = sorted(place.stem for place in path.parent.glob("*"))
        raise BadParameter(
            f"There is no dataset {path.stem!r} in {path.parent}, only "
            f"{list_names(available, 20) or 'none'}. Pass another folder, or set BLINDFUSE_DATA."
        )
    return path


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
