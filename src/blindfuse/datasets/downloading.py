"""Sets that are not on this machine: download, verify, convert, keep; whole or not at all."""

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
from blindfuse.errors import BadParameter, DownloadFailed, meant
from blindfuse.files import cache_folder

HOST = "https://raw.githubusercontent.com"
SECONDS = 30
"""Silence of a server after which a download has failed."""

OTHERWISE = (
    "Or put the set into a folder as {layout} and name that folder by BLINDFUSE_DATA or --data."
)
CROWD_LAYOUT = "crowd/{name}/labels.csv.gz and crowd/{name}/truth.csv.gz"
FEATURE_LAYOUT = "uci/{name}.npz"


@dataclass(frozen=True)
class Source:
    """One raw file, pinned: where it is, and what it must be."""

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
def sources() -> dict[str, list[Source]]:
    """The raw files of every set, from the table beside this file."""
    found: dict[str, list[Source]] = {}
    table = files("blindfuse.datasets") / "sources.csv"
    for row in csv.DictReader(table.read_text().splitlines()):
        source = Source(**{**row, "bytes": int(row["bytes"])})  # type: ignore[arg-type]
        found.setdefault(source.dataset, []).append(source)
    return found


def kept_crowd(name: str) -> Path:
    """Where the folder of a downloaded crowd set is, or would be."""
    return cache_folder() / "data" / "crowd" / name


def fetch_crowd(name: str) -> Path:
    """The folder of a crowd set, downloaded and converted if it is not there."""
    kept = kept_crowd(name)
    if kept.is_dir():
        return kept
    if name not in CONVERTERS:
        raise BadParameter(f"There is no dataset {name!r}: {meant(name, sorted(CONVERTERS))}")
    with _workplace(name, CROWD_LAYOUT) as work:
        tables = CONVERTERS[name](_download(sources()[name], work))
        ready = work / "ready"
        ready.mkdir()
        _write(ready / "labels.csv.gz", ("item", "annotator", "label"), tables.labels)
        _write(ready / "truth.csv.gz", ("item", "label"), tables.truth)
        _keep(ready, kept)
    return kept


def fetch_features(name: str) -> Path:
    """The file of a feature set, downloaded or generated if it is not there."""
    kept = cache_folder() / "data" / "uci" / f"{name}.npz"
    if kept.is_file():
        return kept
    if name not in FEATURES:
        raise BadParameter(f"There is no feature set {name!r}: {meant(name, sorted(FEATURES))}")
    with _workplace(name, FEATURE_LAYOUT) as work:
        table = FEATURES[name](_download(sources().get(name, []), work))
        ready = work / f"{name}.npz"
        np.savez_compressed(ready, X=table.features, y=table.classes)
        _keep(ready, kept)
    return kept


@contextmanager
def _workplace(name: str, layout: str) -> Iterator[Path]:
    """A folder that is gone afterwards, whatever happens; what happens is said in words."""
    otherwise, root = OTHERWISE.format(layout=layout.format(name=name)), cache_folder() / "data"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=root) as work:
            yield Path(work)
    except DownloadFailed as reason:
        raise DownloadFailed(
            f"The dataset {name!r} cannot be had: {reason} {otherwise}"
        ) from reason
    except ImportError as reason:
        raise DownloadFailed(
            f"The dataset {name!r} cannot be had: {reason}. Install what fetches it: "
            f"pip install 'blindfuse[datasets]'. {otherwise}"
        ) from reason
    except OSError as reason:
        full = reason.errno in (ENOSPC, EDQUOT)
        step = (
            "Make room, or set BLINDFUSE_CACHE to a folder that has it." if full else "Try again."
        )
        raise DownloadFailed(
            f"The dataset {name!r} cannot be had: {reason.strerror or reason}. {step} {otherwise}"
        ) from reason


def _download(wanted: Sequence[Source], work: Path) -> list[Path]:
    """The raw files in their order, each with the hash that is pinned."""
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    downloader = pooch.HTTPDownloader(timeout=SECONDS)
    found = []
    for place, source in enumerate(wanted):
        what = f"{source.path} of {source.repository} at {source.commit[:7]}"
        try:
            found.append(
                Path(
                    pooch.retrieve(
                        source.url,
                        known_hash=f"sha256:{source.sha256}",
                        fname=f"{place:02}-{Path(source.path).name}",
                        path=work,
                        downloader=downloader,
                    )
                )
            )
        except requests.HTTPError as reason:
            status = getattr(reason.response, "status_code", "with an error")
            raise DownloadFailed(
                f"the server answers {status} for {what}. Try again later."
            ) from reason
        except requests.RequestException as reason:
            raise DownloadFailed(
                f"the connection failed for {what} ({type(reason).__name__}). "
                "Check the network and try again."
            ) from reason
        except ValueError as reason:
            raise DownloadFailed(
                f"{what} came with another SHA-256 than the pinned one, so it is damaged or was "
                "changed. Try again."
            ) from reason
    return found


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _keep(ready: Path, kept: Path) -> None:
    """Rename; if another process was faster, its files are as good."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.replace(ready, kept)
    except OSError:
        if not kept.exists():
            raise
