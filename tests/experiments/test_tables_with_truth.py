"""Tables with a truth: families, variants and kinds of generated tables."""

import numpy as np
import pytest

from blindfuse import simulate
from experiments.awkward_crowds import HARD_KINDS, Kind
from experiments.calibration_tables import KINDS, family_of, generated_tables
from experiments.table_variants import variants_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("rte", "crowds"),
        ("api_yelp", "APIs"),
        ("judges_toxicity", "juries"),
        ("llm_primes", "juries"),
        ("shape_edges", "shapes"),
        ("sleep_dodh", "ensembles"),
        ("ws_hausa", "weak supervision"),
    ],
)
def test_every_public_table_has_a_family(name: str, family: str) -> None:
    assert family_of(name) == family


def test_one_table_of_each_kind_per_seed() -> None:
    tables = list(generated_tables(range(2)))
    assert len(tables) == 2 * len(KINDS)
    responses, truth = tables[1].load()
    assert len(truth) == responses.n_items
    assert truth.max() < responses.n_classes


@pytest.mark.parametrize("kind", HARD_KINDS, ids=lambda kind: kind.name)
def test_annotators_of_hard_tables_prefer_the_truth(kind: Kind) -> None:
    crowd = kind.crowd(0)
    reported = crowd.responses.matrix()
    votes = np.array([np.bincount(row, minlength=4) for row in reported])
    by_class = np.array([votes[crowd.truth == k].sum(axis=0) for k in np.unique(crowd.truth)])
    np.testing.assert_array_equal(by_class.argmax(axis=1), np.unique(crowd.truth))


def test_variants_are_the_same_for_the_same_seed() -> None:
    drawn = simulate(300, 6, 3, np.random.default_rng(0))
    first, second = (list(variants_of("name", drawn.responses, drawn.truth, 0)) for _ in range(2))
    assert [name for name, _, _ in first] == [name for name, _, _ in second]
    for (_, responses, truth), (_, others, codes) in zip(first, second, strict=True):
        assert responses.n_items == len(truth)
        np.testing.assert_array_equal(responses.by_item.symbols, others.by_item.symbols)
        np.testing.assert_array_equal(truth, codes)
