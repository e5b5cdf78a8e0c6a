"""``fuse_sets``: never worse than class-by-class majority, `fuse` for single choices, bad input."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import BadLabels, ResponseSets, SetFusion, fuse, fuse_sets, simulate
from blindfuse.sets.class_dependence import fit_correction
from tests.support.multi_label import FAMILIES, MultiLabel, mean_f1, simulate_sets


def table_of(drawn: MultiLabel) -> ResponseSets:
    names = list(range(drawn.truth.shape[1]))
    return ResponseSets.from_long(drawn.items, drawn.annotators, drawn.sets, classes=names)


@cache
def fuse_family(family: str, seed: int = 0) -> tuple[MultiLabel, SetFusion]:
    drawn = FAMILIES[family](np.random.default_rng(seed))
    return drawn, fuse_sets(table_of(drawn))


@pytest.mark.parametrize(
    ("family", "seed"), [*((family, 0) for family in FAMILIES), ("none_of_these", 2)]
)
def test_no_family_is_worse_than_class_by_class_majority(family: str, seed: int) -> None:
    drawn, fusion = fuse_family(family, seed)
    chosen, majority = fusion.chosen, drawn.majority()
    excess = (chosen != drawn.truth).any(axis=1).astype(float) - (majority != drawn.truth).any(
        axis=1
    )
    assert excess.mean() <= 2 * excess.std() / np.sqrt(len(excess))
    assert mean_f1(chosen, drawn.truth) >= mean_f1(majority, drawn.truth) - 0.005


def test_related_classes_are_used_and_named() -> None:
    drawn = simulate_sets(n_items=300, n_annotators=15, n_classes=12, seed=3)
    fusion = fuse_sets(table_of(drawn))
    gain = fusion.dependence.gain
    assert gain is not None
    assert gain.z > 2
    assert fusion.method == "one question per class, related classes"
    assert "predicts held-out responses better" in fusion.why
    strongest = [sorted((one, other)) for one, other, _ in fusion.related_classes()[:4]]
    assert all(other == one + 1 and one % 2 == 0 for one, other in strongest)
    uncorrected = np.stack([one.labels == "yes" for one in fusion.questions if one], axis=1)
    assert mean_f1(fusion.chosen, drawn.truth) > mean_f1(uncorrected, drawn.truth) + 0.01
    assert mean_f1(fusion.chosen, drawn.truth) > mean_f1(drawn.majority(), drawn.truth) + 0.02


def test_unrelated_classes_are_left_alone() -> None:
    _, fusion = fuse_family("harder_quarter")
    assert fusion.dependence.gain is not None
    assert fusion.dependence.correction is None
    assert fusion.related_classes() == []
    assert "no better" in fusion.why


def test_the_correction_finds_the_conditional_log_odds() -> None:
    """Known labels of two classes: the log odds given the other are those of a 2 × 2 table."""
    rng = np.random.default_rng(0)
    first = rng.random(4000) < 0.4
    second = rng.random(4000) < np.where(first, 0.8, 0.1)
    truth = np.stack([first, second], axis=1)
    evidence = np.where(truth, 12.0, -12.0)
    found = fit_correction(evidence, truth.mean(axis=0)).log_odds(truth.astype(float))
    for given in (False, True):
        share = second[first == given].mean()
        np.testing.assert_allclose(found[first == given, 1], np.log(share / (1 - share)), atol=0.05)


@pytest.mark.parametrize("family", ["copied", "radiologists"])
def test_correlated_errors_in_all_classes_leave_the_majority(family: str) -> None:
    drawn, fusion = fuse_family(family, 1)
    assert fusion.shared is not None
    assert fusion.shared.is_dependent
    assert "every class is decided by its majority" in fusion.why
    np.testing.assert_array_equal(fusion.chosen, drawn.majority())


@pytest.mark.parametrize(
    "family", ["harder_quarter", "few_responses", "one_bad_annotator", "radiologists", "confused"]
)
def test_the_stated_shares_contain_the_true_ones(family: str) -> None:
    drawn, fusion = fuse_family(family)
    error, sets = fusion.expected_error, fusion.correct_sets
    assert error is not None
    assert sets is not None
    assert error.low <= (fusion.chosen != drawn.truth).mean() <= error.high
    assert sets.low <= (fusion.chosen == drawn.truth).all(axis=1).mean() <= sets.high
    assert fusion.confidence.mean() == pytest.approx(sets.value)
    assert 0 < fusion.needs_another_label.mean() < 1


@pytest.mark.parametrize("family", ["correlated_pairs", "copied", "two_annotators"])
def test_order_names_and_seeds_do_not_matter(family: str) -> None:
    drawn, expected = fuse_family(family)
    K, sets = drawn.truth.shape[1], drawn.sets
    rng = np.random.default_rng(1)
    rows, class_at = rng.permutation(len(sets)), rng.permutation(K)
    renamed = [[f"c{class_at[k]:02d}" for k in rng.permutation(sets[row])] for row in rows]
    annotators = [f"w{(7 * drawn.annotators[row]) % 31}" for row in rows]
    items = [f"i{drawn.items[row]}" for row in rows]
    classes = [f"c{k:02d}" for k in range(K)]
    fusion = fuse_sets(items, annotators, renamed, classes=classes, seed=9)
    place = [int(name[1:]) for name in fusion.items]
    np.testing.assert_allclose(
        fusion.posteriors[:, class_at], expected.posteriors[place], atol=1e-6
    )
    np.testing.assert_array_equal(fusion.chosen[:, class_at], expected.chosen[place])


def test_posteriors_have_the_expected_error() -> None:
    drawn = simulate_sets(n_items=300, n_annotators=20, n_classes=10, seed=0)
    fusion = fuse_sets(table_of(drawn))
    chosen = np.where(fusion.chosen, fusion.posteriors, 1 - fusion.posteriors)
    np.testing.assert_allclose(fusion.confidence, chosen.prod(axis=1))
    assert fusion.expected_error is not None
    assert 1 - chosen.mean() == pytest.approx(fusion.expected_error.value, abs=1e-3)


def test_annotators_have_the_recall_and_precision_of_the_truth() -> None:
    drawn = simulate_sets(n_items=400, n_annotators=12, n_classes=10, seed=0)
    rated = fuse_sets(table_of(drawn)).annotators
    covered = 0
    for m in range(12):
        mine = drawn.annotators == m
        named, true = drawn.members[mine], drawn.truth[drawn.items[mine]]
        at = rated.names.tolist().index(m)
        recall = (named & true).sum() / true.sum()
        assert rated.recall[at] == pytest.approx(recall, abs=0.08)
        assert rated.precision[at] == pytest.approx((named & true).sum() / named.sum(), abs=0.08)
        assert rated.mean_size[at] == pytest.approx(named.sum(axis=1).mean())
        covered += rated.recall_low[at] <= recall <= rated.recall_high[at]
    assert covered >= 10


def test_odd_annotators_have_remarks() -> None:
    drawn = FAMILIES["everything_or_nothing"](np.random.default_rng(0))
    constant = drawn.annotators == 6
    drawn.members[constant] = drawn.members[np.argmax(drawn.members.sum(axis=1) == 2)]
    random = drawn.annotators == 7
    drawn.members[random] = np.random.default_rng(1).random(drawn.members[random].shape) < 0.4
    rated = fuse_sets(table_of(drawn)).annotators
    flags = dict(zip(rated.names.tolist(), rated.flags, strict=True))
    assert [flags[m] for m in range(8)] == (
        ["everything"] * 3 + ["nothing"] * 3 + ["constant", "unrelated"]
    )
    assert "names no class in any response" in rated.summary()
    assert not any(flags[m] for m in range(8, 15))


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
    assert fusion.method == expected.method
    assert fusion.why == expected.why
    accuracy = expected.diagnostics.annotators.accuracy
    np.testing.assert_allclose(fusion.annotators.recall, accuracy, atol=0.05)


def test_gold_sets_are_held_fixed() -> None:
    drawn = FAMILIES["correlated_pairs"](np.random.default_rng(0))
    gold: dict[int, Any] = {0: [3, 4], 1: [], 2: "5|6"}
    names = [str(k) for k in range(12)]
    sets = [[str(k) for k in one] for one in drawn.sets]
    known = {0: ["3", "4"], 1: [], 2: "5|6"}
    fusion = fuse_sets(drawn.items, drawn.annotators, sets, classes=names, gold=known)
    assert fusion.sets[:3] == (("3", "4"), (), ("5", "6"))
    assert fusion.confidence[:3].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(BadLabels, match="Gold items 999 are not among the items"):
        fuse_sets(table_of(drawn), gold={999: [1]})
    with pytest.raises(BadLabels, match=r"gold set of item 0 contains 'q'"):
        fuse_sets(table_of(drawn), gold={**gold, 0: ["q"]})


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
    for members in (("x", "y"), ()):
        agreed = fuse_sets([0, 0, 1], ["a", "b", "a"], [members] * 3, classes=["x", "y"])
        assert agreed.sets == (members,) * 2
        assert agreed.why == "All responses agree about every class."
        assert "2 items" in agreed.summary()
        assert "is not shown, so no share of correct sets is stated" in agreed.summary()


def test_classes_that_nobody_names_may_be_given_with_a_frame() -> None:
    frame = pl.DataFrame({"item": [0, 0, 1], "annotator": ["a", "b", "a"], "label": ["x", "x", ""]})
    assert fuse_sets(frame, classes=["y", "x"]).classes.tolist() == ["y", "x"]


def test_rates_are_not_shared_without_agreement_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    sets = [np.flatnonzero(row).tolist() for row in rng.random((400, 5)) < 0.3]
    fusion = fuse_sets(np.repeat(np.arange(100), 4), np.tile(np.arange(4), 100), sets)
    assert "an annotator's rates" not in fusion.why
    assert fusion.correct_sets is None


@pytest.mark.parametrize(
    ("sets", "classes", "message"),
    [
        ([5, ["y"]], None, r"row 0: 5 is not a set"),
        ([[], []], None, "No response names a class"),
        ([["x"], ["q"]], ["x", "y"], r"'q' \(row 1\) are not among the classes"),
        ([["x"]], None, "same length"),
        ([None, None], ["x"], "There are no responses"),
        ([{"x": 0.5}, []], None, r"row 0: 0.5 does not say whether class 'x' applies"),
    ],
)
def test_bad_input_is_refused(sets: list[Any], classes: list[str] | None, message: str) -> None:
    with pytest.raises(BadLabels, match=message):
        fuse_sets([0, 1], ["a", "a"], sets, classes=classes)
