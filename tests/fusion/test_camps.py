"""Two camps of annotators, and gold labels that decide between them."""

import numpy as np
import pytest

from blindfuse import Responses, fuse, simulate
from tests.conftest import Crowds


def jury(seed: int, n: int = 400, share: float = 0.6, m: int = 15) -> tuple[Responses, np.ndarray]:
    """A camp of ``share`` of the jury is misled by the same items, the others judge well."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    misleading = np.where(rng.random(n) < 0.5, rng.integers(4, size=n), truth)
    sees = np.where(np.arange(m) < share * m, misleading[:, None], truth[:, None])
    noise = rng.random((n, m)) > 0.85
    return Responses.from_matrix(np.where(noise, rng.integers(4, size=(n, m)), sees)), truth


@pytest.mark.parametrize("seed", range(4))
def test_two_camps_are_found_and_named(seed: int) -> None:
    responses, _ = jury(seed)
    fusion = fuse(responses)
    assert "two camps, of 9 (" in fusion.why
    assert ") and 6 (" in fusion.why
    assert fusion.method == "MajorityVote"


def test_twenty_gold_labels_decide_between_camps() -> None:
    right = []
    for seed in range(20):
        responses, truth = jury(seed)
        chosen = np.random.default_rng(seed).choice(400, 20, replace=False)
        fusion = fuse(responses, gold={int(n): int(truth[n]) for n in chosen})
        right.append(np.mean(fusion.labels == truth) > 0.9)
    assert np.mean(right) >= 0.95


@pytest.mark.parametrize("seed", range(4))
def test_independent_annotators_form_no_camps(seed: int) -> None:
    drawn = simulate(1000, 12, 3, np.random.default_rng(seed), skill=0.1)
    assert "camps" not in fuse(drawn.responses).why


def test_people_and_networks_are_two_camps(crowds: Crowds) -> None:
    crowd = crowds["shape_conflict"]
    assert "two camps, of 24 (" in fuse(crowd.responses).why
