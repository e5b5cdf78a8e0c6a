"""The best possible estimates of accuracies, by which benchmarks judge what can be asked."""

import numpy as np
import pytest

from blindfuse import DawidSkene
from experiments.skilled_crowds import FAMILIES, Family, best_accuracies, skilled_crowd


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_estimate_is_closer_than_the_best(family: Family, n_classes: int) -> None:
    best, estimated, mean = [], [], []
    for seed in range(6):
        crowd = skilled_crowd(family, n_classes, 20, seed)
        true = crowd.model.accuracies
        best.append(np.mean((best_accuracies(family, crowd, seed) - true) ** 2))
        model = DawidSkene().fit(crowd.responses).model_
        estimated.append(np.mean((model.accuracies - true) ** 2))
        mean.append(true.var())
    assert np.mean(best) < np.mean(estimated) < np.mean(mean)


def test_the_best_accuracies_of_many_responses_are_the_true_ones() -> None:
    crowd = skilled_crowd("coin", 2, 2000, 0)
    difference = best_accuracies("coin", crowd, 0) - crowd.model.accuracies
    assert np.abs(difference).max() < 0.04
