"""Responses whose symbols are not classes: constructors, checks, and what keeps the anchor."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindfuse import Responses
from blindfuse.errors import BlindfuseError
from blindfuse.responses.alphabet import IDENTITY, NO_RESPONSE
from blindfuse.responses.canonical import canonicalize
from blindfuse.simulation import simulate_scores
from tests.responses.cases import reported


def scores(seed: int = 0, n: int = 60) -> Responses:
    return simulate_scores(n, 5, 6, 3, np.random.default_rng(seed), missing=0.3).responses


def abstaining(seed: int = 0) -> Responses:
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((40, 4)) < 0.4, -1, rng.integers(3, size=(40, 4)))
    return Responses.from_matrix(labels).with_abstentions()


def clusters(seed: int = 0) -> Responses:
    rng = np.random.default_rng(seed)
    return Responses.from_clusters(rng.integers(5, size=(40, 4)), classes=3)


def probabilities(seed: int = 0, n: int = 40) -> np.ndarray[Any, Any]:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(3), size=(n, 4))
    return np.asarray(drawn)


ALL = [scores, abstaining, clusters]


def named_anchor(responses: Responses) -> Any:
    anchor = responses.anchor
    if anchor.matrix is not None:
        return {
            (symbol, name): anchor.matrix[r, k]
            for r, symbol in enumerate(responses.symbols.tolist())
            for k, name in enumerate(responses.classes.tolist())
        }
    if anchor.values is not None:
        return dict(zip(responses.symbols.tolist(), anchor.values.tolist(), strict=True))
    return anchor.kind


def test_plain_labels_have_their_classes_as_symbols() -> None:
    plain = Responses.from_matrix([["a", "b"], ["b", "b"]])
    assert plain.symbols is plain.classes
    assert plain.anchor is IDENTITY
    assert plain.is_plain
    assert plain.n_symbols == 2
    copied = pickle.loads(pickle.dumps(plain))
    assert copied.is_plain
    assert copied.symbols is copied.classes


@pytest.mark.parametrize("make", ALL)
def test_selections_and_orders_keep_symbols_and_anchor(make: Callable[..., Responses]) -> None:
    table = make(3)
    cells, anchor = reported(table), named_anchor(table)
    assert not table.is_plain
    for one in (
        pickle.loads(pickle.dumps(table)),
        canonicalize(table).responses,
        table.select_items(np.arange(table.n_items)[::-1]),
        table.recoded(table.annotators[::-1], table.classes, table.symbols[::-1]),
    ):
        assert reported(one) == cells
        assert named_anchor(one) == anchor
    some = table.select_annotators([2, 0])
    assert reported(some) == {key: value for key, value in cells.items() if key[1] in (0, 2)}
    assert named_anchor(some) == anchor


@pytest.mark.parametrize("make", ALL)
def test_concatenated_tables_have_all_symbols(make: Callable[..., Responses]) -> None:
    one, other = make(1), make(2)
    both = one.concatenated(other)
    symbols = [*reported(one).values(), *reported(other).values()]
    assert sorted(map(str, reported(both).values())) == sorted(map(str, symbols))
    assert named_anchor(both) == named_anchor(one)


def test_few_scores_are_symbols_and_many_are_binned_by_quantiles() -> None:
    rng = np.random.default_rng(0)
    few = Responses.from_scores(np.repeat(range(50), 3), [0, 1, 2] * 50, rng.integers(11, size=150))
    assert few.symbols.tolist() == list(range(11))
    values = rng.normal(size=1500)
    many = Responses.from_scores(np.repeat(range(500), 3), [0, 1, 2] * 500, values, levels=5)
    assert many.n_symbols == 5
    sizes = many.responses_per_symbol
    assert sizes.min() >= 290
    assert sizes.max() <= 310
    assert many.anchor.values is not None
    assert np.all(np.diff(many.anchor.values) > 0)
    order = np.argsort(values)
    assert many.matrix().ravel()[order].tolist() == sorted(many.matrix().ravel().tolist())


def test_long_wide_and_matrix_scores_are_the_same() -> None:
    matrix = np.array([[1.0, 9.0, np.nan], [4.0, 4.0, 2.0], [8.0, np.nan, 9.0]])
    frame = pd.DataFrame(matrix, columns=["j1", "j2", "j3"], index=["x", "y", "z"])
    long = frame.stack().reset_index()
    long.columns = ["item", "judge", "score"]
    by_columns = Responses.from_scores(long["item"], long["judge"], long["score"])
    for one in (
        Responses.from_scores(long),
        Responses.from_scores(frame, annotator=["j1", "j2", "j3"]),
    ):
        assert reported(one) == reported(by_columns)
    assert sorted(reported(Responses.from_scores(matrix)).values()) == sorted(
        reported(by_columns).values()
    )


def given_probabilities(responses: Responses) -> dict[tuple[Any, Any, Any], float]:
    """{(item, annotator, class): probability} by name."""
    assert responses.probabilities is not None
    rows = zip(responses.item_of_response(), responses.by_item.codes, strict=True)
    return {
        (responses.items[item], responses.annotators[annotator], name): float(probability)
        for (item, annotator), row in zip(rows, responses.probabilities, strict=True)
        for name, probability in zip(responses.classes.tolist(), row, strict=True)
    }


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_stay_with_their_responses(seed: int) -> None:
    """Selected, reordered and recoded tables have the probabilities of the same responses."""
    array, rng = probabilities(seed, 30), np.random.default_rng(seed)
    array[rng.random(array.shape[:2]) < 0.2] = np.nan
    responses = Responses.from_probabilities(array, classes=["a", "b", "c"])
    assert responses.is_plain
    known = given_probabilities(responses)
    assert known == {
        (n, m, name): array[n, m, k]
        for n, m in np.argwhere(~np.isnan(array[:, :, 0])).tolist()
        for k, name in enumerate("abc")
    }
    for item, annotator, symbol in zip(
        responses.item_of_response(),
        responses.by_item.codes,
        responses.by_item.symbols,
        strict=True,
    ):
        assert symbol == array[item, annotator].argmax()
    reordered = responses.recoded(responses.annotators[::-1], np.array(["c", "a", "b"]))
    joined = responses.select_items(range(10)).concatenated(responses.select_items([10, 11]))
    others = (
        responses.select_items(rng.permutation(30)),
        responses.select_annotators([2, 0]),
        reordered,
        canonicalize(responses).responses,
        joined,
        pickle.loads(pickle.dumps(responses)),
    )
    for other in others:
        found = given_probabilities(other)
        assert len(found) == 3 * other.n_responses
        assert found.items() <= known.items()


def test_abstentions_fill_the_cells_of_those_who_had_the_choice() -> None:
    plain = Responses.from_matrix([[0, -1, -1], [1, 1, -1], [-1, -1, -1]])
    assert plain.with_abstentions().matrix().tolist() == [[0, 2, 2], [1, 1, 2], [2, 2, 2]]
    some = plain.with_abstentions(annotators=[1])
    assert some.matrix().tolist() == [[0, 2, -1], [1, 1, -1], [-1, 2, -1]]
    assert some.symbols.tolist() == [0, 1, NO_RESPONSE]
    assert some.anchor.matrix is not None
    assert some.anchor.matrix[2].tolist() == [0, 0]


NAN_ROW = np.where(np.arange(3) == 1, np.nan, probabilities(0, 2))
NEGATIVE = np.array([[[1.2, -0.2], [0.5, 0.5]]])
UNEVEN = np.array([[[0.5, 0.5], [0.5, 0.4]]])

SCORES: Any = Responses.from_scores
PROBABILITIES: Any = Responses.from_probabilities
THREE = Responses.from_matrix([[0, 1, 2]])
RATED = Responses.from_scores([0, 1, 2], [0, 0, 0], [1, 5, 9])
SPARSE = Responses.from_codes(
    *np.zeros((3, 1), int), items=range(30_000), annotators=range(10_000), classes=[0, 1]
)
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: SCORES([0, 1], [0, 0], ["7", "high"]), "not a number"),
    (lambda: SCORES([0, 1], [0, 0], [1.0, np.inf]), "finite"),
    (lambda: SCORES([0, 1], [0, 0], [5, 5]), "Every score is 5"),
    (lambda: SCORES([0, 1], [0, 0], [True, False]), "not booleans"),
    (lambda: SCORES([0, 1], [0, 0], [np.nan] * 2), "no scores"),
    (lambda: SCORES([0], [0]), "three columns"),
    (lambda: SCORES([0], [0], [1, 2]), "same length"),
    (lambda: SCORES([0, 1], [0, 0], [1, 2], levels=1), "from 2 to"),
    (lambda: SCORES([0], [0], [1], levels=1001), "1,000"),
    (lambda: SCORES([0], [0], [1], levels=[2, 1]), "ascend"),
    (lambda: SCORES([0, 1], [0, 0], [1, 2], classes=["a"]), "two"),
    (lambda: SCORES([0, 1], [0, 0], [1, 2], classes=3), "fewer"),
    (lambda: PROBABILITIES(NEGATIVE), "item 0, annotator 0"),
    (lambda: PROBABILITIES(UNEVEN), "item 0, annotator 1"),
    (lambda: PROBABILITIES(NAN_ROW), "NaN throughout"),
    (lambda: PROBABILITIES(np.full((2, 2, 2), np.nan)), "Every prob"),
    (lambda: PROBABILITIES(np.ones((2, 2))), "at least two classes"),
    (lambda: PROBABILITIES(np.full((1, 1, 2), 0.5), classes=["a"]), "1 names"),
    (lambda: Responses.from_clusters([[0, 1], [1, 0]], classes=3), "fewer classes"),
    (lambda: Responses.from_clusters([[0, 1], [1, 0]], classes=None), "number of classes"),  # type: ignore[arg-type]
    (lambda: Responses.from_clusters(np.arange(2002).reshape(-1, 2), classes=2), "1,000"),
    (lambda: Responses.from_matrix([[-1]], classes=[0, 1]).with_abstentions(), "abstains"),
    (lambda: abstaining().with_abstentions(), "only once"),
    (lambda: THREE.with_abstentions(["nobody"]), "no annotators"),
    (lambda: scores().with_abstentions(), "order"),
    (lambda: THREE.with_anchor(["n", "y"], [[1, 0]] * 3), "'y'"),
    (lambda: THREE.with_anchor(["n", "y"], [[1, 0]]), r"\(3, 2\)"),
    (lambda: THREE.with_anchor(["n", "y"], [[1, -1]] * 3), "negative"),
    (lambda: replace(scores(0, 1), anchor=IDENTITY), "identity|symbols"),
    (lambda: RATED.recoded(RATED.annotators, RATED.classes, np.array([1, 5])), "symbol 9"),
    (lambda: SPARSE.with_abstentions(), "sparse crowd"),
    (lambda: scores().concatenated(clusters()), "'order' and 'none' cannot be joined"),
    (lambda: clusters().concatenated(Responses.from_clusters([[0, 1]], classes=2)), "same classes"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_gets_an_error_that_says_what_is_wrong(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(BlindfuseError, match=message):
        make()
