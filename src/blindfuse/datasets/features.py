"""Feature sets of Section V-B: by scikit-learn's and UCI's own fetchers, or generated."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import DownloadFailed


class Features(NamedTuple):
    """``features[item, feature]`` and ``classes[item]``."""

    features: NDArray[Any]
    classes: NDArray[np.int64]


HANDS = 1_000_000
SUITS, RANKS, CARDS = 4, 13, 5


def _magic(raw: list[Path]) -> Features:
    """Ten numbers and a letter a line: g is 0, h is 1."""
    with raw[0].open(newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    classes = np.array([row[-1] == "h" for row in rows], dtype=np.int64)
    return Features(np.array([row[:-1] for row in rows], dtype=float), classes)


def _mnist(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_openml

    found = fetch_openml("mnist_784", version=1, as_frame=False)
    return _expected(
        "mnist", (70_000, 784), found.data.astype(np.uint8), found.target.astype(np.int64)
    )


def _covtype(_: list[Path]) -> Features:
    from sklearn.datasets import fetch_covtype

    found = fetch_covtype()
    return _expected(
        "covtype", (581_012, 54), found.data.astype(np.int16), found.target.astype(np.int64)
    )


def _connect4(_: list[Path]) -> Features:
    found = _from_uci(26)
    board = np.searchsorted(["b", "o", "x"], found.features.to_numpy(dtype=str)).astype(np.uint8)
    outcome = np.searchsorted(["draw", "loss", "win"], found.targets.to_numpy(dtype=str).ravel())
    return _expected("connect4", (67_557, 42), board, outcome)


def _dota2(_: list[Path]) -> Features:
    found = _from_uci(367)
    won = found.targets.to_numpy().ravel() > 0
    return _expected("dota2", (102_944, 116), found.features.to_numpy(), won)


def _from_uci(number: int) -> Any:
    from ucimlrepo import DatasetNotFoundError, fetch_ucirepo

    try:
        return fetch_ucirepo(id=number).data
    except DatasetNotFoundError as reason:
        raise DownloadFailed(f"UCI says: {reason}.") from reason


def _expected(
    name: str, shape: tuple[int, int], features: NDArray[Any], classes: NDArray[Any]
) -> Features:
    if features.shape != shape:
        raise DownloadFailed(
            f"{name!r} came as {features.shape[0]:,} rows of {features.shape[1]:,} features, but "
            f"must be {shape[0]:,} of {shape[1]:,}: its source has changed."
        )
    return Features(features, classes.astype(np.int64))


def poker_hands(n_hands: int = HANDS, seed: int = 0) -> Features:
    """Hands of five cards drawn without replacement; not UCI's file, but by the same rules.

    Features are suit and rank of each card in turn, from 1, as UCI has them.
    """
    rng = np.random.default_rng(seed)
    blocks = [rng.random((1000, SUITS * RANKS)).argpartition(CARDS) for _ in range(n_hands // 1000)]
    cards = np.concatenate([block[:, :CARDS] for block in blocks])
    hands = np.empty((len(cards), 2 * CARDS), dtype=np.uint8)
    hands[:, 0::2], hands[:, 1::2] = cards // RANKS + 1, cards % RANKS + 1
    return Features(hands, poker_classes(hands))


def poker_classes(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    """What each hand is worth, 0 (nothing) to 9 (royal flush)."""
    suits, ranks = hands[:, 0::2], np.sort(hands[:, 1::2], axis=1)
    same = np.sort((ranks[:, :, None] == ranks[:, None, :]).sum(axis=2), axis=1)
    pairs, threes, fours = ((same == count).sum(axis=1) // count for count in (2, 3, 4))
    flush = (suits == suits[:, :1]).all(axis=1)
    high = (ranks == (1, 10, 11, 12, 13)).all(axis=1)
    straight = high | (np.diff(ranks.astype(int), axis=1) == 1).all(axis=1)
    worth = [
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
    return np.select([is_it for is_it, _ in worth], [value for _, value in worth])


FEATURES: dict[str, Callable[[list[Path]], Features]] = {
    "mnist": _mnist,
    "covtype": _covtype,
    "connect4": _connect4,
    "dota2": _dota2,
    "magic": _magic,
    "poker_synthetic": lambda _: poker_hands(),
}
"""How each set is had where no folder has it, from its raw files where these are pinned."""
