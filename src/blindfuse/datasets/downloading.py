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
from typing import Any

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
    with _working_folder(
        name, f"crowd/{name}/labels.csv.gz and crowd/{name}/truth.csv.gz"
    ) as folder:
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
    with _working_folder(name, f"uci/{name}.npz") as folder:
        table = FEATURES[name](_download(pinned_files().get(name, []), folder))
        ready = folder / f"{name}.npz"
        np.savez_compressed(ready, X=table.features, y=table.classes)
        _move_to_cache(ready, cached)
    return cached


@contextmanager
def _working_folder(name: str, layout: str) -> Iterator[Path]:
    """Yield a temporary folder, and turn failures into ``DownloadFailed`` with the next step."""
    root = cache_folder() / "data"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=root) as folder:
            yield Path(folder)
    except (DownloadFailed, ImportError, OSError) as error:
        raise DownloadFailed(
            f"The dataset {name!r} cannot be loaded: {_reason_and_step(error)} Or put the dataset "
            f"into a folder as {layout}, and name the folder by BLINDFUSE_DATA or --data."
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
    named = {f"{place:02}-{Path(file.path).name}": file for place, file in enumerate(wanted)}
    store = pooch.create(
        folder,
        base_url="",
        registry={name: f"sha256:{file.sha256}" for name, file in named.items()},
        urls={name: file.url for name, file in named.items()},
    )
    return [_fetch(store, name, file) for name, file in named.items()]


def _fetch(store: Any, name: str, file: PinnedFile) -> Path:
    """Fetch one file, and turn failures into ``DownloadFailed`` with the next step."""
    import pooch
    import requests

    source = f"{file.path} of {file.repository} at {file.commit[:7]}"
    try:
        return Path(store.fetch(name, downloader=pooch.HTTPDownloader(timeout=30)))
    except requests.HTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        reason = f"the server returned {status} for {source}. Try again later."
        raise DownloadFailed(reason) from error
    except requests.RequestException as error:
        kind = type(error).__name__
        reason = f"the connection failed for {source} ({kind}). Check the network and try again."
        raise DownloadFailed(reason) from error
    except ValueError as error:
        reason = f"{source} does not have the pinned SHA-256: it is damaged or was changed."
        raise DownloadFailed(f"{reason} Try again.") from error


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
