import numpy as np

from blindfuse import simulate
from experiments.methods import LabelledData


def test_gold_labels_by_item_name() -> None:
    responses = simulate(5, 3, 2, np.random.default_rng(0)).responses
    truth = np.array([0, -1, 1, -1, 0])
    assert LabelledData(responses, truth).gold_labels() == {0: 0, 2: 1, 4: 0}
