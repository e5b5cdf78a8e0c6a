"""The order of rows, annotators and classes, their names and the seed do not change labels."""

import numpy as np
import pytest

from blindfuse import fuse, simulate
from blindfuse.responses.coding import positions
from tests.conftest import Crowds
from tests.support.shuffling import shuffle

QUICK = (
    *("api_digit", "api_shop", "api_yelp", "barzan", "bird", "cf_amt_weather", "dog"),
    *("judges_toxicity", "judges_triviaqa", "labelme", "product", "rte", "shape_edges", "sp"),
    *("temp", "trec", "web", "ws_hausa", "ws_youtube", "zc_in", "zc_us"),
)
SLOW = (
    *("adult", "api_audiomnist", "api_expw", "api_ferplus", "fact_eval", "millionaire"),
    "shape_conflict",
)


def assert_order_does_not_matter(crowds: Crowds, name: str, seeds: range) -> None:
    responses = crowds[name].responses
    expected = positions(fuse(responses).labels, responses.classes)
    for seed in seeds:
        other = shuffle(responses, seed)
        np.testing.assert_array_equal(
            other.restore(fuse(other.responses, seed=seed).labels), expected
        )


@pytest.mark.parametrize("name", QUICK)
def test_order_names_and_seed_do_not_change_labels(crowds: Crowds, name: str) -> None:
    assert_order_does_not_matter(crowds, name, range(1, 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_five_orders_give_the_same_labels(crowds: Crowds, name: str) -> None:
    assert_order_does_not_matter(crowds, name, range(3, 8))


@pytest.mark.parametrize("seed", range(3))
def test_new_items_and_groups_are_in_the_order_of_the_input(seed: int) -> None:
    drawn = simulate(
        800, 9, 3, np.random.default_rng(seed), dependent_groups=[(1, 4, 7)], copy_probability=0.9
    )
    fusion = fuse(drawn.responses)
    if fusion.groups:
        assert set(fusion.groups[0]) <= {1, 4, 7}
    np.testing.assert_allclose(fusion.posteriors.sum(axis=1), 1)
    again = fusion.predict_proba(drawn.responses)
    close = fusion.posteriors.argmax(axis=1) == again.argmax(axis=1)
    assert close.mean() > 0.9
