"""Feature datasets: fetched, checked or generated."""

import hashlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from blindfuse import BlindfuseError, DownloadFailed
from blindfuse.datasets import downloading, load_features
from blindfuse.datasets.downloading import PinnedFile
from blindfuse.datasets.features import poker_classes, poker_hands
from tests.conftest import SHARED
from tests.datasets.conftest import Server

# pooch leaves the socket of a broken connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_magic_is_read_from_its_pinned_file(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"1.5,2,3,h\n4,5,6,g\n"
    file = PinnedFile("magic", "a/b", "c" * 40, "m.data", 1, hashlib.sha256(body).hexdigest())
    monkeypatch.setattr(downloading, "pinned_files", lambda: {"magic": [file]})
    server.put(file, body)
    features, classes = load_features("magic")
    assert features.tolist() == [[1.5, 2, 3], [4, 5, 6]]
    assert classes.tolist() == [1, 0]


def test_poker_classes_are_those_of_uci() -> None:
    path = SHARED / "uci" / "poker_real_subset.npz"
    if not path.is_file():
        pytest.skip("the poker hands of UCI are not in the shared folder")
    with np.load(path) as stored:
        assert np.array_equal(poker_classes(stored["X"]), stored["y"])


def test_generated_poker_hands_are_uniform() -> None:
    hands, classes = poker_hands(20_000)
    cards = hands[:, 0::2].astype(int) * 13 + hands[:, 1::2]
    assert all(len(set(hand)) == 5 for hand in cards.tolist())
    assert (hands[:, 0::2].min(), hands[:, 0::2].max()) == (1, 4)
    assert (hands[:, 1::2].min(), hands[:, 1::2].max()) == (1, 13)
    shares = np.bincount(classes, minlength=10) / len(classes)
    assert shares[:4] == pytest.approx([0.5012, 0.4226, 0.0475, 0.0211], abs=0.01)
    assert np.bincount(cards.ravel() - 14).std() < 100  # the 52 cards are about equally frequent


@pytest.mark.parametrize(("name", "shape"), [("connect4", (67_557, 42)), ("dota2", (102_944, 116))])
def test_a_uci_dataset_of_another_shape_is_refused(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    shape: tuple[int, int],
    tmp_path: Path,
) -> None:
    class Frame:
        def __init__(self, values: Any) -> None:
            self.values = np.asarray(values)

        def to_numpy(self, dtype: Any = None) -> Any:
            return self.values.astype(dtype) if dtype else self.values

    class DatasetNotFoundError(Exception):
        pass

    board = ["b", "o", "x"] if name == "connect4" else [-1, 0, 1]
    outcome = ["win"] if name == "connect4" else [-1]
    fake: Any = ModuleType("ucimlrepo")
    fake.DatasetNotFoundError = DatasetNotFoundError

    def fetch(rows: int) -> Any:
        cells = np.resize(np.array(board), (rows, shape[1]))
        data = SimpleNamespace(features=Frame(cells), targets=Frame(np.resize(outcome, (rows, 1))))
        return lambda id: SimpleNamespace(data=data)

    monkeypatch.setitem(sys.modules, "ucimlrepo", fake)
    fake.fetch_ucirepo = fetch(3)
    with pytest.raises(DownloadFailed, match="its source has changed"):
        load_features(name)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    fake.fetch_ucirepo = fetch(shape[0])
    features, classes = load_features(name)
    assert features.shape == shape
    assert features[0, :3].tolist() == ([0, 1, 2] if name == "connect4" else [-1, 0, 1])
    assert set(classes.tolist()) == ({2} if name == "connect4" else {0})


def test_a_missing_package_is_named_with_the_command_to_install_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    with pytest.raises(BlindfuseError, match=r"pip install 'blindfuse\[datasets\]'"):
        load_features("dota2")
