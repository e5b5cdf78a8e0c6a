"""Guards: each on a table that is made for it."""

import numpy as np
import pytest

from blindfuse import DawidSkene, MajorityVote, Responses, fuse, simulate
from blindfuse.diagnostics.visible import vote_margins
from blindfuse.fusion.guards import (
    FITTING_GUARDS,
    MODEL_GUARDS,
    describe_changes,
    empties_a_class,
    misnames_a_class,
    moves_the_prior,
    object_to_labels,
    overrules_majorities,
)
from blindfuse.model.posteriors import weighted_votes
from experiments.settings import FIGURE_4

CLASSES = np.array(["no", "yes"], dtype=object)


def votes_of(*rows: tuple[int, int], times: int = 50) -> np.ndarray:
    """Votes ``[item, class]``: every row as often as ``times``."""
    return np.repeat(np.array(rows, dtype=float), times, axis=0)


def test_a_class_that_the_vote_fills_must_not_become_empty() -> None:
    votes = votes_of((5, 0), (0, 5))
    objection = empties_a_class(np.zeros(100, dtype=int), votes, CLASSES)
    assert objection == "gives class 'yes' 0 items, where the vote gives it 50"
    assert empties_a_class(votes.argmax(axis=1), votes, CLASSES) is None


def test_a_model_that_fits_may_shrink_a_class_but_not_empty_it() -> None:
    """The vote gives a rare class many times as many items as it has."""
    votes = np.concatenate([votes_of((5, 0), times=9000), votes_of((4, 5), times=1000)])
    labels = np.zeros(10_000, dtype=int)
    labels[-50:] = 1
    objection = object_to_labels(labels, votes, CLASSES, MODEL_GUARDS)
    assert objection == "gives class 'yes' 50 items, where the vote gives it 1,000"
    assert object_to_labels(labels, votes, CLASSES, FITTING_GUARDS) is None
    labels[-50:-5] = 0
    assert object_to_labels(labels, votes, CLASSES, FITTING_GUARDS) is not None


def test_a_rare_class_of_independent_annotators_is_left_to_the_model() -> None:
    """Ten annotators, seven classes, one of which has 0.4 % of the items and 6 % of the votes."""
    drawn = FIGURE_4.draw(100_000, 1)
    fusion = fuse(drawn.responses)
    error = np.mean(fusion.labels != drawn.truth)
    assert error < 0.5 * np.mean(MajorityVote().fit_predict(drawn.responses) != drawn.truth)
    assert fusion.expected_error.value == pytest.approx(error, rel=0.1)


def test_a_class_must_be_the_one_that_annotators_report() -> None:
    """Fifty items labelled "yes", for which three of five annotators report "no"."""
    votes = votes_of((5, 0), (3, 2))
    labels = np.repeat([0, 1], 50)
    objection = misnames_a_class(labels, votes, CLASSES)
    assert objection == (
        "gives class 'yes' to items for which annotators report 'no' 150 times and 'yes' 100 times"
    )
    assert object_to_labels(labels, votes, CLASSES, FITTING_GUARDS) == objection


def test_a_few_items_and_nearly_equal_counts_misname_no_class() -> None:
    few = np.concatenate([votes_of((5, 0)), votes_of((3, 2), times=3)])
    labels = np.repeat([0, 1], [50, 3])
    assert misnames_a_class(labels, few, CLASSES) is None
    nearly_equal = votes_of((50, 0), (26, 24))
    assert misnames_a_class(np.repeat([0, 1], 50), nearly_equal, CLASSES) is None


@pytest.mark.parametrize("seed", range(5))
def test_independent_annotators_name_their_classes(seed: int) -> None:
    drawn = FIGURE_4.draw(1_000, seed)
    votes = weighted_votes(drawn.responses)
    labels = np.searchsorted(drawn.responses.classes, drawn.truth)
    assert misnames_a_class(labels, votes, drawn.responses.classes) is None


@pytest.mark.parametrize("seed", range(5))
def test_classifiers_that_agree_by_chance_do_not_move_the_vote(seed: int) -> None:
    """Two in three items have class 0, and each classifier reports it for most items.

    When they report another class depends on a shared feature that says nothing about the class.
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=1_500, p=[0.66, 0.24, 0.10])
    feature = rng.choice(3, size=len(truth), p=[0.5, 0.25, 0.25])
    reports = np.array([[0.96, 0.02, 0.02], [0.68, 0.28, 0.04], [0.68, 0.04, 0.28]])
    limits = reports[feature].cumsum(axis=1)[:, None]
    matrix = (rng.random((len(truth), 15, 1)) > limits).sum(axis=2)
    vote, em, fused = (
        np.mean(labels != truth)
        for labels in (
            MajorityVote().fit_predict(matrix),
            DawidSkene().fit_predict(matrix),
            fuse(matrix).labels,
        )
    )
    assert em > vote + 0.05
    assert fused <= vote + 0.01


def test_a_class_with_few_votes_may_become_empty() -> None:
    votes = np.concatenate([votes_of((5, 0), times=100), votes_of((0, 5), times=5)])
    assert empties_a_class(np.zeros(105, dtype=int), votes, CLASSES) is None


def test_the_prior_must_not_move_further_than_close_votes_allow() -> None:
    votes = votes_of((9, 0), (5, 4), (0, 9), times=40)
    labels = votes.argmax(axis=1)
    labels[40:80] = 1
    assert moves_the_prior(labels, votes, CLASSES) is None
    labels[:20] = 1
    assert "50 % of the items to other classes" in str(moves_the_prior(labels, votes, CLASSES))


def test_clear_majorities_must_not_be_overruled_on_many_items() -> None:
    votes = votes_of((9, 0), (0, 9))
    labels = votes.argmax(axis=1)
    labels[:5], labels[50:55] = 1, 0
    assert overrules_majorities(labels, votes, CLASSES) is None
    labels[:10], labels[50:60] = 1, 0
    assert "on 20 % of the items" in str(overrules_majorities(labels, votes, CLASSES))
    assert object_to_labels(labels, votes, CLASSES, FITTING_GUARDS) is None


def test_items_without_votes_do_not_count() -> None:
    votes = np.concatenate([votes_of((5, 0), (0, 5)), np.zeros((1000, 2))])
    labels = np.zeros(1100, dtype=int)
    labels[50:100] = 1
    assert object_to_labels(labels, votes, CLASSES, MODEL_GUARDS) is None


def test_margins_and_changes_written_out() -> None:
    votes = np.array([[5.0, 0.0], [3.0, 2.0], [2.0, 2.0], [9.0, 0.0]])
    np.testing.assert_array_equal(vote_margins(votes), [5, 1, 0, 9])
    assert describe_changes(np.array([0, 0, 1, 0]), votes).startswith("No label differs")
    text = describe_changes(np.array([0, 1, 1, 1]), votes)
    assert text.startswith("2 of 4 labels differ from the majority vote, 1 where it was close")
    text = describe_changes(np.array([0, 1, 1, 0]), votes)
    assert text == "1 of 4 labels differs from the majority vote, which was close."
    text = describe_changes(np.array([0, 0, 1, 1]), votes)
    assert text == "1 of 4 labels differs from the majority vote, which was clear."


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("abstentions", "method"), [(False, "MACE"), (None, "DawidSkene")])
def test_one_sided_sources_do_not_empty_a_class(
    seed: int, abstentions: bool | None, method: str
) -> None:
    """Labelling functions that know one class each and abstain on most items."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    truth = rng.integers(n_classes, size=800)
    columns = []
    for source in range(3 * n_classes):
        own = source % n_classes
        fires = np.where(truth == own, rng.random(800) < 0.45, rng.random(800) < 0.06)
        columns.append(np.where(fires, own, -1))
    responses = Responses.from_matrix(np.column_stack(columns), classes=np.arange(n_classes))
    fusion = fuse(responses, abstentions=abstentions)
    assert fusion.method == method
    labelled = responses.responses_per_item > 0
    found = np.bincount(fusion.labels[labelled], minlength=n_classes) / labelled.sum()
    true = np.bincount(truth[labelled], minlength=n_classes) / labelled.sum()
    assert np.abs(found - true).max() < 0.15


def test_why_says_how_many_labels_differ_from_the_vote() -> None:
    drawn = simulate(500, 9, 3, np.random.default_rng(0), skill=0.1)
    assert "from the majority vote" in fuse(drawn.responses).why
