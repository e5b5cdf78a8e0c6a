"""Chunks: labels are those of one fusion, whatever the cut; memory is that of a chunk."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from blindfuse import BadLabels, BadParameter, Responses, fuse, fuse_stream, simulate
from blindfuse.metrics import error_rate
from tests.conftest import Crowds


def cut(responses: Responses, count: int) -> list[Responses]:
    parts = np.array_split(np.arange(responses.n_items), count)
    return [responses.select_items(part) for part in parts]


@pytest.mark.parametrize("name", ["bird", "web", "sp", "fact_eval"])
def test_a_sample_of_all_is_one_fusion(crowds: Crowds, name: str) -> None:
    responses = crowds[name].responses
    whole = fuse(responses)
    stream = fuse_stream(cut(responses, 5))
    found = np.concatenate([chunk.posteriors for chunk in stream])
    assert stream.fusion.method == whole.method
    assert (stream.n_items, stream.n_responses) == (responses.n_items, responses.n_responses)
    np.testing.assert_allclose(found, whole.predict_proba(responses), atol=1e-9)
    labels = np.concatenate([chunk.labels for chunk in stream])
    np.testing.assert_array_equal(labels, whole.predict(responses))


def test_a_sample_is_nearly_as_good() -> None:
    for seed in range(2):
        simulation = simulate(60_000, 8, 3, np.random.default_rng(seed), missing=0.3)
        stream = fuse_stream(cut(simulation.responses, 6), max_responses=100_000)
        learned = stream.fusion.responses.n_responses
        assert 45_000 <= learned <= 100_000
        found = np.concatenate([chunk.posteriors for chunk in stream])
        whole = fuse(simulation.responses)
        errors = [error_rate(each, simulation.truth) for each in (found, whole.posteriors)]
        assert errors[0] <= 1.02 * errors[1]


def test_every_item_is_as_likely_to_be_learned_from() -> None:
    simulation = simulate(7_000, 5, 2, np.random.default_rng(0))
    chosen = np.zeros(7_000)
    for seed in range(15):
        stream = fuse_stream(cut(simulation.responses, 7), max_responses=7_000, seed=seed)
        chosen[stream.fusion.responses.items.astype(int)] += 1
    by_chunk = [part.mean() for part in np.array_split(chosen, 7)]
    assert np.ptp(by_chunk) < 0.2 * np.mean(by_chunk)


def test_annotators_and_classes_may_differ_from_chunk_to_chunk() -> None:
    simulation = simulate(3000, 6, 3, np.random.default_rng(0), skill=0.6)
    matrix = simulation.responses.matrix()
    names = np.array([f"a{m}" for m in range(6)])
    first = Responses.from_matrix(matrix[:1500, :4], annotators=names[:4])
    second = Responses.from_matrix(matrix[1500:, 2:], annotators=names[2:])
    stream = fuse_stream([first, second])
    assert stream.fusion.responses.annotators.tolist() == names.tolist()
    found = np.concatenate([chunk.posteriors for chunk in stream])
    assert error_rate(found, simulation.truth) < 0.25
    assert "3,000 items" in repr(stream)


def test_chunks_come_from_a_function_one_at_a_time() -> None:
    simulation = simulate(900, 5, 2, np.random.default_rng(0))
    passes = []

    def chunks() -> Iterator[Any]:
        passes.append(0)
        for part in cut(simulation.responses, 3):
            passes[-1] += 1
            yield part.matrix()

    stream = fuse_stream(chunks)
    assert passes == [3]
    first = next(iter(stream))
    assert passes == [3, 1]
    assert first.labels.shape == (300,)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "no chunk"),
        (iter([[[0, 1, 1]]]), "twice"),
        ([[[0, 1, 1]], [["x", "y", "y"]]], "another type"),
        ([np.full((3, 3), -1)], "no label"),
        (
            [
                Responses.from_long(["i", "i", "j"], ["a", "b", "a"], ["x", "y", "x"]),
                Responses.from_long(["j", "k", "k"], ["b", "a", "b"], ["x", "y", "x"]),
            ],
            "'j' are in several chunks",
        ),
    ],
)
def test_bad_chunks_are_refused(chunks: Any, message: str) -> None:
    with pytest.raises((BadLabels, BadParameter), match=message):
        fuse_stream(chunks)


def test_gold_labels_are_held_fixed_and_are_in_the_sample() -> None:
    crowd = simulate(3000, 6, 3, np.random.default_rng(3), missing=0.2)
    truth = crowd.responses.classes[crowd.truth]
    gold = dict(zip(crowd.responses.items[::50].tolist(), truth[::50].tolist(), strict=True))
    chunks = cut(crowd.responses, 4)
    stream = fuse_stream(chunks, gold=gold, max_responses=2_000)
    assert set(gold) <= set(stream.fusion.responses.items.tolist())
    assert stream.fusion.responses.n_responses < 4_000
    for chunk in stream:
        for item, label, row in zip(
            chunk.responses.items, chunk.labels, chunk.posteriors, strict=True
        ):
            if item in gold:
                assert label == gold[item]
                assert row.max() == 1


def test_gold_labels_of_a_sample_of_all_give_the_labels_of_one_fusion() -> None:
    crowd = simulate(300, 5, 2, np.random.default_rng(4), missing=0.3)
    matrix = np.asarray(crowd.responses.matrix())
    gold = {n: int(crowd.truth[n]) for n in (3, 120, 250)}
    stream = fuse_stream([matrix[:100], matrix[100:]], gold=gold)
    whole = fuse(matrix, gold=gold)
    labels = np.concatenate([chunk.labels for chunk in stream])
    posteriors = np.concatenate([chunk.posteriors for chunk in stream])
    assert (labels == whole.labels).mean() > 0.99
    assert [labels[n] for n in gold] == list(gold.values())
    np.testing.assert_array_equal(posteriors[list(gold)], np.eye(2)[list(gold.values())])


def test_bad_options_are_refused() -> None:
    with pytest.raises(BadParameter, match="max_responses=0"):
        fuse_stream([[[0, 1, 1]]], max_responses=0)
    with pytest.raises(BadLabels, match="not among the items"):
        fuse_stream([[[0, 0, 1], [1, 1, 0]]], gold={9: 1})
    with pytest.raises(BadParameter, match="dictionary"):
        fuse_stream([[[0, 0, 1], [1, 1, 0]]], gold=[1])  # type: ignore[arg-type]
