"""Signs that columns were mistaken: found where they are, and not in ordinary crowds."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from blindfuse import Responses, simulate
from blindfuse.responses.sanity import sanity_notes

SEEDS = range(20)


@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_ordinary_crowds_have_no_signs(n_classes: int, missing: float) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        crowd = simulate(200, 6, n_classes, rng, skill=0.6, missing=missing)
        assert sanity_notes(crowd.responses) == []


def test_experts_who_agree_on_nearly_everything_have_no_signs() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 100)
        table = np.tile(truth[:, None], 5)
        table[rng.random(table.shape) < 0.01] = 2
        assert sanity_notes(Responses.from_matrix(table)) == []


def test_a_column_of_the_vote_is_noted_and_a_good_annotator_of_some_items_is_not() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        table = simulate(200, 7, 3, rng, skill=0.6).responses.matrix()
        vote = np.array([np.bincount(row, minlength=3).argmax() for row in table])
        leaked = Responses.from_matrix(np.column_stack([table, vote]))
        (note,) = sanity_notes(leaked)
        assert "always agrees with 7" in note
        assert "--annotator" in note
        partial = np.where(np.arange(200) < 60, vote, -1)
        assert sanity_notes(Responses.from_matrix(np.column_stack([table, partial]))) == []


def test_an_annotator_whom_nobody_agrees_with_is_noted() -> None:
    for seed in SEEDS:
        table = simulate(100, 4, 3, np.random.default_rng(seed), skill=0.6).responses.matrix()
        odd = Responses.from_matrix(np.column_stack([table, np.full(100, 3)]))
        (note,) = sanity_notes(odd)
        assert "nobody agrees with 4" in note


def test_sources_that_know_one_class_each_have_no_signs() -> None:
    rng = np.random.default_rng(0)
    table = np.where(rng.random((300, 5)) < 0.3, np.arange(5), -1)
    assert sanity_notes(Responses.from_matrix(table)) == []


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
def test_classes_that_are_not_classes_are_noted(name: object, words: str) -> None:
    assert callable(name)
    rng = np.random.default_rng(1)
    labels = [name(k) for k in [*range(29), *rng.integers(0, 29, 71)]]
    responses = Responses.from_long([n // 2 for n in range(100)], [0, 1] * 50, labels)
    (note,) = [one for one in sanity_notes(responses) if "labels" in one]
    assert words in note
    assert "--label" in note


def test_many_classes_of_many_items_are_not_noted() -> None:
    labels = ["abcdefghijklmnopqrstuvwxyz"[n % 26] for n in range(1000)]
    assert sanity_notes(Responses.from_long(range(1000), [0] * 1000, labels)) == []


def test_a_sample_of_a_large_table_is_enough() -> None:
    truth = np.random.default_rng(2).integers(0, 2, 300_000)
    table = np.column_stack([truth, truth, truth, np.full(len(truth), 2)])
    assert "nobody agrees with 3" in sanity_notes(Responses.from_matrix(table))[0]


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


@pytest.mark.parametrize("names", [["1.05", "1.5"], ["q10", "q100"], ["0", "00a"]])
def test_zeros_that_count_are_not_noted(names: list[str]) -> None:
    assert sanity_notes(Responses.from_long(names, ["p", "q"], ["a", "b"])) == []


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_columns_of_classes_are_noted(n_classes: int) -> None:
    """Numbers of votes, shares of votes, and one 1 per item, as matrices of numbers."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        peaks = np.eye(n_classes)[rng.integers(0, n_classes, 1000)]
        counts = rng.multinomial(5, 0.8 * peaks + 0.2 / n_classes)
        for table in (counts, np.char.mod("%.2f", counts / 5), peaks.astype(int)):
            notes = sanity_notes(Responses.from_matrix(table))
            assert any("counts or shares of votes" in note for note in notes)


def test_one_adversary_among_five_is_not_taken_for_a_count() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        table = simulate(200, 5, 2, rng, skill=0.7).responses.matrix().copy()
        table[:, 0] = 1 - table[:, 0]
        assert sanity_notes(Responses.from_matrix(table)) == []


def test_annotators_with_two_words_are_not_taken_for_classes() -> None:
    labels = simulate(60, 4, 2, np.random.default_rng(0), skill=0.8).responses.matrix()
    names = ["ann_day", "ann_night", "bob_day", "bob_night"] * 60
    assert sanity_notes(Responses.from_long(np.repeat(range(60), 4), names, labels.ravel())) == []


def test_a_few_sentences_among_words_are_noted() -> None:
    labels = ["yes", "no", "yes", "I think that the answer is yes"]
    (note,) = sanity_notes(Responses.from_long([1, 1, 2, 2], ["p", "q"] * 2, labels))
    assert "1 of 3 classes are sentences" in note
    assert "--missing" in note


@pytest.mark.parametrize("pattern", ["{annotator}_{question}", "{question}.{annotator}"])
def test_columns_of_one_annotator_and_one_question_are_noted(pattern: str) -> None:
    rng = np.random.default_rng(0)
    crowds = [simulate(80, 3, 3, rng, skill=0.7).responses.matrix() for _ in range(2)]
    names = [pattern.format(annotator=a, question=q) for q in ("size", "kind") for a in "xyz"]
    cells = np.hstack(crowds).ravel()
    (note,) = sanity_notes(Responses.from_long(np.repeat(range(80), 6), names * 80, cells))
    assert "one annotator and one class or question per column" in note
    assert "--annotator" in note


def test_models_with_several_prompts_are_not_taken_for_questions() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        labels = simulate(80, 6, 3, rng, skill=0.6).responses.matrix()
        names = [f"{model}_{prompt}" for model in ("gpt", "llama") for prompt in "abc"]
        table = Responses.from_long(np.repeat(range(80), 6), names * 80, labels.ravel())
        assert sanity_notes(table) == []


HEADERS = {
    "types": lambda names: ["string"] * len(names),
    "rules": lambda names: ["---"] * len(names),
    "questions": lambda names: ["Item", *(f"What does {name} see?" for name in names[1:])],
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
@pytest.mark.parametrize("n_items", [20, 100])
def test_a_second_header_is_noted(header: Callable[[list[str]], list[str]], n_items: int) -> None:
    for seed in SEEDS:
        table = simulate(n_items, 3, 2, np.random.default_rng(seed), skill=0.6).responses.matrix()
        names = ["item", "ann", "bob", "eve"]
        rows = [[f"q{n}", *row] for n, row in enumerate(table.astype(str).tolist())]
        frame = pl.DataFrame([header(names), *rows], schema=names, orient="row")
        notes = sanity_notes(Responses.from_wide(frame, item="item"))
        assert "as a row of totals or a second header would" in notes[0]
        long = frame.unpivot(index="item", variable_name="annotator", value_name="label")
        assert sanity_notes(Responses.from_frame(long))[0] == notes[0]
    pairs = [header(["item", "annotator", "label"]), *(["q1", "a", "x"], ["q2", "a", "y"])]
    assert sanity_notes(Responses.from_long(*map(list, zip(*pairs, strict=True)))) == []


def test_the_only_item_of_a_rare_class_is_no_header() -> None:
    table = np.zeros((40, 3), dtype=int)
    table[::2] = 1
    for item in (0, 1, 39):
        rare = table.copy()
        rare[item] = 2
        assert sanity_notes(Responses.from_matrix(rare)) == []


@pytest.mark.parametrize("damaged", ["caf\ufffd", "cafÃ©", "itâ€™s"])
@pytest.mark.parametrize("role", ["item", "annotator", "label"])
def test_damaged_characters_are_noted(role: str, damaged: str) -> None:
    rows = {"item": ["i", "i", "j"], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"]}
    rows[role][2] = damaged
    (note,) = sanity_notes(Responses.from_frame(pl.DataFrame(rows)))
    assert note.startswith(f"Check the {role}s: 1 of ")
    assert "Export the table again" in note


def test_an_item_that_nothing_connects_to_the_others_is_noted() -> None:
    items, annotators = [f"q{n // 2}" for n in range(80)], ["ann", "bob"] * 40
    labels = ["yes", "yes", "no", "no"] * 20
    table = Responses.from_long([*items, "task"], [*annotators, "worker"], [*labels, "answer"])
    (note,) = sanity_notes(table)
    assert "'task' has labels that no other item has" in note
    rare = Responses.from_long([*items, "q0"], [*annotators, "eve"], [*labels, "perhaps"])
    assert sanity_notes(rare) == []


def test_items_that_stand_for_several_are_noted() -> None:
    items, annotators = ["q0", "q0", "q1", "q1"] * 10, ["ann", "bob"] * 20
    labels = ["yes", "no", "no", "yes"] * 5
    table = Responses.from_long(items, annotators, [*labels, *labels])
    assert any("labelled an item 10.0 times on average" in note for note in sanity_notes(table))
    twice = Responses.from_long(["q0", "q1"] * 2, ["ann"] * 4, ["yes", "no", "no", "yes"])
    assert any("labelled an item 2.0 times on average" in note for note in sanity_notes(twice))
    agreeing = Responses.from_long(items[:12], annotators[:12], labels[:4] * 3)
    assert sanity_notes(agreeing) == []
