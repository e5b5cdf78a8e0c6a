"""Simulated crowds in which accuracies are hard to estimate, by kind.

Annotators of all kinds are conditionally independent. About six responses per item.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from blindfuse import Simulation
from experiments.skilled_crowds import as_simulation

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class HardCrowd:
    """What is unusual about a crowd.

    ``skill`` draws the probability that an annotator is correct, beyond guessing; ``n_special``
    annotators have the confusion matrices ``special(K, m)`` instead. ``responses`` draws the number
    of responses of each annotator, and ``shares[class]`` are the class proportions.
    """

    n_classes: int = 4
    n_annotators: int = 40
    skill: Callable[[np.random.Generator], float] = lambda rng: float(rng.beta(2, 1.5))
    n_special: int = 0
    special: Callable[[int, int], Floats] = field(default=lambda K, m: np.full((K, K), 1 / K))
    responses: Callable[[np.random.Generator, int], Codes] = field(
        default=lambda rng, M: np.full(M, 100)
    )
    shares: Callable[[int], Floats] = field(default=lambda K: np.full(K, 1 / K))
    is_divided: bool = False


def _one_sided(K: int, m: int) -> Floats:
    """Reports one class nine times of ten, whatever the item."""
    confusion = np.full((K, K), 0.1 / K)
    confusion[m % K] += 0.9
    return confusion


def _adversary(K: int, m: int) -> Floats:
    """Avoids the true class."""
    return np.asarray((1 - 0.9 * np.eye(K)) / (K - 0.9))


def _swapper(K: int, m: int) -> Floats:
    """Confuses the first two classes, and knows all others."""
    confusion = 0.9 * np.eye(K) + 0.1 / K
    confusion[:, [0, 1]] = confusion[:, [1, 0]]
    return confusion


def _cautious(K: int, m: int) -> Floats:
    """Reports the first class where it is not certain, which is half of the time."""
    confusion = 0.5 * np.eye(K)
    confusion[0] += 0.5
    return confusion


def _zipf(rng: np.random.Generator, M: int) -> Codes:
    """Most annotators give a few responses, and a few give most of them."""
    return np.asarray(np.clip(3 * rng.pareto(1.0, M), 1, 600), dtype=np.intp)


def _unequal(K: int) -> Floats:
    shares = 0.5 ** np.arange(K)
    return np.asarray(shares / shares.sum())


KINDS: dict[str, HardCrowd] = {
    "2 classes, 5 responses": HardCrowd(2, 100, responses=lambda rng, M: np.full(M, 5)),
    "2 classes, one in ten": HardCrowd(2, shares=lambda K: np.array([0.9, 0.1])),
    "10 classes, each half of the last": HardCrowd(10, shares=_unequal),
    "50 classes, each half of the last": HardCrowd(50, shares=_unequal),
    "one-sided": HardCrowd(n_special=10, special=_one_sided),
    "adversaries": HardCrowd(n_special=8, special=_adversary),
    "2 classes, adversaries": HardCrowd(2, n_special=8, special=_adversary),
    "swapped classes": HardCrowd(n_special=8, special=_swapper),
    "20 classes, cautious": HardCrowd(20, n_special=20, special=_cautious),
    "guessers, half of the crowd": HardCrowd(n_special=20),
    "experts only": HardCrowd(skill=lambda rng: float(rng.beta(60, 2))),
    "equal skills": HardCrowd(skill=lambda rng: 0.6),
    "experts and guessers": HardCrowd(skill=lambda rng: 0.97 if rng.random() < 0.5 else 0.02),
    "few responses for most": HardCrowd(n_annotators=300, responses=_zipf),
    "one response for half": HardCrowd(
        n_annotators=80, responses=lambda rng, M: np.where(np.arange(M) % 2, 1, 150)
    ),
    "5 annotators": HardCrowd(n_annotators=5, responses=lambda rng, M: np.full(M, 200)),
    "2 classes, 4 annotators": HardCrowd(2, 4, responses=lambda rng, M: np.full(M, 300)),
    "two crowds without common items": HardCrowd(is_divided=True),
}


def hard_crowd(kind: str, seed: int) -> Simulation:
    """Draw a crowd of this kind of KINDS."""
    crowd, rng = KINDS[kind], np.random.default_rng(seed)
    K, M = crowd.n_classes, crowd.n_annotators
    skills = 1 / K + (1 - 1 / K) * np.array([crowd.skill(rng) for _ in range(M)])
    others = (1 - np.eye(K)) / (K - 1)
    confusions = np.stack([skill * np.eye(K) + (1 - skill) * others for skill in skills])
    for m in range(crowd.n_special):
        confusions[m] = crowd.special(K, m)
    numbers = crowd.responses(rng, M)
    n_items = max(int(numbers.sum()) // min(6, M), int(numbers.max()), 30)
    truth = rng.choice(K, size=n_items, p=crowd.shares(K))
    items, annotators = [], np.repeat(np.arange(M), numbers)
    for m, number in enumerate(numbers):
        own = np.arange(m % 2, n_items, 2) if crowd.is_divided else np.arange(n_items)
        items.append(rng.choice(own, min(number, len(own)), replace=False))
    item_codes = np.concatenate(items)
    limits = confusions.cumsum(axis=1)[annotators, :, truth[item_codes]]
    symbols = (rng.random(len(annotators))[:, None] > limits).sum(axis=1)
    return as_simulation(item_codes, annotators, np.minimum(symbols, K - 1), truth, confusions)
