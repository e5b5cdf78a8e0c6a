"""Generated tables of kinds that public data lack: fuse must not lose to the vote."""

import numpy as np
import pytest

from blindfuse import fuse
from blindfuse.model.posteriors import weighted_votes
from experiments.awkward_crowds import KINDS, Kind

FAMILIES = sorted({kind.family for kind in KINDS} - {"many classes"})
"""Thousand classes take seconds; the benchmark has them."""


def first_of(family: str) -> list[Kind]:
    """The first kind of a family, which is a small one."""
    return [kind for kind in KINDS if kind.family == family][:1]


def wrong(scores: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Probability that the label is wrong if ties are broken at random, ``[item]``."""
    largest = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(1 - largest[np.arange(len(truth)), truth] / largest.sum(axis=1))


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_is_worse_than_the_vote_beyond_noise(family: str) -> None:
    differences, noise = [], []
    for kind in first_of(family):
        for seed in range(3):
            crowd = kind.crowd(seed)
            known = crowd.truth >= 0
            if not known.any():
                continue
            posteriors = fuse(crowd.responses, threads=1).posteriors[known]
            votes = weighted_votes(crowd.responses)[known]
            paired = wrong(posteriors, crowd.truth[known]) - wrong(votes, crowd.truth[known])
            differences.append(paired.mean())
            noise.append(paired.std() / np.sqrt(len(paired)))
    if family == "copies":  # half of the annotators copy: they outvote those who do not
        assert np.mean(differences) <= 0.025
        return
    by_seeds = np.std(differences, ddof=1)
    error = max(by_seeds, np.sqrt(np.mean(np.square(noise)))) / np.sqrt(len(differences))
    assert np.mean(differences) <= max(0.003, 3 * error)  # three, because families are many


@pytest.mark.parametrize("kind", KINDS[::17], ids=lambda kind: kind.name)
def test_tables_are_reproducible_and_their_truth_is_coded(kind: Kind) -> None:
    if kind.family == "many classes":
        pytest.skip("a thousand classes are drawn in the benchmark")
    one, other = kind.crowd(3), kind.crowd(3)
    np.testing.assert_array_equal(one.responses.matrix(), other.responses.matrix())
    assert one.truth.min() >= -1
    assert one.truth.max() < one.responses.n_classes
    assert len(one.truth) == one.responses.n_items
