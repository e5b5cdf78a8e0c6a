"""Notes that count something."""

from blindfuse.responses.notes import count_note, percent_range, sum_notes


def test_a_note_counts_in_singular_and_plural() -> None:
    assert count_note(0, "label{s} skipped") == []
    assert count_note(1, "label{s} skipped") == ["1 label skipped"]
    assert count_note(1200, "class{es} of label{s}") == ["1,200 classes of labels"]


def test_counts_of_the_same_note_are_added_and_other_notes_occur_once() -> None:
    one, other = count_note(1, "label{s} skipped"), count_note(2, "row{s} skipped")
    assert sum_notes([*one, "read", *other, *one, "read"]) == [
        "2 labels skipped",
        "read",
        "2 rows skipped",
    ]
    assert sum_notes([*sum_notes([*one, *one]), *one]) == ["3 labels skipped"]


def test_limits_that_are_shown_alike_are_one_number() -> None:
    assert percent_range(0.718, 0.84) == "72 to 84 %"
    assert percent_range(0.868, 0.874) == "87 %"
