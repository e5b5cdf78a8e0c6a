"""Ranks with intervals, the probability of being best, and tiers, from draws of the strengths."""

from dataclasses import dataclass

import numpy as np

from blindfuse.typing import Codes, Floats, Integers

Z = 1.959963984540054
"""Standard errors of a 95 % interval."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Strengths given the comparisons and the spread of all items: normal, with this mean.

    Attributes
    ----------
    mean ``[item]``
        relative to the mean of the item's group.
    root ``[item, m]``
        the covariance is ``root @ root.T``.
    groups ``[item]``
        items of different groups cannot be compared.
    """

    mean: Floats
    root: Floats
    groups: Integers

    def difference(self, left: Codes, right: Codes) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of θ_left − θ_right."""
        spread = self.root[left] - self.root[right]
        return self.mean[left] - self.mean[right], np.sqrt((spread**2).sum(axis=-1))

    def rank_draws(self) -> Integers:
        """Return draws of the ranks ``[draw, item]``.

        Draws follow the order of the strengths, so that they do not depend on that of the items.
        """
        n_items, rng = len(self.mean), np.random.default_rng(0)
        n_draws = max(100, min(4_000, 20_000_000 // n_items))
        if self.root.shape[1] < n_items:
            noise = rng.normal(size=(n_draws, self.root.shape[1])) @ self.root.T
        else:
            order, noise = np.argsort(-self.mean), np.empty((n_draws, n_items))
            covariance = self.root[order] @ self.root[order].T
            covariance += 1e-12 * np.diag(covariance).max() * np.eye(n_items)
            normal = rng.normal(size=(n_draws, n_items))
            noise[:, order] = normal @ np.linalg.cholesky(covariance).T
        ranks = np.empty(noise.shape, dtype=np.int32)
        for group in range(self.groups.max() + 1):
            items = np.flatnonzero(self.groups == group)
            order = np.argsort(-(self.mean + noise)[:, items], axis=1)
            ranks[:, items] = np.argsort(order, axis=1) + 1
        return ranks


def ranks_of(strengths: Floats, groups: Integers) -> Integers:
    """Return the rank of each item in its group, from 1; equal strengths share the best rank."""
    ranks = np.empty(len(strengths), dtype=np.int64)
    rounded = np.round(-strengths, 9)
    for group in range(groups.max() + 1):
        items = groups == group
        ranks[items] = 1 + np.searchsorted(np.sort(rounded[items]), rounded[items])
    return ranks


def tiers_of(posterior: Posterior, ranks: Integers) -> Integers:
    """Return the tier of each item in its group, from 1.

    A tier begins with the best item that is left; it has all that follow, up to the first whose
    difference from it has a 95 % interval above zero.
    """
    tiers = np.ones(len(ranks), dtype=np.int64)
    order = np.lexsort([ranks, posterior.groups])
    leader, tier = order[0], 1
    for item in order[1:].tolist():
        if posterior.groups[item] != posterior.groups[leader]:
            leader, tier = item, 1
        else:
            mean, error = posterior.difference(leader, item)
            if mean > Z * error:
                leader, tier = item, tier + 1
        tiers[item] = tier
    return tiers
