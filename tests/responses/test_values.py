"""How values become labels and names: white space, missing markers, numbers, spellings."""

import shlex
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import Responses
from blindfuse.cli.options import Names
from blindfuse.responses.markers import FAILED_VERDICTS, MISSING_MARKERS
from blindfuse.responses.scalars import missing_number_note
from blindfuse.responses.values import TRIMMED, LabelOptions, LabelRules, fold, plain_names


def advised(notes: str) -> list[str]:
    """The labels that ``--missing`` of the first note that advises it names, as the shell does."""
    _, _, rest = notes.partition("--missing ")
    option, _, _ = rest.partition(" (missing=")
    return [*Names().convert(shlex.split(option)[0])] if option else []


def convert(values: list[Any], **options: Any) -> tuple[list[Any], str]:
    """The labels of the values, each reported once, and all notes as one text."""
    rules = LabelRules(values, lambda: [1] * len(values), LabelOptions(**options))
    return rules.labels, "; ".join(rules.notes)


@pytest.mark.parametrize("space", TRIMMED)
def test_outer_white_space_is_removed_and_noted(space: str) -> None:
    labels, notes = convert([f"cat{space}", f"{space}cat", "cat", f"big{space}dog"])
    assert labels == ["cat", "cat", "cat", f"big{space}dog"]
    assert "2 labels trimmed" in notes
    assert plain_names([f"{space}q1{space}{space}", "q1"]) == ["q1", "q1"]
    assert convert([f"cat{space}", "cat"], classes=[f"cat{space}", "cat"])[0][0] != "cat"


# Missing markers

MISSING = [
    *MISSING_MARKERS,
    *FAILED_VERDICTS,
    *(word.replace("_", " ").title() for word in FAILED_VERDICTS),
    *("#ERROR", "#REF!", "#BEZUG!", "#SPILL!", "#NV", "####", "Err:502"),
]


@pytest.mark.parametrize("marker", sorted(MISSING))
def test_markers_are_missing_unless_they_are_classes(marker: str) -> None:
    labels, notes = convert(["a", "b", marker, f" {marker}"])
    assert labels == ["a", "b", None, None]
    assert f"2 labels treated as missing: {marker!r}" in notes
    assert "--keep-na" in notes
    assert convert(["a", marker], keep_na=True) == (["a", marker], "")
    assert convert(["a", marker], classes=["a", marker])[0] == ["a", marker]
    assert convert([marker, "a"], classes=["a"])[0] == [None, "a"]


def test_failed_verdicts_beside_one_class_are_classes() -> None:
    assert convert(["no error", "error"]) == (["no error", "error"], "")


SUSPECTS = [
    *("failed", "none", "refused", "abstain", "n.a", "to_do", "no_answer", "?", "-", "\u2014"),
    *("...", "_", "''", "(NA)", "NA.", "Null", "<none>", "[error]", "HTTP 429", "unknown"),
    *("Not sure", "I cannot answer", "I'm sorry, but I can\u2019t help with that."),
    *("As an AI language model, I do not judge", "N/A - cannot judge", "Error: 429"),
    *("Failed to parse the response", "Could not decide"),
    *("TimeoutError('x')", "-1", "-99", "999"),
]


@pytest.mark.parametrize("word", SUSPECTS)
def test_what_may_mark_missing_responses_is_a_class_with_a_note(word: str) -> None:
    labels, notes = convert(["A", "B", word])
    assert labels == ["A", "B", word]
    assert f"read as classes: {word!r}" in notes
    assert advised(notes) == [word]
    assert convert(["A", "B", word], missing=[word])[0] == ["A", "B", None]
    assert convert(["A", "B", word], classes=["A", "B", word])[1] == ""


SENTENCES = [word for word in (*SUSPECTS, 'Sorry, "no"') if not word.strip("-").isdigit()]


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, unique=True))
def test_the_advice_names_all_labels_that_may_mark_missing_responses(words: list[str]) -> None:
    labels, notes = convert(["A", "B", *words])
    assert sorted(advised(notes)) == sorted(words)
    assert convert(labels, missing=advised(notes))[0] == ["A", "B", *[None] * len(words)]


@pytest.mark.parametrize("code", ["-1", "-8", "-99", "77", "98", "255", "65535"])
def test_codes_of_missing_responses_beside_small_numbers_are_noted(code: str) -> None:
    labels, notes = convert(["1", "2", "3", code])
    assert labels[-1] == code
    assert f"--missing {code}" in notes
    assert convert(["70", "80", code])[1] == ""
    assert convert(["cat", "dog", "5", code])[1] == ""


@pytest.mark.parametrize(
    "labels",
    [
        *(["no", "Nancy", "nilly"], ["<", "=", ">"], ["+", "-"], ["A+", "A", "A-"], ["C", "C++"]),
        *(
            ["valid", "invalid"],
            ["cat", "dog", "7"],
            [str(n) for n in range(120)],
            ["#1", "#2", "A"],
        ),
    ],
)
def test_ordinary_classes_are_not_noted(labels: list[str]) -> None:
    assert convert(labels) == (labels, "")


@pytest.mark.parametrize(
    ("marker", "label"),
    [
        *(("?", "?"), ("1", "1.0"), ("1.0", "1"), ("-9", "-9.0"), ("1,0", "1"), (" 9 ", "9")),
        *((9, 9), (9.0, 9), (-1, -1), (True, True), ("a, b", "a, b")),
    ],
)
def test_what_the_user_calls_missing_is_missing_and_else_reported(marker: Any, label: Any) -> None:
    labels, notes = convert([2, "3", label, "NA"], missing=[marker])
    assert labels == [2, "3", None, None]
    assert (f"1 label treated as missing: {label!r}" in notes) == isinstance(label, str)
    assert "no label is" not in notes
    notes = convert([2, "3"], missing=[marker, "zebra"])[1]
    names = "'zebra'" if marker == -1 else f"{marker!r}, 'zebra'"  # −1 is the default of matrices
    assert notes == f"no label is {names}, given as missing"


@pytest.mark.parametrize("others", [[1], [0, 1]])
def test_minus_one_may_be_a_class_of_a_matrix(others: list[int]) -> None:
    classes = [-1, *others]
    signs = np.random.default_rng(0).choice(classes, (8, 3))
    note = f"{(signs < 0).sum()} labels treated as missing: -1 (if it is a class: "
    assert (
        f"{note}Responses.from_matrix(…, missing=None, classes={classes}))"
        in Responses.from_matrix(signs).notes
    )
    kept = Responses.from_matrix(signs, None, classes=classes)
    assert kept.n_responses == signs.size
    assert not kept.notes
    for without_doubt in ([[1, -1, 2], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]]):
        assert not Responses.from_matrix(without_doubt).notes


@pytest.mark.parametrize("null", [None, float("nan"), "", "  "])
def test_nulls_are_missing_even_if_markers_are_kept(null: Any) -> None:
    expected = ["a", None], "1 empty label treated as missing"
    assert convert(["a", null], keep_na=True) == expected


# Numbers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "1.0", "2"], ["1", "1", "2"]),
        (["1.0", "2.0", None], ["1", "2", None]),
        (["0.5", "0.50", "1.0"], ["0.5", "0.5", "1"]),
        (["-1", "-1.0", "-0.0", "10"], ["-1", "-1", "0", "10"]),
        (["1", "1.0", "NA"], ["1", "1", None]),
        (["1", "1,0", "1.0", "2,00"], ["1", "1", "1", "2"]),
        (["1", "1,000", "2"], ["1", "1,000", "2"]),
        (["1", "1,0", "0,1"], ["1", "1,0", "0,1"]),
        (["007", "7", "7.0"], ["007", "7", "7.0"]),
        (["1e5", "100000"], ["1e5", "100000"]),
        (["1", "1.0", "other"], ["1", "1.0", "other"]),
    ],
)
def test_numbers_of_equal_value_are_one_label_if_all_labels_are_numbers(
    values: list[Any], expected: list[Any]
) -> None:
    labels, notes = convert(values)
    assert labels == expected
    changed = sum(a != b for a, b in zip(values, expected, strict=True) if b is not None)
    assert ("read as numbers" in notes) == (changed > 0)


@given(st.integers(-9, 99), st.sampled_from(["{}", "{}.0", "{:.6e}", "{:.18e}"]))
def test_whole_numbers_of_any_program_are_one_class(number: int, form: str) -> None:
    written = form.format(float(number) if "e" in form else number)
    assert convert(["200", str(number), written])[0] == ["200", str(number), str(number)]
    assert convert([str(number), written], classes=[written, "200"])[0] == [written, written]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["1", "1.0", "2.00"], ["1", "1", "2"]),
        (["1.0", "x"], ["1.0", "x"]),
        (["1.1", "1.10"], ["1.1", "1.10"]),
        (["01", "1.0"], ["01", "1.0"]),
        (["1.0", ""], ["1", ""]),
    ],
)
def test_names_are_joined_only_if_all_are_whole_numbers(
    names: list[str], expected: list[str]
) -> None:
    assert plain_names(names) == expected


def test_minus_one_abstains_beside_other_whole_numbers() -> None:
    assert convert(["-1", "0", "1.0"], abstain=True)[0] == [None, "0", "1"]
    assert convert([-1, 0, 1], abstain=True)[0] == [None, 0, 1]
    assert convert(["-1", "1"], abstain=True)[0] == ["-1", "1"]
    assert convert(["-1", "cat"], abstain=True)[0] == ["-1", "cat"]
    assert convert(["-1", "0"], abstain=True, classes=["-1", "0"])[0] == ["-1", "0"]
    assert convert(["-1", "0"])[0] == ["-1", "0"]


@pytest.mark.parametrize(
    ("ratings", "codes"),
    [
        ([1, 2, 3, 4, 5, -1], "-1"),
        ([0.5, 3.5, 7.25, -1, -9], "-9, -1"),
        ([1, 2, 3, 999], "999"),
        ([1, 5, 10, 99, float("nan")], "99"),
        *(([-2, -1, 0, 1, 2], None), ([-0.5, 0.5, -1, 1], None), ([90, 95, 99, 100], None)),
        *(([60, 77, 88], None), ([-1, 1], None), ([], None)),
    ],
)
def test_ratings_that_may_mark_missing_ones_are_noted(
    ratings: list[float], codes: str | None
) -> None:
    notes = missing_number_note(ratings)
    assert [note.split(".")[0] for note in notes] == [f"read as numbers: {codes}"] * bool(codes)


# Case, Unicode form, and what stands around a label

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=6)
FORMS = [
    *("{}.", "**{}**", "`{}`", '"{}"', "({})", "[[{}]]", "«{}»", "„{}“", "「{}」", "{}\u200b!"),
    *("<b>{}</b>", "<answer>{}</answer>", "{}</s>", "{}<|im_end|>", "### {}", "Label: {}"),
    *("Final answer: {}", "The correct label is: **{}**.", "The answer is {}", "Verdict - {}"),
    *("__label__{}", "LABEL_{}"),
]
"""What programs and language models write around a label, and folding removes."""


@pytest.mark.parametrize(
    "spellings",
    [
        *(["Cat", "cat", "CAT"], ["caf\u00e9", "cafe\u0301"], ["ＡＢ", "AB"], ["a  b", "a b"]),
        *(["1", "1.0"], ["a-b", "a_b", "a\u2011b"]),
    ],
)
def test_spellings_are_kept_apart_with_a_note_or_joined(spellings: list[str]) -> None:
    labels, notes = convert([*spellings, "dog"])
    assert labels == [*spellings, "dog"]
    assert "--fold-case" in notes
    labels, notes = convert([*spellings, spellings[1] + " ", "dog"], fold_case=True)
    assert set(labels) == {spellings[1], "dog"}
    assert "most frequent spelling" in notes
    assert convert(spellings[:1], classes=[spellings[1]], fold_case=True)[0] == [spellings[1]]


@given(WORDS, st.sampled_from(FORMS), st.booleans())
def test_what_stands_around_a_word_does_not_change_its_key(
    word: str, form: str, upper: bool
) -> None:
    written = form.format(word.upper() if upper else word)
    assert fold(written) == fold(word)
    assert fold(form.format(f"not {word}")) != fold(word)
    labels, notes = convert([word, written, "zz"], fold_case=True, classes=[word, "zz"])
    assert labels == [word, word, "zz"]
    assert "--fold-case" in convert([word, written, "zz"])[1]
    assert "most frequent spelling" in notes


def test_a_spelling_without_decoration_is_preferred_to_a_more_frequent_one() -> None:
    values = ["**Yes.**", "yes", "Label: yes", "no"]
    rules = LabelRules(values, lambda: [9, 1, 5, 1], LabelOptions(fold_case=True))
    assert rules.labels == ["yes", "yes", "yes", "no"]
    rules = LabelRules(["Yes", "yes"], lambda: [9, 1], LabelOptions(fold_case=True))
    assert rules.labels == ["Yes", "Yes"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("-1", "1"), ("+1", "1"), ("1-2", "12"), ("A+", "A"), ("1.5", "15"), ("A>B", "B>A")],
)
def test_signs_and_digits_are_not_decoration(one: str, other: str) -> None:
    assert fold(one) != fold(other)


# Partitions and callers

CELLS = st.sampled_from(
    ["1", "1.0", "2", "cat", "Cat", " cat", "NA", "", "error", "invalid", "none", "-1", "dog", None]
)


@given(st.lists(CELLS, min_size=1, unique=True), st.booleans(), st.booleans(), st.booleans())
def test_with_the_classes_given_each_value_can_be_converted_alone(
    values: list[Any], keep_na: bool, fold_case: bool, abstain: bool
) -> None:
    options = {"keep_na": keep_na, "fold_case": fold_case, "abstain": abstain}
    whole, _ = convert(values, **options)
    classes = list(dict.fromkeys(label for label in whole if label is not None))
    if classes:
        assert [convert([one], classes=classes, **options)[0][0] for one in values] == whole


def test_lists_matrices_and_frames_follow_the_rules() -> None:
    labels = ["Cat", "cat ", "NA", "dog"]
    long = Responses.from_long(["q1", "q1 ", "q2", " q2"], list("abab"), labels, fold_case=True)
    matrix = Responses.from_matrix([labels[:2], labels[2:]], fold_case=True)
    assert long.items.tolist() == ["q1", "q2"]
    for responses in (long, matrix):
        assert responses.n_classes == 2
        assert responses.n_responses == 3
        assert any("'NA'" in note for note in responses.notes)
    numbered = Responses.from_long(["1", "1.0", "2"], list("aba"), list("xyx"))
    assert numbered.items.tolist() == ["1", "2"]
    assert any("7.0 and 7 are one item" in note for note in numbered.notes)
    kept = Responses.from_long([1, 2, 3], [1, 1, 1], ["NA", "x", "?"], keep_na=True, missing="?")
    assert kept.classes.tolist() == ["NA", "x"]
