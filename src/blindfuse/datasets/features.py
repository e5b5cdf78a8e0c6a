"""Feature datasets of Section V-B: fetched by scikit-learn or from UCI, or generated."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import DownloadFailed
from blindfuse.typing import Array


class Features(NamedTuple):
    """``features[item, feature]`` and ``classes[item]``."""

    features: Array
    classes: NDArray[np.int64]


def _magic(raw: list[Path]) -> Features:
    """Convert rows of ten numbers and a letter: class 0 for g, class 1 for h."""
    with raw[0].open(newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    classes = np.array([row[-1] == "h" for row in rows], dtype=np.int64)
    return Features(np.array([row[:-1] for row in rows], dtype=float), classes)


def _mnist(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_openml

    data = fetch_openml("mnist_784", version=1, as_frame=False)
    return _check_shape(
        "mnist", (70_000, 784), data.data.astype(np.uint8), data.target.astype(np.int64)
    )


def _covtype(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_covtype

    data = fetch_covtype()
    return _check_shape(
        "covtype", (581_012, 54), data.data.astype(np.int16), data.target.astype(np.int64)
    )


def _connect4(_: list[Path]) -> Features:
    data = _fetch_uci(26)
    board = np.searchsorted(["b", "o", "x"], data.features.to_numpy(dtype=str)).astype(np.uint8)
    outcome = np.searchsorted(["draw", "loss", "win"], data.targets.to_numpy(dtype=str).ravel())
    return _check_shape("connect4", (67_557, 42), board, outcome)


def _dota2(_: list[Path]) -> Features:
    data = _fetch_uci(367)
    won = data.targets.to_numpy().ravel() > 0
    return _check_shape("dota2", (102_944, 116), data.features.to_numpy(), won)


def _fetch_uci(number: int) -> Any:
    from ucimlrepo import DatasetNotFoundError, fetch_ucirepo

    try:
        return fetch_ucirepo(id=number).data
    except DatasetNotFoundError as error:
        raise DownloadFailed(f"UCI reports: {error}.") from error


def _check_shape(name: str, shape: tuple[int, int], features: Array, classes: Array) -> Features:
    if features.shape != shape:
        raise DownloadFailed(
            f"{name!r} has {features.shape[0]:,} rows and {features.shape[1]:,} features instead "
            f"of {shape[0]:,} and {shape[1]:,}: its source has changed."
        )
    return Features(features, classes.astype(np.int64))


def poker_hands(n_hands: int = 1_000_000, seed: int = 0) -> Features:
    """Generate poker hands of five cards drawn without replacement.

    This is not UCI's file, but follows the same rules and layout: the features are the suit and the
    rank of each card in turn, counted from 1.
    """
    rng = np.random.default_rng(seed)
    n_blocks = n_hands // 1000
    blocks = [rng.random((1000, 52)).argpartition(5) for _ in range(n_blocks)]
    cards = np.concatenate([block[:, :5] for block in blocks])
    hands = np.empty((len(cards), 10), dtype=np.uint8)
    hands[:, 0::2], hands[:, 1::2] = cards // 13 + 1, cards % 13 + 1
    return Features(hands, poker_classes(hands))


def poker_classes(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the rank of each hand, from 0 (nothing) to 9 (royal flush)."""
    suits, ranks = hands[:, 0::2], np.sort(hands[:, 1::2], axis=1)
    same = np.sort((ranks[:, :, None] == ranks[:, None, :]).sum(axis=2), axis=1)
    pairs, threes, fours = ((same == count).sum(axis=1) // count for count in (2, 3, 4))
    flush = (suits == suits[:, :1]).all(axis=1)
    high = (ranks == (1, 10, 11, 12, 13)).all(axis=1)
    straight = high | (np.diff(ranks.astype(int), axis=1) == 1).all(axis=1)
    hand_ranks = [
        (flush & high, 9),
        (flush & straight, 8),
        (fours == 1, 7),
        ((threes == 1) & (pairs == 1), 6),
        (flush, 5),
        (straight, 4),
        (threes == 1, 3),
        (pairs == 2, 2),
        (pairs == 1, 1),
    ]
    return np.select([matches for matches, _ in hand_ranks], [rank for _, rank in hand_ranks])


FEATURES: dict[str, Callable[[list[Path]], Features]] = {
    "mnist": _mnist,
    "covtype": _covtype,
    "connect4": _connect4,
    "dota2": _dota2,
    "magic": _magic,
    "poker_synthetic": lambda _: poker_hands(),
}
"""How each feature dataset is fetched or generated, from its pinned raw files if it has any."""
