"""Feature datasets of Section V-B: fetched by scikit-learn or from UCI, or generated."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.typing import Array


class Features(NamedTuple):
    """``features[item, feature]`` and ``classes[item]``."""

    features: Array
    classes: Array


def _magic(raw: list[Path]) -> Features:
    """Convert rows of ten numbers and a letter: class 0 for g, class 1 for h."""
    with raw[0].open(newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    classes = np.array([row[-1] == "h" for row in rows], dtype=np.int64)
    return Features(np.array([row[:-1] for row in rows], dtype=float), classes)


def _mnist(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_openml

    data = fetch_openml("mnist_784", version=1, as_frame=False)
    return Features(data.data.astype(np.uint8), data.target.astype(np.int64))


def _covtype(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_covtype

    data = fetch_covtype()
    return Features(data.data.astype(np.int16), data.target.astype(np.int64))


def _connect4(_: list[Path]) -> Features:
    data = _fetch_uci(26)
    board = np.searchsorted(["b", "o", "x"], data.features.to_numpy(dtype=str)).astype(np.uint8)
    outcome = np.searchsorted(["draw", "loss", "win"], data.targets.to_numpy(dtype=str).ravel())
    return Features(board, outcome.astype(np.int64))


def _dota2(_: list[Path]) -> Features:
    data = _fetch_uci(367)
    won = data.targets.to_numpy().ravel() > 0
    return Features(data.features.to_numpy(), won.astype(np.int64))


def _fetch_uci(number: int) -> Any:
    from ucimlrepo import DatasetNotFoundError, fetch_ucirepo

    try:
        return fetch_ucirepo(id=number).data
    except DatasetNotFoundError as error:
        raise OSError(f"UCI reports: {error}") from error


def poker_hands(n_hands: int = 1_000_000, seed: int = 0) -> Features:
    """Generate poker hands of five cards drawn without replacement.

    This is not UCI's file, but follows the same rules and layout: the features are the suit and the
    rank of each card in turn, counted from 1.
    """
    rng = np.random.default_rng(seed)
    blocks = [rng.random((1000, 52)).argpartition(5)[:, :5] for _ in range(n_hands // 1000)]
    cards = np.concatenate(blocks)
    hands = np.empty((len(cards), 10), dtype=np.uint8)
    hands[:, 0::2], hands[:, 1::2] = cards // 13 + 1, cards % 13 + 1
    return Features(hands, poker_classes(hands))


def poker_classes(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the rank of each hand, from 0 (nothing) to 9 (royal flush)."""
    suits, ranks = hands[:, 0::2], np.sort(hands[:, 1::2], axis=1)
    same = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    pairs, threes, fours = ((same == count).sum(axis=1) // count for count in (2, 3, 4))
    flush = (suits == suits[:, :1]).all(axis=1)
    high = (ranks == (1, 10, 11, 12, 13)).all(axis=1)
    straight = high | (np.diff(ranks.astype(int), axis=1) == 1).all(axis=1)
    full_house = (threes == 1) & (pairs == 1)
    matches = [
        *(flush & high, flush & straight, fours == 1, full_house, flush, straight),
        *(threes == 1, pairs == 2, pairs == 1),
    ]
    return np.select(matches, range(9, 0, -1))


FEATURES: dict[str, Callable[[list[Path]], Features]] = {
    "mnist": _mnist,
    "covtype": _covtype,
    "connect4": _connect4,
    "dota2": _dota2,
    "magic": _magic,
    "poker_synthetic": lambda _: poker_hands(),
}
"""How each feature dataset is fetched or generated, from its pinned raw files if it has any."""
