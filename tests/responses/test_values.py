"""How values become labels and names: white space, missing markers, numbers, spellings."""

import shlex
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import Responses
from blindfuse.responses.markers import FAILED_VERDICTS, MISSING_MARKERS
from blindfuse.responses.spellings import fold
from blindfuse.responses.values import (
    TRIMMED,
    LabelOptions,
    LabelRules,
    missing_number_note,
    plain_names,
)


def convert(values: list[Any], **options: Any) -> tuple[list[Any], str]:
    """The labels of the values, each reported once, and all notes as one text."""
    rules = LabelRules(values, lambda: [1] * len(values), LabelOptions(**options))
    return rules.labels, "; ".join(rules.notes)


# White space


@pytest.mark.parametrize("space", TRIMMED)
def test_outer_white_space_is_removed_and_noted(space: str) -> None:
    labels, notes = convert([f"cat{space}", f"{space}cat", "cat", f"big{space}dog"])
    assert labels == ["cat", "cat", "cat", f"big{space}dog"]
    assert "2 labels trimmed" in notes
    assert plain_names([f"{space}q1{space}{space}", "q1"]) == ["q1", "q1"]


def test_a_given_class_keeps_its_white_space() -> None:
    assert convert(["cat ", "cat"], classes=["cat ", "cat"])[0] == ["cat ", "cat"]


# Missing markers


@pytest.mark.parametrize("marker", sorted(MISSING_MARKERS))
def test_markers_are_missing_unless_they_are_classes(marker: str) -> None:
    labels, notes = convert(["a", "b", marker, f" {marker}"])
    assert labels == ["a", "b", None, None]
    assert f"2 labels treated as missing: {marker!r}" in notes
    assert "--keep-na" in notes
    assert convert(["a", marker], keep_na=True) == (["a", marker], "")
    assert convert(["a", marker], classes=["a", marker])[0] == ["a", marker]


@pytest.mark.parametrize("word", ["none", "no", "nil", "", "Nancy", "-", "?"])
def test_other_words_are_not_markers(word: str) -> None:
    assert convert(["a", "b", word])[0] == ["a", "b", word or None]


def test_the_users_markers_are_missing_too() -> None:
    labels, notes = convert(["a", "b", "?", "NA"], missing=["?"])
    assert labels == ["a", "b", None, None]
    assert "1 label treated as missing: '?'" in notes
    assert convert([0, 1, 9], missing=[9]) == ([0, 1, None], "")


@pytest.mark.parametrize(
    ("marker", "label"), [("1", "1.0"), ("1.0", "1"), ("-9", "-9.0"), ("1,0", "1"), (" 9 ", "9")]
)
def test_a_number_that_marks_missing_labels_is_found_in_any_spelling(
    marker: str, label: str
) -> None:
    labels, notes = convert(["2", "3", label], missing=[marker])
    assert labels == ["2", "3", None]
    assert f"1 label treated as missing: {label!r}" in notes


def test_markers_that_do_not_occur_are_noted() -> None:
    notes = convert(["cat", "dog"], missing=["CAT", "zebra"])[1]
    assert notes == "no label is 'CAT', 'zebra', given as missing"
    assert convert([0, 1], missing=[-1])[1] == ""
    assert "no label is" not in convert(["a", "b", "?"], missing=["?"])[1]


def test_numbers_that_do_not_occur_are_noted_other_than_the_default() -> None:
    assert convert([0, 1], missing=[5])[1] == "no label is 5, given as missing"
    assert convert([0, 1], missing=[-1])[1] == ""


@pytest.mark.parametrize("others", [[1], [0, 1]])
def test_minus_one_may_be_a_class_of_a_matrix(others: list[int]) -> None:
    classes = [-1, *others]
    signs = np.random.default_rng(0).choice(classes, (8, 3))
    note = f"{(signs < 0).sum()} labels treated as missing: -1 (pass missing=None and classes="
    assert f"{note}{classes} if it is a class)" in Responses.from_matrix(signs).notes
    kept = Responses.from_matrix(signs, None, classes=classes)
    assert kept.n_responses == signs.size
    assert not kept.notes
    for without_doubt in ([[1, -1, 2], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]]):
        assert not Responses.from_matrix(without_doubt).notes


@pytest.mark.parametrize("code", ["77", "88", "98", "-8", "-99", "255", "65535"])
def test_numbers_of_surveys_and_unsigned_numbers_are_noted(code: str) -> None:
    labels, notes = convert(["1", "2", "3", code])
    assert labels[-1] == code
    assert f"--missing {code}" in notes
    assert convert(["70", "80", code])[1] == ""


@pytest.mark.parametrize("null", [None, float("nan"), "", "  "])
def test_nulls_are_missing_even_if_markers_are_kept(null: Any) -> None:
    assert convert(["a", null], keep_na=True) == (
        ["a", None],
        "1 empty label treated as missing",
    )


# Failed verdicts


@pytest.mark.parametrize("word", sorted(FAILED_VERDICTS))
def test_failed_verdicts_are_missing_unless_they_are_classes(word: str) -> None:
    for spelling in (word, word.upper(), word.title(), word.replace("_", " ")):
        labels, notes = convert(["A", "B", spelling])
        assert labels == ["A", "B", None]
        assert "--keep-na" in notes
        assert convert(["A", "B", spelling], keep_na=True)[0] == ["A", "B", spelling]
        assert convert(["A", "B", spelling], classes=["A", "B", spelling])[0][2] == spelling
        assert convert(["no error", spelling]) == (["no error", spelling], "")
        assert convert([spelling, "A"], classes=["A"])[0] == [None, "A"]


@pytest.mark.parametrize(
    "word", ["failed", "none", "refused", "abstain", "n.a", "to_do", "no_answer", "-inf"]
)
def test_words_that_are_often_classes_are_kept_with_a_note(word: str) -> None:
    labels, notes = convert(["A", "B", word])
    assert labels == ["A", "B", word]
    assert f"--missing {word}" in notes or f"--missing {shlex.quote(word)}" in notes
    assert convert(["A", "B", word], missing=[word])[0] == ["A", "B", None]
    assert convert(["valid", word]) == (["valid", word], "")


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


def test_numbers_beside_text_are_kept_apart_with_a_note() -> None:
    assert "kept apart" in convert(["1", "1.0", "other"])[1]
    assert convert(["1", "2.0", "other"])[1] == ""


def test_numbers_take_the_spelling_of_the_given_classes() -> None:
    assert convert(["1", "1.0", "2"], classes=["1.0", "2.0"])[0] == ["1.0", "1.0", "2.0"]
    assert convert(["1.0"], classes=["1", "2"])[0] == ["1"]


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


# Case and Unicode form


@pytest.mark.parametrize(
    "spellings",
    [["Cat", "cat", "CAT"], ["caf\u00e9", "cafe\u0301"], ["ＡＢ", "AB"], ["a  b", "a b"]],
)
def test_spellings_are_kept_apart_with_a_note_or_joined(spellings: list[str]) -> None:
    labels, notes = convert([*spellings, "dog"])
    assert labels == [*spellings, "dog"]
    assert "--fold-case" in notes
    labels, notes = convert([*spellings, spellings[1] + " ", "dog"], fold_case=True)
    assert set(labels) == {spellings[1], "dog"}
    assert "most frequent spelling" in notes
    assert convert(spellings[:1], classes=[spellings[1]], fold_case=True)[0] == [spellings[1]]


# Partitions and callers


words = st.sampled_from(
    ["1", "1.0", "2", "cat", "Cat", " cat", "NA", "", "error", "invalid", "none", "-1", "dog", None]
)


@given(st.lists(words, min_size=1, unique=True), st.booleans(), st.booleans(), st.booleans())
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


# What programs, surveys and language models write

WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=6)
DECORATIONS = [
    "{}.",
    "**{}**",
    "`{}`",
    '"{}"',
    "({})",
    "[[{}]]",
    "\u201c{}\u201d",
    "Label: {}",
    "Final answer: {}",
    "The correct label is: **{}**.",
    "{}\u200b!",
]


@given(WORDS, st.sampled_from(DECORATIONS), st.booleans())
def test_what_stands_around_a_word_does_not_change_its_key(
    word: str, decoration: str, upper: bool
) -> None:
    written = decoration.format(word.upper() if upper else word)
    assert fold(written) == fold(word)
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


@given(WORDS, WORDS, st.sampled_from("-_ \u2011\u2013\u00a0"))
def test_dashes_underscores_and_spaces_between_words_are_alike(a: str, b: str, sign: str) -> None:
    assert fold(f"{a}{sign}{b}") == fold(f"{a} {b}")


@pytest.mark.parametrize(
    ("one", "other"), [("-1", "1"), ("+1", "1"), ("1-2", "12"), ("A+", "A"), ("1.5", "15")]
)
def test_signs_and_digits_are_not_decoration(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.integers(-9, 99), st.sampled_from(["{}", "{}.0", "{:.6e}", "{:.18e}"]))
def test_whole_numbers_of_any_program_are_one_class(number: int, form: str) -> None:
    written = form.format(float(number) if "e" in form else number)
    assert convert(["200", str(number), written])[0] == ["200", str(number), str(number)]


@pytest.mark.parametrize("written", ["01", "+1", "1e0", "1E+00", "1.", "1,000000", "100%", "100 %"])
def test_numbers_of_equal_value_that_are_kept_apart_are_noted(written: str) -> None:
    labels, notes = convert(["1", written, "2"])
    assert labels == ["1", written, "2"]
    assert "numbers of equal value kept apart" in notes
    assert f"'{written}'" in notes
    assert "kept apart" not in convert(["01", "02", "10"])[1]


def test_numbers_that_differ_by_rounding_are_noted_and_others_are_not() -> None:
    assert "'0.3', '0.30000000000000004'" in convert(["0.3", "0.30000000000000004", "0.1"])[1]
    assert convert(["0.3", "0.31", "3.1"])[1] == ""
    assert "kept apart" not in convert(["1", "1,000"])[1]


@pytest.mark.parametrize(
    "mark", ["\u2014", "...", "_", "''", "(NA)", "NA.", "Null", "<none>", "[error]", "HTTP 429"]
)
def test_punctuation_and_marks_in_other_spellings_are_classes_with_a_note(mark: str) -> None:
    labels, notes = convert(["A", "B", mark])
    assert labels == ["A", "B", mark]
    assert f"read as classes: {mark!r}" in notes or "--missing" in notes


@pytest.mark.parametrize("labels", [["<", "=", ">"], ["+", "-"], ["A+", "A", "A-"], ["C", "C++"]])
def test_signs_that_are_classes_are_not_noted(labels: list[str]) -> None:
    assert convert(labels) == (labels, "")


@pytest.mark.parametrize("code", ["-1", "-99", "999", "-1.0"])
def test_codes_beside_words_are_noted_and_other_numbers_are_not(code: str) -> None:
    assert f"--missing {code}" in convert(["cat", "dog", code])[1]
    assert convert(["cat", "dog", "5", code])[1] == ""
    assert convert(["cat", "dog", "7"])[1] == ""


@pytest.mark.parametrize(
    "error", ["#ERROR", "#REF!", "#BEZUG!", "#SPILL!", "#NV", "####", "Err:502"]
)
def test_errors_of_spreadsheets_are_missing(error: str) -> None:
    labels, notes = convert(["A", "B", error])
    assert labels == ["A", "B", None]
    assert "--keep-na" in notes
    assert convert(["A", "B", "#1", "##"])[0] == ["A", "B", "#1", "##"]


@pytest.mark.parametrize("code", ["-1", "-9", "-99", "99", "999"])
def test_codes_of_missing_responses_are_classes_with_a_note(code: str) -> None:
    labels, notes = convert(["1", "2", code])
    assert labels == ["1", "2", code]
    assert f"--missing {code}" in notes
    assert convert(["1", "2", code], classes=["1", "2", code])[1] == ""
    assert convert([str(n) for n in range(120)])[1] == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "I cannot answer",
        "I'm sorry, but I can\u2019t help with that.",
        "As an AI language model, I do not judge",
        "N/A - cannot judge",
        "Error: 429",
        "TimeoutError('x')",
        "unknown",
        "Not sure",
    ],
)
def test_refusals_are_classes_with_a_note(sentence: str) -> None:
    labels, notes = convert(["yes", "no", sentence])
    assert labels == ["yes", "no", sentence]
    assert "If they mark missing responses, pass --missing" in notes
    assert convert(["yes", "no", sentence], missing=[sentence])[0] == ["yes", "no", None]


# Ratings that may mark missing ones


@pytest.mark.parametrize(
    ("ratings", "codes"),
    [
        ([1, 2, 3, 4, 5, -1], "-1"),
        ([0.5, 3.5, 7.25, -1, -9], "-9, -1"),
        ([1, 2, 3, 999], "999"),
        ([1, 5, 10, 99, float("nan")], "99"),
    ],
)
def test_ratings_that_may_mark_missing_ones_are_noted(ratings: list[float], codes: str) -> None:
    (note,) = missing_number_note(ratings)
    assert note.startswith(f"read as numbers: {codes}.")


@pytest.mark.parametrize(
    "ratings", [[-2, -1, 0, 1, 2], [-0.5, 0.5, -1, 1], [90, 95, 99, 100], [60, 77, 88], [-1, 1], []]
)
def test_ratings_within_the_scale_are_not_noted(ratings: list[float]) -> None:
    assert missing_number_note(ratings) == []
