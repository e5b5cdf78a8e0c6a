"""Download, verify, convert and cache datasets; a dataset is cached completely or not at all."""

import csv
import gzip
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
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
TIMEOUT_SECONDS = 30
"""A download fails if the server sends nothing for this long."""

ALTERNATIVE = (
    "Or put the dataset into a folder as {layout}, and name the folder by BLINDFUSE_DATA or --data."
)
CROWD_LAYOUT = "crowd/{name}/labels.csv.gz and crowd/{name}/truth.csv.gz"
FEATURE_LAYOUT = "uci/{name}.npz"


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
    found: dict[str, list[PinnedFile]] = {}
    table = files("blindfuse.datasets") / "sources.csv"
    for row in csv.DictReader(table.read_text().splitlines()):
        file = PinnedFile(**{**row, "bytes": int(row["bytes"])})  # type: ignore[arg-type]
        found.setdefault(file.dataset, []).append(file)
    return found


def cached_crowd(name: str) -> Path:
    """Return the cache folder of a crowd dataset, whether it exists or not."""
    return cache_folder() / "data" / "crowd" / name


def fetch_crowd(name: str) -> Path:
    """Return the cache folder of a crowd dataset, downloaded and converted if necessary."""
    cached = cached_crowd(name)
    if cached.is_dir():
        return cached
    if name not in CONVERTERS:
        raise BadParameter(f"There is no dataset {name!r}: {suggest(name, sorted(CONVERTERS))}")
    with _working_folder(name, CROWD_LAYOUT) as folder:
        tables = CONVERTERS[name](_download(pinned_files()[name], folder))
        ready = folder / "ready"
        ready.mkdir()
        _write(ready / "labels.csv.gz", ("item", "annotator", "label"), tables.labels)
        _write(ready / "truth.csv.gz", ("item", "label"), tables.truth)
        _move_to_cache(ready, cached)
    return cached


def fetch_features(name: str) -> Path:
    """Return the cached file of a feature dataset, downloaded or generated if necessary."""
    cached = cache_folder() / "data" / "uci" / f"{name}.npz"
    if cached.is_file():
        return cached
    if name not in FEATURES:
        raise BadParameter(
            f"There is no feature dataset {name!r}: {suggest(name, sorted(FEATURES))}"
        )
    with _working_folder(name, FEATURE_LAYOUT) as folder:
        table = FEATURES[name](_download(pinned_files().get(name, []), folder))
        ready = folder / f"{name}.npz"
        np.savez_compressed(ready, X=table.features, y=table.classes)
        _move_to_cache(ready, cached)
    return cached


@contextmanager
def _working_folder(name: str, layout: str) -> Iterator[Path]:
    """Yield a temporary folder, and turn failures into ``DownloadFailed`` with the next step."""
    alternative = ALTERNATIVE.format(layout=layout.format(name=name))
    root = cache_folder() / "data"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=root) as folder:
            yield Path(folder)
    except (DownloadFailed, ImportError, OSError) as error:
        raise DownloadFailed(
            f"The dataset {name!r} cannot be loaded: {_reason_and_step(error)} {alternative}"
        ) from error


def _reason_and_step(error: DownloadFailed | ImportError | OSError) -> str:
    if isinstance(error, DownloadFailed):
        return str(error)
    if isinstance(error, ImportError):
        return f"{error}. Install the missing package: pip install 'blindfuse[datasets]'."
    is_full = error.errno in (ENOSPC, EDQUOT)
    step = "Free disk space, or set BLINDFUSE_CACHE to another folder." if is_full else "Try again."
    return f"{error.strerror or error}. {step}"


def _download(wanted: Sequence[PinnedFile], folder: Path) -> list[Path]:
    """Download the raw files, in the given order, and verify their hashes."""
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)
    found = []
    for place, file in enumerate(wanted):
        with _request_errors(f"{file.path} of {file.repository} at {file.commit[:7]}"):
            path = pooch.retrieve(
                file.url,
                known_hash=f"sha256:{file.sha256}",
                fname=f"{place:02}-{Path(file.path).name}",
                path=folder,
                downloader=downloader,
            )
        found.append(Path(path))
    return found


@contextmanager
def _request_errors(file: str) -> Iterator[None]:
    """Turn failures of a download into ``DownloadFailed`` with the next step."""
    import requests

    try:
        yield
    except requests.HTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        raise DownloadFailed(
            f"the server returned {status} for {file}. Try again later."
        ) from error
    except requests.RequestException as error:
        raise DownloadFailed(
            f"the connection failed for {file} ({type(error).__name__}). "
            "Check the network and try again."
        ) from error
    except ValueError as error:
        raise DownloadFailed(
            f"{file} does not have the pinned SHA-256, so it is damaged or was changed. Try again."
        ) from error


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _move_to_cache(ready: Path, cached: Path) -> None:
    """Rename to the place in the cache, unless another process was faster."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.replace(ready, cached)
    except OSError:
        if not cached.exists():
            raise
