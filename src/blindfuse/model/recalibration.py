"""Posteriors with the same labels and another confidence."""

from typing import NamedTuple

import numpy as np

from blindfuse.kernels.threads import map_threads
from blindfuse.model.posteriors import most_likely
from blindfuse.typing import Floats

MIN_POSTERIOR = 1e-12
"""Posteriors below this are raised to it before they are recalibrated."""


BLOCK_ITEMS = 10_000
"""Items that are recalibrated at once, so that they stay in the cache."""


class Recalibration(NamedTuple):
    """Posteriors q = (1 − mixed) ((1 − certain) p^power/Σ p^power + certain · label) + mixed/K.

    They keep the most probable class. ``power`` below one and ``mixed`` above zero lower the
    confidence, ``power`` above one and ``certain`` above zero raise it.
    """

    power: float = 1.0
    certain: float = 0.0
    mixed: float = 0.0

    def __call__(self, posteriors: Floats, in_place: bool = False) -> Floats:
        """Return recalibrated posteriors ``[item, class]``."""
        corrected = posteriors if in_place else np.empty(posteriors.shape)

        def correct(begin: int, end: int) -> None:
            for start in range(begin, end, BLOCK_ITEMS):
                block = slice(start, min(start + BLOCK_ITEMS, end))
                corrected[block] = self._corrected(posteriors[block])

        map_threads(correct, len(posteriors), None, BLOCK_ITEMS)
        return corrected

    def undone(self, posteriors: Floats) -> Floats:
        """Return the posteriors before a power; those after checked labels are returned as are."""
        if self.certain or self.mixed or self.power == 1:
            return posteriors
        return Recalibration(1 / self.power)(posteriors)

    def _corrected(self, posteriors: Floats) -> Floats:
        corrected = np.log(np.maximum(posteriors, MIN_POSTERIOR))
        corrected *= self.power
        corrected -= corrected.max(axis=1, keepdims=True)
        np.exp(corrected, out=corrected)
        corrected /= corrected.sum(axis=1, keepdims=True)
        if self.certain:
            corrected *= 1 - self.certain
            corrected[np.arange(len(corrected)), most_likely(posteriors)] += self.certain
        return np.asarray((1 - self.mixed) * corrected + self.mixed / corrected.shape[1])


UNCHANGED = Recalibration()
"""Posteriors as they are."""


def power_for_error(posteriors: Floats, error: float) -> Recalibration:
    """The power after which the mean of 1 − confidence is ``error``, as far as a power can.

    The mean falls with the power, so 30 halvings of the range of log power, from 0.001 to 100, find
    it. With the logarithms d_k ≤ 0 relative to the largest posterior, the confidence is
    1/Σ_k exp(power · d_k).
    """
    logs = np.log(np.maximum(posteriors, MIN_POSTERIOR))
    logs -= logs.max(axis=1, keepdims=True)
    low, high = np.log([1e-3, 1e2])
    for _ in range(30):
        middle = (low + high) / 2
        if np.mean(1 - 1 / np.exp(np.exp(middle) * logs).sum(axis=1)) > error:
            low = middle
        else:
            high = middle
    return Recalibration(float(np.exp((low + high) / 2)))


def mean_error(posteriors: Floats) -> float:
    """The mean over items of 1 − confidence; zero without items."""
    return float(1 - posteriors.max(axis=1).mean()) if len(posteriors) else 0.0
