"""What is said where a group of annotators was merged that may be right against all others."""

import numpy as np
import pytest

from blindfuse import Responses, fuse
from blindfuse.fusion.outvoted_groups import chance_corrected_agreement, outvoted_share
from blindfuse.model.posteriors import weighted_votes


def experts_and_novices(seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Seventeen novices with the same illusion on a fifth of the items, and three experts."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=2000)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=(2000, 20))) % n_classes
    illusion = rng.random(2000) < 0.2
    right = rng.random((2000, 20)) < np.where(np.arange(20) < 17, 0.85, 0.95)
    lure = np.broadcast_to(wrong[:, [0]], wrong.shape)
    deceived = illusion[:, None] & (np.arange(20) < 17) & (rng.random((2000, 20)) < 0.9)
    return np.where(deceived, lure, np.where(right, truth[:, None], wrong)), truth


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_interval_contains_the_error_if_a_group_is_right(seed: int, n_classes: int) -> None:
    matrix, truth = experts_and_novices(seed, n_classes)
    fusion = fuse(matrix)
    error = np.mean(fusion.labels != truth)
    assert error > 0.15
    assert fusion.expected_error.high >= error - 0.01
    assert "is right against all others" in fusion.why


def test_the_share_counts_items_on_which_most_of_a_group_report_another_class() -> None:
    matrix, _ = experts_and_novices(0, 4)
    fusion = fuse(matrix)
    (group,) = fusion.groups
    different = 0
    for row, label in zip(matrix[:, list(group)].tolist(), fusion.labels.tolist(), strict=True):
        most = max(set(row), key=row.count)
        different += row.count(most) >= 2 and most != label
    share = different / len(matrix)
    noise = np.sqrt(share * (1 - share) / len(matrix))
    assert fusion.choice.outvoted == pytest.approx(share + noise)


def test_nothing_is_said_without_merged_groups() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=1500)
    right = rng.random((1500, 8)) < 0.8
    fusion = fuse(np.where(right, truth[:, None], rng.integers(3, size=(1500, 8))))
    assert fusion.choice.outvoted == 0
    assert "is right against all others" not in fusion.why


def test_pairs_and_majorities_are_no_outvoted_groups() -> None:
    matrix, truth = experts_and_novices(1, 4)
    responses = Responses.from_matrix(matrix)
    assert outvoted_share((17, 18), responses, truth) == 0
    assert outvoted_share(tuple(range(17)), responses, truth) == 0
    assert outvoted_share((0, 1, 2), responses, truth) > 0.15


def test_guessers_and_one_sided_annotators_are_no_experts() -> None:
    rng = np.random.default_rng(0)
    matrix, truth = experts_and_novices(1, 4)
    matrix[:, :3] = rng.integers(4, size=(2000, 3))
    matrix[:, 3:6] = 0
    responses = Responses.from_matrix(matrix)
    assert outvoted_share((0, 1, 2), responses, truth) == 0
    assert outvoted_share((3, 4, 5), responses, truth) == 0


def test_agreement_is_corrected_for_chance() -> None:
    """The share of responses equal to the label, item by item, beyond that of shuffled labels."""
    matrix, truth = experts_and_novices(2, 4)
    votes = weighted_votes(Responses.from_matrix(matrix))
    equal = np.mean(matrix == truth[:, None])
    chance = sum(np.mean(truth == k) * np.mean(matrix == k) for k in range(4))
    expected = (equal - chance) / (1 - chance)
    assert chance_corrected_agreement(votes, truth) == pytest.approx(expected)
    assert chance_corrected_agreement(votes[:0], truth[:0]) == 0
    assert chance_corrected_agreement(np.full((5, 1), 3.0), np.zeros(5, dtype=np.intp)) == 0
