import numpy as np
import pytest

from experiments.settings import FIGURE_3


@pytest.mark.parametrize("seed", range(3))
def test_the_same_annotators_label_any_number_of_items(seed: int) -> None:
    few, many = (FIGURE_3.draw(size, seed, same_annotators=True) for size in (100, 1000))
    assert np.array_equal(few.model.confusions, many.model.confusions)
    more = FIGURE_3.draw(100, seed, n_annotators=20, same_annotators=True)
    assert np.array_equal(more.model.confusions[:10], few.model.confusions)
    other = FIGURE_3.draw(100, seed + 1, same_annotators=True)
    assert not np.array_equal(other.model.confusions, few.model.confusions)
