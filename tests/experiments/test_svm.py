import numpy as np
import pytest
from sklearn.svm import SVC

from experiments.svm import FastSVC


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_predictions_equal_those_of_scikit_learn(kernel: str, classes: int) -> None:
    rng = np.random.default_rng(classes)
    centres = rng.normal(size=(classes, 6))
    truth = rng.integers(classes, size=2000)
    features = (centres[truth] + rng.normal(size=(2000, 6))).astype(np.float32)
    fast = FastSVC(kernel=kernel).fit(features[:300], truth[:300]).predict(features)
    reference = SVC(kernel=kernel).fit(features[:300], truth[:300]).predict(features)
    assert np.mean(fast != reference) <= 0.001
