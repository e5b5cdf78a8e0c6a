"""``fuse`` decides by itself whether a missing response says something."""

import numpy as np
import pytest

from blindfuse import BadParameter, Responses, fuse, fuse_stream
from blindfuse.fusion.abstentions import explain_abstentions, relative_dispersion
from blindfuse.simulation import simulate


def sources(
    seed: int, n_items: int = 1500, rare: float = 0.2, n_sources: int = 10
) -> tuple[Responses, np.ndarray]:
    """Sources that report one of two classes each or abstain, on all items, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_items) < rare).astype(int)
    labels = np.full((n_items, n_sources), -1)
    for source in range(n_sources):
        own, coverage = source % 2, rng.uniform(0.1, 0.5)
        chance = np.where(truth == own, coverage, coverage * rng.uniform(0.05, 0.4))
        labels[rng.random(n_items) < chance, source] = own
    return Responses.from_matrix(labels, classes=[0, 1]), truth


@pytest.mark.parametrize("seed", range(4))
def test_abstentions_of_independent_sources_are_used_and_help(seed: int) -> None:
    responses, truth = sources(seed)
    found, without = fuse(responses), fuse(responses, abstentions=False)
    assert found.responses.n_symbols == 3
    assert 'so "no response" is used as a symbol' in found.why
    errors = [np.mean(one.labels != truth) for one in (found, without)]
    assert errors[0] < errors[1] - 0.01
    told = fuse(responses, abstentions=True)
    np.testing.assert_array_equal(found.labels, told.labels)
    np.testing.assert_array_equal(found.predict(responses), found.labels)


def test_the_dispersion_of_independent_sources_is_one() -> None:
    """The mean over seeds, with the variance computed from simulated coverage alone."""
    ratios = []
    for seed in range(12):
        responses, truth = sources(seed)
        table = responses.with_abstentions()
        by_truth = fuse(table, gold=dict(enumerate(truth.tolist()))).model
        ratios.append(relative_dispersion(responses, by_truth))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)
    assert min(ratios) > 0.8


def one_sided_crowd(seed: int) -> Responses:
    """Three random annotators per item, most of whom report only one class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=600)
    labels = np.full((600, 30), -1)
    for item in range(600):
        for annotator in rng.choice(30, 3, replace=False):
            report = annotator % 2 if rng.random() < 0.97 else truth[item]
            labels[item, annotator] = report if annotator < 26 else truth[item]
    return Responses.from_matrix(labels)


CROWDS = {
    "annotators of both classes": lambda: (
        simulate(600, 8, 2, np.random.default_rng(0), skill=0.5, missing=0.6).responses
    ),
    "a fixed number of responses": lambda: one_sided_crowd(0),
    "few items": lambda: sources(0, n_items=400)[0],
    "two sources per class": lambda: sources(0, n_sources=4)[0],
    "complete": lambda: Responses.from_matrix(np.tile([[0, 1, 0], [0, 1, 0]], (200, 1))),
    "scores": lambda: Responses.from_scores(np.random.default_rng(0).integers(5, size=(300, 3))),
}


@pytest.mark.parametrize("case", CROWDS)
def test_missing_responses_of_others_say_nothing(case: str) -> None:
    assert explain_abstentions(CROWDS[case]()) is None


def test_sources_that_never_overlap_are_left_alone() -> None:
    """Items without any response are missing from the table, and sources exclude each other."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=900)
    labels = np.full((900, 9), -1)
    source = 3 * truth + rng.integers(3, size=900)
    labels[np.arange(900), source] = source // 3
    second = rng.random(900) < 0.3
    other = rng.integers(9, size=900)
    labels[second, other[second]] = (other // 3)[second]
    responses = Responses.from_matrix(labels)
    assert explain_abstentions(responses) is None


def test_a_stream_decides_like_the_whole_table() -> None:
    responses, _ = sources(5, n_items=600)
    stream = fuse_stream(
        [responses.select_items(range(300)), responses.select_items(range(300, 600))]
    )
    labels = np.concatenate([chunk.labels for chunk in stream])
    np.testing.assert_array_equal(labels, fuse(responses).labels)


def test_audits_of_abstentions_name_both_ways_out() -> None:
    from blindfuse import audit, plan_audit

    responses, truth = sources(6)
    fusion = fuse(responses)
    with pytest.raises(BadParameter, match="abstentions=False"):
        audit(fusion, None, {0: int(truth[0])})
    plain = fuse(responses, abstentions=False)
    plan = plan_audit(plain, 20)
    assert audit(plain, plan, {item: int(truth[item]) for item in plan.items}).error.value <= 1
