"""Feature datasets: fetched, checked or generated."""

import hashlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindfuse import BlindfuseError
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


@pytest.mark.parametrize(
    ("name", "cells", "targets", "features", "classes"),
    [
        ("connect4", ["b", "o", "x"], ["win"], [0, 1, 2], {2}),
        ("dota2", [-1, 0, 1], [-1], [-1, 0, 1], {0}),
    ],
)
def test_datasets_of_uci_are_converted(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    cells: list[Any],
    targets: list[Any],
    features: list[int],
    classes: set[int],
) -> None:
    fake: Any = ModuleType("ucimlrepo")
    fake.DatasetNotFoundError = KeyError
    data = SimpleNamespace(features=pd.DataFrame([cells] * 4), targets=pd.DataFrame(targets * 4))
    fake.fetch_ucirepo = lambda id: SimpleNamespace(data=data)
    monkeypatch.setitem(sys.modules, "ucimlrepo", fake)
    found = load_features(name)
    assert found[0].tolist() == [features] * 4
    assert set(found[1].tolist()) == classes


def test_a_missing_package_is_named_with_the_command_to_install_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    with pytest.raises(BlindfuseError, match=r"pip install 'blindfuse\[datasets\]'"):
        load_features("dota2")
