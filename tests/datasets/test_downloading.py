"""Downloads: once, verified, and complete or not at all, however they fail."""

import csv
import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadParameter, DownloadFailed
from blindfuse.datasets import downloading, load, load_features
from blindfuse.datasets.converting import CONVERTERS
from blindfuse.datasets.downloading import pinned_files
from tests.conftest import SHARED
from tests.datasets.conftest import Server

# pooch leaves the socket of a broken connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def files_in(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def test_a_dataset_is_downloaded_once_and_cached(server: Server, tiny: list[str]) -> None:
    first, second = load("bird"), load("bird")
    assert server.requested == tiny
    for crowd in (first, second):
        assert crowd.responses.matrix().tolist() == [[1, 0, 1], [0, 0, -1]]
        assert crowd.truth.tolist() == [1, 0]
        assert crowd.responses.items.tolist() == ["1", "2"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_wrong_hash_a_missing_file_or_a_broken_connection_leaves_no_files(
    server: Server, tiny: list[str], which: int, tmp_path: Path
) -> None:
    good = server.files[tiny[which]]

    def assert_fails(words: str) -> None:
        with pytest.raises(DownloadFailed, match=words) as raised:
            load("bird")
        assert files_in(tmp_path) == []
        assert "'bird'" in str(raised.value)
        assert "BLINDFUSE_DATA" in str(raised.value)
        assert "crowd/bird/labels.csv.gz" in str(raised.value)

    server.files[tiny[which]] = good.replace(b"2", b"1")
    assert_fails("does not have the pinned SHA-256")
    del server.files[tiny[which]]
    assert_fails("returned 404")
    server.files[tiny[which]] = good
    server.broken.add(tiny[which])
    assert_fails("connection failed")
    server.broken.clear()
    assert load("bird").responses.n_responses == 5


def test_without_a_server_the_network_is_to_be_checked(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(DownloadFailed, match="Check the network"):
        load("bird")
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("step", ["_write", "_move_to_cache"])
def test_a_full_disk_leaves_no_files(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, step: str, tmp_path: Path
) -> None:
    real: Callable[..., None] = getattr(downloading, step)

    def write_to_full_disk(*arguments: Any) -> None:
        if step == "_write":
            real(*arguments)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(downloading, step, write_to_full_disk)
    with pytest.raises(
        DownloadFailed, match=r"No space left on device\. Free disk space, or set BLIND"
    ):
        load("bird")
    assert files_in(tmp_path) == []
    monkeypatch.setattr(downloading, step, real)
    assert load("bird").responses.n_items == 2


def test_a_disk_that_fills_during_a_download_leaves_no_files(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pooch

    def download(_: Any, url: str, output: str, *__: Any) -> None:
        Path(output).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    with pytest.raises(DownloadFailed, match="Free disk space"):
        load("bird")
    assert files_in(tmp_path) == []


def test_unknown_names_are_refused_with_a_suggestion(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match=r"no dataset 'brid': did you mean 'bird'\?"):
        load("brid")
    with pytest.raises(BadParameter, match=r"no feature dataset 'minst': did you mean 'mnist'\?"):
        load_features("minst")
    for load_from in (load, load_features):  # a given folder is used instead of the network
        with pytest.raises(BadParameter, match="only none"):
            load_from("bird", tmp_path)
    assert server.requested == []


def test_the_pinned_files_are_those_of_the_shared_folder() -> None:
    table = SHARED / "SOURCES.csv"
    if not table.is_file():
        pytest.skip("the shared folder is not on this machine")
    with table.open() as opened:
        rows = list(csv.DictReader(opened))
    pinned = [file for files in pinned_files().values() for file in files]
    assert sorted((s.path, s.commit, s.sha256, str(s.bytes)) for s in pinned) == sorted(
        (row["path"], row["commit"], row["sha256"], row["bytes"]) for row in rows
    )
    assert set(CONVERTERS) == {file.dataset for file in pinned} - {"magic"}
