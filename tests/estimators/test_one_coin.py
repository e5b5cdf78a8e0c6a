"""OneCoin."""

import numpy as np

from blindfuse import OneCoin
from tests.estimators.crowds import crowd


def test_there_is_one_accuracy_per_annotator() -> None:
    confusions = OneCoin().fit(crowd(7, k=4).responses).model_.confusions
    for confusion in confusions:
        np.testing.assert_allclose(np.diag(confusion), confusion[0, 0])
        np.testing.assert_allclose(confusion[~np.eye(4, dtype=bool)], (1 - confusion[0, 0]) / 3)
