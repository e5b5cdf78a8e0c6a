"""fuse for scores, abstentions and clusterings: labels, confidence, diagnostics, new items."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from blindfuse import Responses, audit, fuse, fuse_stream, next_labels
from blindfuse.errors import BadParameter
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import vote_posteriors
from blindfuse.simulation import simulate_scores
from tests.support.fusion_cases import one_sided

DATA = Path(os.environ.get("BLINDFUSE_DATA", Path(__file__).parents[3] / "shared" / "data"))
TOXICITY = DATA / "scores" / "judges_toxicity"


def rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return lines


@pytest.mark.skipif(not TOXICITY.is_dir(), reason="the folder of public scores is absent")
def test_toxicity_scores_are_fused_below_the_best_threshold() -> None:
    items, judges, scores = zip(*rows(TOXICITY / "scores.csv.gz"), strict=True)
    truth = dict(rows(TOXICITY / "truth.csv.gz"))
    fusion = fuse(Responses.from_scores(items, judges, np.array(scores, float), classes=["0", "1"]))
    wrong = [
        label != truth[item]
        for item, label in zip(fusion.responses.items, fusion.labels, strict=True)
    ]
    assert np.mean(wrong) <= 0.27


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_symbols", "n_classes"), [(11, 2), (6, 3)])
def test_scores_are_fused_better_than_their_means(
    n_symbols: int, n_classes: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    drawn = simulate_scores(3000, 8, n_symbols, n_classes, rng, missing=0.3)
    fusion = fuse(drawn.responses)
    baseline = error_rate(vote_posteriors(drawn.responses), drawn.truth)
    error = error_rate(fusion.posteriors, drawn.truth)
    assert fusion.method == "DawidSkene"
    assert error < baseline
    assert fusion.expected_error is not None
    assert abs(fusion.expected_error.value - error) < 0.03
    np.testing.assert_array_equal(fusion.labels, fusion.posteriors.argmax(axis=1))


def test_diagnostics_rate_judges_by_their_own_symbols() -> None:
    drawn = simulate_scores(5000, 8, 11, 2, np.random.default_rng(0))
    rated = fuse(drawn.responses).diagnostics.annotators
    np.testing.assert_allclose(rated.accuracy, drawn.model.accuracies, atol=0.02)
    assert rated.roc_area is not None
    np.testing.assert_allclose(rated.roc_area, drawn.model.roc_areas, atol=0.02)
    covered = (rated.low <= drawn.model.accuracies) & (drawn.model.accuracies <= rated.high)
    assert covered.sum() >= 6
    assert not rated.adversary.any()


@pytest.mark.parametrize("n_judges", [2, 5])
def test_random_scores_get_the_standardised_means(n_judges: int) -> None:
    scores = np.random.default_rng(0).integers(11, size=(80, n_judges)).astype(float)
    fusion = fuse(Responses.from_scores(scores))
    assert fusion.method == "MajorityVote"
    assert fusion.expected_error is None
    by_anchor = vote_posteriors(fusion.responses).argmax(axis=1)
    np.testing.assert_array_equal(fusion.labels, fusion.responses.classes[by_anchor])


def test_copies_do_not_take_over() -> None:
    rng = np.random.default_rng(0)
    drawn = simulate_scores(2000, 9, 6, 2, rng, separation=2.5)
    matrix = drawn.responses.matrix().astype(float)
    matrix[:, 5:] = rng.integers(6, size=2000)[:, None]  # four copies of one who guesses
    fusion = fuse(Responses.from_scores(matrix, classes=[0, 1]))
    baseline = vote_posteriors(fusion.responses).argmax(axis=1)
    errors = [np.mean(labels != drawn.truth) for labels in (fusion.labels, baseline)]
    assert errors[0] <= errors[1] + 0.02


@pytest.mark.parametrize("seed", range(3))
def test_abstentions_that_say_something_are_used(seed: int) -> None:
    """Sources that report only the second class, and abstain on the first."""
    responses, truth = one_sided(seed)
    fusion = fuse(responses, abstentions=True)
    assert np.mean(fusion.labels != truth) < 0.15
    assert fuse(responses).responses.is_plain


def test_streams_and_next_labels_take_scores() -> None:
    drawn = simulate_scores(600, 6, 6, 2, np.random.default_rng(0), missing=0.4)
    chunks = [drawn.responses.select_items(np.arange(at, at + 200)) for at in (0, 200, 400)]
    stream = fuse_stream(chunks)
    labels = np.concatenate([chunk.labels for chunk in stream])
    np.testing.assert_array_equal(labels, fuse(drawn.responses).labels)
    assert len(next_labels(stream.fusion, 10)) == 10


def test_audits_refuse_symbols_and_name_gold() -> None:
    fusion = fuse(simulate_scores(300, 5, 6, 2, np.random.default_rng(0)).responses)
    with pytest.raises(BadParameter, match="gold="):
        audit(fusion, None, {0: 1})
