"""Symbols that are not classes on Dask and Spark: the results equal those of one machine."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from blindfuse import BlindEnsemble, BlindfuseError, DawidSkene, MajorityVote, OneCoin, Responses
from blindfuse.engines import arrow, fitting
from blindfuse.engines.arrow import SymbolOptions, add_up_scores
from blindfuse.metrics import adjusted_rand_index
from blindfuse.simulation import simulate, simulate_scores
from tests.support.engine_cases import Engine, assert_same_labels, split

MULTIPLE = {"classes": ["low", "middle", "high"]}


def scored(n_classes: int = 2, n_symbols: int = 6, missing: float = 0.2) -> pd.DataFrame:
    """Scores of five judges for 400 items in random order."""
    rng = np.random.default_rng(n_classes)
    crowd = simulate_scores(400, 5, n_symbols, n_classes, rng, missing=missing).responses
    frame = pd.DataFrame(
        {
            "item": [f"text {item}" for item in crowd.item_of_response()],
            "annotator": [f"judge {code}" for code in crowd.by_item.codes],
            "label": crowd.by_item.symbols.astype(float),
        }
    )
    return frame.sample(frac=1, random_state=0, ignore_index=True)


@pytest.mark.parametrize(
    "method",
    [
        lambda: None,
        lambda: DawidSkene(start="shares"),
        lambda: DawidSkene(start="blind"),
        lambda: BlindEnsemble(moments="counts"),
    ],
)
@pytest.mark.parametrize("options", [{}, MULTIPLE])
def test_whole_scores_equal_one_machine(engine: Engine, method: Any, options: Any) -> None:
    frame = scored(len(options.get("classes", "ab")))
    table = engine.table(split(frame, 3))
    fitted = engine.module.fit(table, method=method(), scores=True, **options)
    responses = Responses.from_scores(frame, **options)
    alone = (method() or DawidSkene()).fit(responses)
    assert_same_model_with_symbols(fitted.model, alone.model_)
    assert_same_labels(engine, fitted.model, table, alone, responses.items)


def assert_same_model_with_symbols(found: Any, expected: Any) -> None:
    assert found.symbols.tolist() == expected.symbols.tolist()
    assert found.scale == expected.scale
    reordered = expected.for_annotators(found.annotators, found.classes, found.symbols)
    np.testing.assert_allclose(found.confusions, reordered.confusions, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.prior, reordered.prior, rtol=0, atol=1e-8)


@pytest.mark.parametrize("levels", [5, [1.0, 2.5, 4.0]])
@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_levels_of_real_scores_equal_one_machine(
    engine: Engine, levels: Any, factor: float
) -> None:
    """With the factor 100, one judge uses a scale of its own."""
    frame = scored()
    frame["label"] += np.random.default_rng(0).random(len(frame))
    frame.loc[frame["annotator"] == "judge 1", "label"] *= factor
    table = engine.table(split(frame, 3))
    fitted = engine.module.fit(table, scores=True, levels=levels)
    responses = Responses.from_scores(frame, levels=levels)
    alone = DawidSkene().fit(responses)
    assert_same_model_with_symbols(fitted.model, alone.model_)
    assert_same_labels(engine, fitted.model, table, alone, responses.items)


def abstaining(seed: int) -> tuple[pd.DataFrame, Responses]:
    crowd = simulate(400, 5, 2, np.random.default_rng(seed), skill=0.4, missing=0.5).responses
    frame = pd.DataFrame(
        {
            "item": crowd.item_of_response(),
            "annotator": crowd.by_item.codes.astype(int),
            "label": crowd.classes[crowd.by_item.symbols],
        }
    )
    return frame, Responses.from_frame(frame)


def test_abstentions_equal_one_machine(engine: Engine) -> None:
    frame, responses = abstaining(0)
    table = engine.table(split(frame, 3))
    fitted = engine.module.fit(table, abstentions=True)
    alone = DawidSkene().fit(responses.with_abstentions())
    assert_same_model_with_symbols(fitted.model, alone.model_)
    assert_same_labels(engine, fitted.model, table, alone, responses.items)


def test_an_anchor_matrix_equals_one_machine(engine: Engine) -> None:
    """Labels 0, 1 and 2, of which 1 means "unsure"."""
    frame = scored(n_symbols=3)
    frame["label"] = frame["label"].astype(int)
    matrix = [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    table = engine.table(split(frame, 3))
    fitted = engine.module.fit(table, classes=["no", "yes"], anchor=matrix)
    responses = Responses.from_frame(frame).with_anchor(["no", "yes"], matrix)
    alone = DawidSkene().fit(responses)
    assert_same_model_with_symbols(fitted.model, alone.model_)
    assert_same_labels(engine, fitted.model, table, alone, responses.items)


def test_clusterings_find_the_partition_of_one_machine(engine: Engine) -> None:
    """The order of items differs, and with it the numbers of the classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    runs = np.stack([rng.permutation(5)[truth + 2 * (rng.random(300) < 0.1)] for _ in range(6)], 1)
    item, run = np.indices(runs.shape).reshape(2, -1)
    frame = pd.DataFrame({"item": item, "annotator": run, "label": runs.reshape(-1)})
    table = engine.table(split(frame, 3))
    fitted = engine.module.fit(table, classes=3, anchor="none")
    alone = DawidSkene().fit(Responses.from_clusters(runs, classes=3))
    found = engine.to_pandas(engine.module.predict(fitted.model, table)).set_index("item")
    labels = found.loc[np.arange(300), "label"].to_numpy()
    assert adjusted_rand_index(labels, alone.labels_) > 0.99
    responses = Responses.from_clusters(runs, classes=3)
    found_at, expected = (one.log_likelihood(responses) for one in (fitted.model, alone.model_))
    np.testing.assert_allclose(found_at, expected, rtol=1e-4)


def test_the_rule_of_scores_comes_from_a_sample_of_large_tables(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = scored()
    monkeypatch.setattr(fitting, "SAMPLE_ITEMS", 200)
    fitted = engine.module.fit(engine.table(split(frame, 3)), scores=True)
    alone = DawidSkene().fit(Responses.from_scores(frame))
    np.testing.assert_allclose(fitted.model.prior, alone.model_.prior, atol=0.02)


BAD_OPTIONS: dict[str, tuple[Any, str]] = {
    "two options": ({"scores": True, "abstentions": True}, "exclude each other"),
    "an anchor without classes": ({"anchor": "none"}, "needs classes="),
    "another anchor": ({"anchor": "some", "classes": 2}, "must be a matrix or 'none'"),
    "a number of classes": ({"classes": 3}, "is not a list"),
    "a method of classes": ({"abstentions": True, "method": OneCoin()}, "needs annotators who"),
    "a vote": ({"scores": True, "method": MajorityVote()}, "cannot be fitted"),
    "edges": ({"scores": True, "levels": [2, 1]}, "ascend"),
    "moments of clusters": (
        {"anchor": "none", "classes": 2, "method": BlindEnsemble()},
        "Use DawidSkene",
    ),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_unsuitable_options_are_rejected(engine: Engine, case: str) -> None:
    options, message = BAD_OPTIONS[case]
    frame, _ = abstaining(2)
    with pytest.raises(BlindfuseError, match=message):
        engine.module.fit(engine.table(split(frame.head(200), 2)), **options)


def test_scores_must_be_numbers(engine: Engine) -> None:
    frame = scored().astype({"label": str})
    frame.loc[3, "label"] = "high"
    with pytest.raises(Exception, match="not a number"):
        engine.module.fit(engine.table(split(frame, 2)), scores=True)


def test_too_many_different_scores_need_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "MAX_SCORES", 3)
    rows = pl.DataFrame({"annotator": ["a"] * 4, "score": np.arange(4.0)})
    judge, options = np.array(["a"]), SymbolOptions(scores=True)
    parts = [options.count_scores(part) for part in (rows[:2], rows[2:])]
    assert add_up_scores(parts[0], parts[0]).rows() == [("a", 0.0, 0.0, 2), ("a", 1.0, 2.0, 2)]
    for sums in (options.count_scores(rows), add_up_scores(*parts)):
        with pytest.raises(BlindfuseError, match="Pass the edges"):
            options.score_alphabet(sums, judge)
    by_level = SymbolOptions(scores=True, levels=[2.0])
    sums = by_level.count_scores(rows)
    assert sums.rows() == [("a", 0.0, 1.0, 2), ("a", 1.0, 5.0, 2)]
    assert by_level.score_alphabet(sums, judge).anchor.values == pytest.approx([0.5, 2.5])
