"""Levels of real-valued scores: shared or per annotator, saved, and used for new scores."""

from pathlib import Path

import numpy as np
import pytest

from blindfuse import BlindEnsemble, DawidSkene, Model, Responses, fuse
from blindfuse.errors import BadLabels, BadModel
from blindfuse.responses.alphabet import ScoreScale


def judged(
    seed: int, n_items: int = 600, factors: tuple[float, ...] = (1, 1, 1, 1)
) -> tuple[np.ndarray, np.ndarray]:
    """Real-valued scores ``[item, judge]`` on scales with these factors, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    scores = truth[:, None] + rng.normal(0, 0.8, size=(n_items, len(factors)))
    return scores * np.array(factors), truth


def error(labels: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean(labels != truth))


def test_crowd_quantiles_equal_numpys() -> None:
    scores, _ = judged(0)
    scale = Responses.from_scores(scores, levels=7).anchor.scale
    assert scale is not None
    assert scale.annotators is None
    expected = np.quantile(scores, np.arange(1, 7) / 7, method="higher")
    np.testing.assert_array_equal(scale.edges[0], expected)


def test_judges_on_very_different_scales_get_levels_of_their_own() -> None:
    """Multiplying a judge's scores costs nothing, and levels of the crowd would lose most."""
    factors, excess = (1, 100, 1, 100), []
    for seed in range(8):
        scores, truth = judged(seed, factors=factors)
        mixed = Responses.from_scores(scores, classes=[0, 1])
        assert mixed.anchor.scale is not None
        assert mixed.anchor.scale.annotators is not None
        assert any("different scales" in note for note in mixed.notes)
        per_level = np.array([np.bincount(column, minlength=11) for column in mixed.matrix().T])
        np.testing.assert_allclose(per_level, 600 / 11, atol=1)
        rescaled = Responses.from_scores(scores / np.array(factors), classes=[0, 1])
        excess.append(error(fuse(mixed).labels, truth) - error(fuse(rescaled).labels, truth))
    assert np.mean(excess) < 0.005


def test_judges_of_different_strictness_share_levels() -> None:
    scores, _ = judged(1)
    table = Responses.from_scores(scores + np.array([0, 0.5, -0.5, 0.2]))
    assert table.anchor.scale is not None
    assert table.anchor.scale.annotators is None


@pytest.mark.parametrize("factors", [(1, 1, 1, 1), (1, 100, 1, 100)])
def test_a_saved_model_labels_new_scores(tmp_path: Path, factors: tuple[float, ...]) -> None:
    scores, _ = judged(2, factors=factors)
    fusion = fuse(Responses.from_scores(scores[:500], classes=[0, 1]))
    fusion.model.save(tmp_path / "model.npz")
    model = Model.load(tmp_path / "model.npz")
    assert model.scale == fusion.responses.anchor.scale
    new = Responses.from_scores(scores[500:], classes=[0, 1], levels=model.scale)
    np.testing.assert_array_equal(new.symbols, model.symbols)
    np.testing.assert_allclose(model.posteriors(new), fusion.model.posteriors(new))
    np.testing.assert_array_equal(fusion.predict(scores[500:]), fusion.predict(new))
    one = fusion.predict_proba(scores[500:501])
    np.testing.assert_allclose(one, fusion.predict_proba(new)[:1], atol=1e-12)


def test_new_whole_scores_are_labelled_from_a_matrix() -> None:
    scores, _ = judged(3)
    whole = np.clip(np.round(3 * scores + 4), 0, 10)
    fusion = fuse(Responses.from_scores(whole))
    again = fusion.predict(whole[:3])
    np.testing.assert_array_equal(again, fusion.predict(fusion.responses)[:3])


@pytest.mark.parametrize("method", [DawidSkene, BlindEnsemble])
def test_batches_share_the_levels_of_the_first(tmp_path: Path, method: type) -> None:
    scores, _ = judged(4)
    first = Responses.from_scores(scores[:300])
    other = Responses.from_scores(scores[300:])
    learner = method().partial_fit(first)
    with pytest.raises(BadLabels, match=r"levels=first\.anchor\.scale"):
        learner.partial_fit(other)
    second = Responses.from_scores(scores[300:], levels=first.anchor.scale)
    learner.save_state(tmp_path / "state.npz")
    loaded = method().load_state(tmp_path / "state.npz").partial_fit(second)
    learner.partial_fit(second)
    assert loaded.model_.scale == learner.model_.scale == first.anchor.scale
    np.testing.assert_allclose(loaded.model_.confusions, learner.model_.confusions, atol=1e-12)


def test_a_new_judge_without_levels_is_named() -> None:
    scores, _ = judged(5, factors=(1, 100, 1, 100))
    scale = Responses.from_scores(scores).anchor.scale
    with pytest.raises(BadLabels, match="scores of 'new'"):
        Responses.from_scores([0], ["new"], [1.0], levels=scale)


@pytest.mark.parametrize(
    ("header", "edges"),
    [
        ({}, np.zeros((2, 3))),
        ({}, np.array([[1.0, 0.5]])),
        ({}, np.array([[np.nan]])),
        ({"scale_annotators": ["a"]}, np.zeros((2, 2))),
        ({}, np.zeros((1, 2), dtype=int)),
    ],
)
def test_damaged_scales_are_refused(header: dict[str, list[str]], edges: np.ndarray) -> None:
    with pytest.raises(BadModel, match="Save the model again"):
        ScoreScale.from_saved(header, {"scale_edges": edges})


def test_a_scale_must_have_a_level_per_symbol() -> None:
    with pytest.raises(BadModel, match="3 levels, but there are 2 symbols"):
        Model(
            np.full((1, 2, 2), 0.5),
            np.full(2, 0.5),
            np.array(["a"]),
            np.array([0, 1]),
            scale=ScoreScale(np.array([[1.0, 2.0]])),
        )
