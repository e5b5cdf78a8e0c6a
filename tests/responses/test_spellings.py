"""Spellings of labels: those that are one class, and those that a note asks about."""

import pytest

from blindfuse.responses.spellings import fold, likeness_note

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

WORDS = [("yes", "no"), ("A", "B"), ("A>B", "B>A"), ("toxic", "not toxic")]

every_pair = pytest.mark.parametrize("words", WORDS, ids="/".join)


@every_pair
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_stands_around_a_label_is_folded(words: tuple[str, str], form: str) -> None:
    for word in words:
        assert fold(form.format(word)) == fold(word)
    assert fold(form.format(words[0])) != fold(words[1])


@pytest.mark.parametrize(
    "labels",
    [
        ["café", "cafe", "dog"],
        ["TRUE", "FALSE", "1", "0"],
        ["yes", "no", "TRUE"],
        ["WAHR", "FALSCH", "true", "false"],
        ["True", "False", "1.0", "0.0"],
        ["pos", "positive", "neg", "negative"],
        ["yes", "no", "yes, because it is", "no - it is not"],
        ["1", "2", "3", "1/5", "2/5", "3 stars"],
    ],
    ids="/".join,
)
def test_labels_that_may_mean_the_same_are_noted(labels: list[str]) -> None:
    (note,) = likeness_note(labels)
    assert repr(labels[0]) in note
    assert "Write them alike" in note
    assert likeness_note(labels[::-1]) == [note]


@pytest.mark.parametrize(
    "labels",
    [
        ["agree", "disagree", "strongly agree", "strongly disagree"],
        ["positive", "negative", "very positive", "very negative", "neutral"],
        ["toxic", "not toxic", "severe toxic"],
        ["A", "A+", "A-", "B", "B+", "B-"],
        ["news", "news/sport", "news.local", "art", "art/music"],
        ["-2", "-1", "0", "1", "2", "0.5", "1.5"],
        ["1", "2", "11", "12", "1-2"],
        ["A", "AA", "AAA", "B", "BB", "BBB"],
        ["cold", "colder", "coldest"],
        ["cafe\u0301", "café"],  # one class for --fold-case
        ["yes", "no"],
        ["x", "y"],
        ["n", "t"],
        ["0", "1", "2"],
        ["on", "no", "x"],
        [str(k) for k in range(400)] + [f"{k} stars" for k in range(400)],
    ],
    ids=lambda labels: labels[1],
)
def test_ordinary_classes_are_not_noted(labels: list[str]) -> None:
    assert likeness_note(labels) == []
