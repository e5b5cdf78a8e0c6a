"""Downloads: once, verified, and complete or not at all, however they fail."""

import csv
import errno
import os
import sys
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


def test_a_dataset_is_downloaded_once_and_cached(server: Server, tiny: list[str]) -> None:
    first, second = load("bird"), load("bird")
    assert server.requested == tiny
    for crowd in (first, second):
        assert crowd.responses.matrix().tolist() == [[1, 0, 1], [0, 0, -1]]
        assert crowd.truth.tolist() == [1, 0]
        assert crowd.responses.items.tolist() == ["1", "2"]


def test_a_missing_package_is_named(tiny: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DownloadFailed, match=r"pooch is not installed.*blindfuse\[datasets\]"):
        load("bird")


FAILURES = ["wrong hash", "missing file", "broken connection", "no server", "full disk", "no move"]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("which", [0, 1])
def test_a_failure_leaves_no_files_and_can_be_repeated(
    server: Server,
    tiny: list[str],
    failure: str,
    which: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_: Any) -> None:
        raise full

    path, words = tiny[which], "No space left on device"
    body = server.files[path]
    with monkeypatch.context() as patch:
        if failure == "wrong hash":
            server.files[path], words = body.replace(b"2", b"1"), "hash"
        elif failure == "missing file":
            del server.files[path]
            words = "404"
        elif failure == "broken connection":
            server.broken.add(path)
            words = "IncompleteRead"
        elif failure == "no server":
            patch.setattr(downloading, "HOST", "http://127.0.0.1:9")
            words = "onnection"
        elif failure == "full disk":
            patch.setattr(downloading, "_write", fail)
        else:
            patch.setattr(os, "replace", fail)
        with pytest.raises(DownloadFailed, match=words) as raised:
            load("bird")
    said = str(raised.value)
    assert all(word in said for word in ("'bird'", "BLINDFUSE_DATA", "crowd/bird/labels.csv.gz"))
    assert not any(file.is_file() for file in tmp_path.rglob("*"))
    server.files[path] = body
    server.broken.clear()
    assert load("bird").responses.n_responses == 5


def test_unknown_names_are_refused_with_a_suggestion(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match=r"no dataset 'brid': did you mean 'bird'\?"):
        load("brid")
    with pytest.raises(BadParameter, match=r"no dataset 'minst': did you mean 'mnist'\?"):
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
