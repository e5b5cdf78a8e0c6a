"""Named datasets with a known truth, read from a folder in a documented layout.

``FOLDER/crowd/NAME/labels.csv.gz`` has the columns item, annotator, label, and
``FOLDER/crowd/NAME/truth.csv.gz`` the columns item, label; ``FOLDER/uci/NAME.npz`` has features
``X`` and classes ``y``. The folder is given, or named by the environment variable
``BLINDFUSE_DATA``.
"""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter, naming
from blindfuse.responses import Responses


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers, and ``truth[item]`` as class codes, −1 where it is not known."""

    name: str
    responses: Responses
    truth: NDArray[np.intp]


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Crowd:
    """The crowd set of this name; every column is read as text."""
    root = _folder(folder) / "crowd"
    labels, truths = root / name / "labels.csv.gz", root / name / "truth.csv.gz"
    if not labels.is_file() or not truths.is_file():
        found = sorted(path.parent.name for path in root.glob("*/labels.csv.gz"))
        raise BadParameter(
            f"There is no dataset {name!r} in {root}, only {naming(found, 20) or 'none'}. "
            "Pass its folder, or set BLINDFUSE_DATA."
        )
    rows = _rows(labels)
    responses = Responses.from_long(
        [row["item"] for row in rows],
        [row["annotator"] for row in rows],
        [row["label"] for row in rows],
    )
    class_at = {label: code for code, label in enumerate(responses.classes)}
    true = {row["item"]: class_at[row["label"]] for row in _rows(truths)}
    codes = [true.get(item, -1) for item in responses.items]
    return Crowd(name, responses, np.array(codes, dtype=np.intp))


def load_features(
    name: str, folder: str | os.PathLike[str] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Features ``[item, feature]`` and classes ``[item]`` of the feature set of this name."""
    root = _folder(folder) / "uci"
    path = root / f"{name}.npz"
    if not path.is_file():
        found = sorted(path.stem for path in root.glob("*.npz"))
        raise BadParameter(
            f"There is no feature set {name!r} in {root}, only {naming(found, 20) or 'none'}. "
            "Pass its folder, or set BLINDFUSE_DATA."
        )
    with np.load(path, allow_pickle=False) as stored:
        return stored["X"].astype(np.float32), stored["y"].astype(np.int64)


def _folder(given: str | os.PathLike[str] | None) -> Path:
    return Path(given or os.environ.get("BLINDFUSE_DATA", ""))


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
