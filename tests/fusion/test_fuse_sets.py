"""``fuse_sets``: better than class-by-class majority, `fuse` for single choices, bad input."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import BadLabels, fuse, fuse_sets, simulate
from tests.support.multi_label import mean_f1, simulate_sets


@pytest.mark.parametrize("seed", range(3))
def test_sets_are_better_than_class_by_class_majority(seed: int) -> None:
    drawn = simulate_sets(seed=seed)
    fusion = fuse_sets(drawn.items, drawn.annotators, drawn.sets, classes=list(range(20)))
    found = np.zeros_like(drawn.truth)
    for row, members in zip(found, fusion.sets, strict=True):
        row[list(members)] = True
    np.testing.assert_array_equal(found, fusion.posteriors > 0.5)
    assert mean_f1(found, drawn.truth) > mean_f1(drawn.majority(), drawn.truth)
    chosen = np.where(found, fusion.posteriors, 1 - fusion.posteriors)
    np.testing.assert_allclose(fusion.confidence, chosen.prod(axis=1))
    exact = (found == drawn.truth).all(axis=1)
    confident = fusion.confidence > 0.9
    assert exact[confident].mean() > exact[~confident].mean()


def test_single_choices_give_the_labels_of_fuse() -> None:
    table = simulate(200, 6, 3, np.random.default_rng(0), skill=0.5, missing=0.3).responses
    names = np.array(["a", "b", "c"])
    items, rows = table.item_of_response(), table.by_item
    labels = names[rows.symbols].tolist()
    fusion = fuse_sets(items, rows.codes, [[label] for label in labels])
    frame = {"item": items, "annotator": rows.codes, "label": labels}
    expected = fuse(pl.DataFrame(frame))
    assert [label for (label,) in fusion.sets] == expected.labels.tolist()
    np.testing.assert_array_equal(fusion.posteriors, expected.posteriors)


def test_empty_sets_are_responses_and_none_is_missing() -> None:
    items, annotators = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    sets: list[Any] = [
        *([], [], [], ["x"]),
        *(["x"], ["x"], ["x"], []),
        *(["x", "y"], ["x", "y"], ["y", "x"], ["x", "y"]),
        *([], [], [], None),
    ]
    fusion = fuse_sets(items, annotators, sets)
    assert fusion.sets == ((), ("x",), ("x", "y"), ())
    assert "4 items, 2 classes" in repr(fusion)


def test_a_class_that_nobody_or_everybody_names() -> None:
    fusion = fuse_sets(
        [0, 0, 1, 1], [0, 1, 0, 1], [["x"], ["x", "y"], ["x"], ["x"]], classes=["x", "y", "z"]
    )
    assert fusion.questions[0] is None
    assert fusion.questions[2] is None
    assert all("x" in members and "z" not in members for members in fusion.sets)


@pytest.mark.parametrize(
    ("sets", "classes", "message"),
    [
        ([["x", "x"], ["y"]], None, r"Row 0 names 'x' more than once"),
        (["x", ["y"]], None, r"'x' \(row 0\) is not a set"),
        ([5, ["y"]], None, r"5 \(row 0\) is not a set"),
        ([[], []], None, "No response names a class"),
        ([["x"], ["q"]], ["x", "y"], "'q' are not among the classes"),
        ([["x"]], None, "same length"),
    ],
)
def test_bad_input_is_refused(sets: list[Any], classes: list[str] | None, message: str) -> None:
    with pytest.raises(BadLabels, match=message):
        fuse_sets([0, 1], ["a", "a"], sets, classes=classes)
