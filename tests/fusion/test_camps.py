"""Two camps of annotators, and gold labels that decide between them."""

import numpy as np
import pytest

from blindfuse import fuse, next_labels, simulate
from blindfuse.fusion.next_labels import GOLD
from experiments.awkward_crowds import biased_jury
from tests.conftest import Crowds


@pytest.mark.parametrize("seed", range(4))
def test_two_camps_are_found_and_named(seed: int) -> None:
    responses, _ = biased_jury(seed)
    fusion = fuse(responses)
    assert "two camps, of 9 (" in fusion.why
    assert ") and 6 (" in fusion.why
    assert fusion.method == "MajorityVote"


def test_twenty_gold_labels_decide_between_camps() -> None:
    right = []
    for seed in range(20):
        responses, truth = biased_jury(seed)
        chosen = np.random.default_rng(seed).choice(400, 20, replace=False)
        fusion = fuse(responses, gold={int(n): int(truth[n]) for n in chosen})
        right.append(np.mean(fusion.labels == truth) > 0.9)
    assert np.mean(right) >= 0.95


@pytest.mark.parametrize("seed", range(4))
def test_next_labels_asks_for_gold_labels_that_settle_camps(seed: int) -> None:
    responses, truth = biased_jury(seed)
    before = fuse(responses)
    asked = next_labels(before, 20)
    assert len(asked) == 20
    assert set(asked.annotators) == {GOLD}
    assert set(responses.items[list(before.choice.disputed)]) == set(asked.items)
    after = fuse(responses, gold={item: int(truth[item]) for item in asked.items.tolist()})
    assert "gold labels decide for the camp of" in after.why
    assert np.mean(after.labels == truth) > 0.95
    assert len(next_labels(after, 5).items) <= 5


def test_why_of_camps_is_short_and_ends_with_what_to_do() -> None:
    why = fuse(biased_jury(0)[0]).why
    assert len(why) < 400
    assert why.index("two camps") < why.index("If the other camp") < why.index("To decide, check")


@pytest.mark.parametrize("seed", range(4))
def test_independent_annotators_form_no_camps(seed: int) -> None:
    drawn = simulate(1000, 12, 3, np.random.default_rng(seed), skill=0.1)
    assert "camps" not in fuse(drawn.responses).why


def test_people_and_networks_are_two_camps(crowds: Crowds) -> None:
    crowd = crowds["shape_conflict"]
    assert "two camps, of 24 (" in fuse(crowd.responses).why


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.6, 0.4])
def test_expected_error_of_two_camps_contains_the_error_whoever_is_right(
    seed: int, share: float
) -> None:
    # With 60 % of the jury misled the vote is wrong on many items, with 40 % on few.
    responses, truth = biased_jury(seed, share)
    fusion = fuse(responses)
    expected, error = fusion.expected_error, (fusion.labels != responses.classes[truth]).mean()
    assert fusion.choice.disputed
    assert expected.low - 0.01 <= error <= expected.high + 0.02
    low, high = sorted(fusion.choice.possible_errors)
    assert expected.low <= low
    assert high <= expected.high
    assert "If the other camp is right" in fusion.why
