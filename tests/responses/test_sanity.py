"""Signs that columns were mistaken: found where they are, and not in ordinary crowds."""

from collections.abc import Callable

import numpy as np
import pytest

from blindfuse import Responses, simulate
from blindfuse.responses.sanity import sanity_notes

SEEDS = range(20)


def experts(rng: np.random.Generator) -> Responses:
    """Annotators who agree on nearly everything."""
    table = np.tile(rng.integers(0, 3, 100)[:, None], 5)
    table[rng.random(table.shape) < 0.01] = 2
    return Responses.from_matrix(table)


def adversary(rng: np.random.Generator) -> Responses:
    """One annotator of five is wrong on purpose."""
    table = simulate(200, 5, 2, rng, skill=0.7).responses.matrix().copy()
    table[:, 0] = 1 - table[:, 0]
    return Responses.from_matrix(table)


ORDINARY: dict[str, Callable[[np.random.Generator], Responses]] = {
    "two classes": lambda rng: simulate(200, 6, 2, rng, skill=0.6).responses,
    "three classes": lambda rng: simulate(200, 6, 3, rng, skill=0.6, missing=0.5).responses,
    "eight classes": lambda rng: simulate(200, 6, 8, rng, skill=0.6, missing=0.5).responses,
    "experts": experts,
    "adversary": adversary,
    "sources that know one class each": lambda rng: Responses.from_matrix(
        np.where(rng.random((300, 5)) < 0.3, np.arange(5), -1)
    ),
    "many classes of many items": lambda rng: Responses.from_long(
        range(1000), [0] * 1000, rng.permutation(list("abcdefghijklmnopqrst") * 50)
    ),
    "zeros that count": lambda rng: Responses.from_long(
        ["1.05", "1.5", "q10", "q100", "0", "00a"], ["p"] * 6, rng.permutation(list("ababab"))
    ),
}


@pytest.mark.parametrize("make", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_crowds_have_no_signs(make: Callable[[np.random.Generator], Responses]) -> None:
    for seed in SEEDS:
        assert sanity_notes(make(np.random.default_rng(seed))) == []


@pytest.mark.parametrize("n_items", [200, 200_000])
def test_a_column_of_the_vote_is_noted_and_a_good_annotator_of_some_items_is_not(
    n_items: int,
) -> None:
    for seed in SEEDS if n_items < 1000 else [0]:
        rng = np.random.default_rng(seed)
        table = simulate(n_items, 7, 3, rng, skill=0.6).responses.matrix()
        votes = np.array([(table == k).sum(axis=1) for k in range(3)]).argmax(axis=0)
        leaked = Responses.from_matrix(np.column_stack([table, votes]))
        (note,) = sanity_notes(leaked)
        assert "always agrees with 7" in note
        assert "--annotator" in note
        some = np.where(rng.random(n_items) < 0.3, votes, -1)
        assert sanity_notes(Responses.from_matrix(np.column_stack([table, some]))) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (lambda k: f"w{k:03d}", "29 classes"),
        (lambda k: str(k), "are numbers"),
        (lambda k: f"{k}.5", "are numbers"),
        (lambda k: f"the picture shows animal number {k}", "are sentences"),
        (lambda k: "abcdefghijklmnopqrstuvwxyzäöü"[k], "29 classes"),
    ],
)
def test_classes_that_are_not_classes_are_noted(name: Callable[[int], str], words: str) -> None:
    rng = np.random.default_rng(1)
    labels = [name(k) for k in [*range(29), *rng.integers(0, 29, 71)]]
    responses = Responses.from_long([n // 2 for n in range(100)], [0, 1] * 50, labels)
    (note,) = sanity_notes(responses)
    assert words in note
    assert "--label" in note


@pytest.mark.parametrize(("lowest", "is_noted"), [(0, False), (1, True)])
def test_scores_up_to_ten_get_a_hint_and_digits_do_not(lowest: int, is_noted: bool) -> None:
    table = np.random.default_rng(0).integers(lowest, lowest + 10, (200, 3))
    notes = sanity_notes(Responses.from_matrix(table))
    assert any("add --scores" in note for note in notes) == is_noted


def test_a_few_sentences_among_words_are_noted() -> None:
    labels = ["yes", "no", "yes", "I think that the answer is yes"]
    (note,) = sanity_notes(Responses.from_long([1, 1, 2, 2], ["p", "q"] * 2, labels))
    assert "1 of 3 classes are sentences" in note
    assert "--missing" in note


@pytest.mark.parametrize(
    "names",
    [
        *(["Ann", "ann"], ["caf\u00e9", "cafe\u0301"], [1, "1"]),
        *(["07", "7"], ["7.0", "7"], ["q007", "q7"], ["a\u00adb", "ab"], ["a\u200bb", "ab"]),
    ],
)
def test_names_that_are_almost_the_same_are_noted(names: list[object]) -> None:
    labels = ["a", "b", "a", "b"]
    pairs = [*names, "zoe", "tim"]
    (note,) = sanity_notes(Responses.from_long([1, 1, 2, 2], pairs, labels))
    assert note.startswith("Check the annotators: 1 of 4 differ")
    (note,) = sanity_notes(Responses.from_long(pairs, ["p", "q", "p", "q"], labels))
    assert note.startswith("Check the items: 1 of 4 differ")


@pytest.mark.parametrize("marker", ["NA", "nan", "None", "#REF!"])
def test_names_that_mark_missing_names_are_noted(marker: str) -> None:
    table = Responses.from_long([1, 1, 2], [marker, "ann", "ann"], ["a", "b", "a"])
    (note,) = sanity_notes(table)
    assert f"{marker!r} is read as the name of an annotator" in note
