"""Spellings of labels: those that are one class, and those that a note asks about."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blindfuse.responses.spellings import (
    abbreviation_note,
    accent_note,
    containing_note,
    fold,
    repair_encoding,
    truth_value_note,
)

FORMS = {
    "period": "{}.",
    "bold": "**{}**",
    "guillemets": "«{}»",
    "low quotes": "„{}“",
    "brackets of Japanese": "「{}」",
    "tag": "<b>{}</b>",
    "tag of an answer": "<answer>{}</answer>",
    "end of a sequence": "{}</s>",
    "special token": "{}<|im_end|>",
    "heading of Markdown": "### {}",
    "heading": "Final answer: {}",
    "heading without a colon": "The answer is {}",
    "heading with a dash": "Verdict - {}",
    "fastText": "__label__{}",
    "Hugging Face": "LABEL_{}",
}
"""What programs and language models write around a label, and folding removes."""

ADDITIONS = {
    "reason after a comma": "{}, because it is",
    "reason after a colon": "{}: it is so",
    "reason after a dash": "{} - it is so",
    "bullet": "- {}",
    "emoji": "{} ✅",
    "probability": "{} 0.87",
    "probability in brackets": "{} (0.87)",
    "JSON that is cut off": '{{"label": "{}"',
    "bytes of Python": "b'{}'",
    "NumPy text": "np.str_('{}')",
    "heading in German": "Antwort: {}",
    "heading in Chinese": "答案：{}",
    "formula": '="{}"',
}
"""What folding keeps, because it cannot know whether it changes the label."""

WORDS = [("yes", "no"), ("A", "B"), ("A>B", "B>A"), ("toxic", "not toxic")]

every_pair = pytest.mark.parametrize("words", WORDS, ids="/".join)


@every_pair
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_stands_around_a_label_is_folded(words: tuple[str, str], form: str) -> None:
    for word in words:
        assert fold(form.format(word)) == fold(word)
    assert fold(form.format(words[0])) != fold(words[1])


@every_pair
@pytest.mark.parametrize("form", ADDITIONS.values(), ids=ADDITIONS.keys())
def test_labels_within_labels_are_noted(words: tuple[str, str], form: str) -> None:
    labels = [*words, *(form.format(word) for word in words)]
    (note,) = containing_note(labels)
    assert repr(labels[0]) in note
    assert repr(labels[2]) in note
    assert "Write them alike" in note
    assert containing_note([*labels[:3], "unrelated"]) == []  # one such label may be a class
    assert containing_note(labels[2:]) == []


@pytest.mark.parametrize("form", ["{}/5", "{}/10", "{} out of 10", "{} stars", "{}%", "Score {}"])
def test_numbers_within_labels_are_noted(form: str) -> None:
    numbers = ["1", "2", "3", "4", "5"]
    (note,) = containing_note([*numbers, *map(form.format, numbers)])
    assert form.format("1") in note


@pytest.mark.parametrize(
    "labels",
    [
        ["agree", "disagree", "strongly agree", "strongly disagree"],
        ["positive", "negative", "very positive", "very negative", "neutral"],
        ["toxic", "not toxic", "severe toxic"],
        ["A", "A+", "A-", "B", "B+", "B-"],
        ["news", "news/sport", "news.local", "art", "art/music"],
        ["PER", "B-PER", "I-PER", "LOC", "B-LOC", "I-LOC"],
        ["relevant", "relevant (partly)", "irrelevant", "irrelevant (spam)"],
        ["know", "don't know", "care", "don't care"],
        ["-2", "-1", "0", "1", "2", "0.5", "1.5"],
        ["cat", "dog", "cat, dog", "dog, cat"],
        ["1", "2", "3", "1-2", "2-3"],
        ["1", "2", "11", "12"],
        ["A", "B", "A>B", "B>A", "A=B"],
        ["agreed", "agree", "disagree"],
        [str(k) for k in range(400)] + [f"{k} stars" for k in range(400)],
    ],
    ids=lambda labels: labels[1],
)
def test_ordinary_classes_are_not_noted(labels: list[str]) -> None:
    assert containing_note(labels) == []
    assert accent_note(labels) == []
    assert truth_value_note(labels) == []


@given(word=st.text(st.characters(max_codepoint=0x2FF, categories=["L"]), min_size=1, max_size=8))
def test_utf8_that_was_read_in_another_encoding_is_folded(word: str) -> None:
    for encoding in ("latin-1", "cp1252"):
        try:
            misread = word.encode().decode(encoding)
        except UnicodeError:  # Windows-1252 has no letter for some bytes
            continue
        assume(misread.strip() == misread)
        assert repair_encoding(misread) in (word, repair_encoding(word))
        assert fold(misread) == fold(word)


@pytest.mark.parametrize("text", ["café", "naïve", "Ärger", "ÿ", "день", "中文", "£5", "Ã"])
def test_text_in_its_own_encoding_is_kept(text: str) -> None:
    assert repair_encoding(text) == text


def test_labels_that_differ_by_accents_are_noted() -> None:
    (note,) = accent_note(["café", "cafe", "dog"])
    assert "'cafe', 'café'" in note
    assert accent_note(["cafe\u0301", "café"]) == []  # one class for --fold-case


@pytest.mark.parametrize(
    "labels",
    [
        ["TRUE", "FALSE", "1", "0"],
        ["yes", "no", "TRUE"],
        ["Y", "N", "yes", "no"],
        ["WAHR", "FALSCH", "true", "false"],
        ["ja", "nein", "1"],
        ["True", "False", "1.0", "0.0"],
    ],
    ids="/".join,
)
def test_spellings_of_truth_values_are_noted(labels: list[str]) -> None:
    (note,) = truth_value_note(labels)
    assert all(repr(label) in note for label in labels)


@pytest.mark.parametrize("labels", [["yes", "no"], ["n", "t"], ["0", "1", "2"], ["on", "no", "x"]])
def test_other_labels_are_not_truth_values(labels: list[str]) -> None:
    assert truth_value_note(labels) == []


@pytest.mark.parametrize(
    "labels",
    [["pos", "positive", "neg", "negative"], ["cat", "cats", "dog", "dogs", "emu"]],
    ids="/".join,
)
def test_beginnings_of_most_labels_are_noted(labels: list[str]) -> None:
    (note,) = abbreviation_note(labels)
    assert all(repr(label) in note for label in labels[:4])
    assert abbreviation_note(labels[::-1]) == [note]


@pytest.mark.parametrize(
    "labels",
    [
        ["A", "AA", "AAA", "B", "BB", "BBB"],
        ["cold", "colder", "coldest"],
        ["low", "lower", "red", "green"],
        ["toxic", "toxicity", "hate", "hateful", "a", "b", "c", "d", "e"],
        ["1", "10", "2", "20"],
    ],
    ids="/".join,
)
def test_words_with_a_common_beginning_are_not_noted(labels: list[str]) -> None:
    assert abbreviation_note(labels) == []
