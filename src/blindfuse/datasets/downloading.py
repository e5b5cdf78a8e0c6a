"""Download, verify, convert and cache datasets; a dataset is cached completely or not at all."""

import csv
import gzip
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from blindfuse.datasets.converting import CONVERTERS
from blindfuse.datasets.features import FEATURES
from blindfuse.errors import BadParameter, DownloadFailed, suggest
from blindfuse.files import cache_folder

HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class PinnedFile:
    """A raw file of a dataset: its place in a repository, and the size and hash it must have."""

    dataset: str
    repository: str
    commit: str
    path: str
    bytes: int
    sha256: str

    @property
    def url(self) -> str:
        return f"{HOST}/{self.repository}/{self.commit}/{self.path}"


@cache
def pinned_files() -> dict[str, list[PinnedFile]]:
    """Return the raw files of every dataset, as listed in ``sources.csv``."""
    by_dataset: dict[str, list[PinnedFile]] = {}
    table = files("blindfuse.datasets") / "sources.csv"
    for row in csv.DictReader(table.read_text().splitlines()):
        file = PinnedFile(**{**row, "bytes": int(row["bytes"])})  # type: ignore[arg-type]
        by_dataset.setdefault(file.dataset, []).append(file)
    return by_dataset


def cached_crowd(name: str) -> Path:
    """Return the cache folder of a crowd dataset, whether it exists or not."""
    return cache_folder() / "data" / "crowd" / name


def fetch_crowd(name: str) -> Path:
    """Return the cache folder of a crowd dataset, downloaded and converted if necessary."""

    def convert(raw: list[Path], ready: Path) -> None:
        tables = CONVERTERS[name](raw)
        ready.mkdir()
        _write(ready / "labels.csv.gz", ("item", "annotator", "label"), tables.labels)
        _write(ready / "truth.csv.gz", ("item", "label"), tables.truth)

    layout = f"crowd/{name}/labels.csv.gz and crowd/{name}/truth.csv.gz"
    return _fetch(name, cached_crowd(name), CONVERTERS, convert, layout)


def fetch_features(name: str) -> Path:
    """Return the cached file of a feature dataset, downloaded or generated if necessary."""

    def convert(raw: list[Path], ready: Path) -> None:
        table = FEATURES[name](raw)
        np.savez_compressed(ready, X=table.features, y=table.classes)

    cached = cache_folder() / "data" / "uci" / f"{name}.npz"
    return _fetch(name, cached, FEATURES, convert, f"uci/{name}.npz")


def _fetch(
    name: str,
    cached: Path,
    datasets: Mapping[str, object],
    convert: Callable[[list[Path], Path], None],
    layout: str,
) -> Path:
    """Return the place of a dataset in the cache; make it in a temporary folder if necessary."""
    if cached.exists():
        return cached
    if name not in datasets:
        raise BadParameter(f"There is no dataset {name!r}: {suggest(name, sorted(datasets))}")
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=cached.parents[1]) as folder:
            ready = Path(folder) / cached.name
            convert(_download(pinned_files().get(name, []), Path(folder) / "raw"), ready)
            try:
                os.replace(ready, cached)
            except OSError:
                if not cached.exists():  # else another process was faster
                    raise
    except ModuleNotFoundError as error:
        raise DownloadFailed(
            f"The dataset {name!r} cannot be loaded: {error.name} is not installed. Run: "
            "pip install 'blindfuse[datasets]'."
        ) from error
    except (OSError, ValueError) as error:  # ValueError: pooch, for a wrong hash
        raise DownloadFailed(
            f"The dataset {name!r} cannot be loaded: {error}. Check the network and the disk (set "
            f"BLINDFUSE_CACHE to use another folder), and try again. Or put the dataset into a "
            f"folder as {layout}, and name the folder by BLINDFUSE_DATA or --data."
        ) from error
    return cached


def _download(wanted: Sequence[PinnedFile], folder: Path) -> list[Path]:
    """Download the raw files, in the given order, and verify their hashes."""
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    return [
        Path(
            pooch.retrieve(
                file.url,
                known_hash=f"sha256:{file.sha256}",
                fname=f"{place:02}-{Path(file.path).name}",
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=30),
            )
        )
        for place, file in enumerate(wanted)
    ]


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
