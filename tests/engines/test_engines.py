"""Dask and Spark with real worker processes: the results equal those of one machine."""

import re
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindfuse import (
    BlindEnsemble,
    BlindfuseError,
    DawidSkene,
    MajorityVote,
    Model,
    NotIdentifiable,
    OneCoin,
    Responses,
)
from blindfuse.engines import fitting
from blindfuse.engines.arrow import Columns, SymbolOptions
from blindfuse.model.posteriors import count_votes
from blindfuse.moments.statistics import MomentStatistics
from tests.support.engine_cases import Engine, assert_same_labels, kill_one_worker, split

COLUMNS = Columns("item", "annotator", "label")
SPECIES = np.array(["cat", "dog", "eel"])


def labels_frame(
    seed: int, n_items: int = 500, n_annotators: int = 5, density: float = 1.0
) -> pd.DataFrame:
    """Simulated labels in random order; ``density`` is the share of responses that are present."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n_items, p=[0.5, 0.3, 0.2])
    right = rng.random((n_items, n_annotators)) < np.linspace(0.6, 0.9, n_annotators)
    labels = np.where(right, truth[:, None], rng.integers(3, size=right.shape))
    item, annotator = np.nonzero(rng.random(right.shape) < density)
    frame = pd.DataFrame(
        {
            "item": [f"photo {number}" for number in item],
            "annotator": [f"worker {number}" for number in annotator],
            "label": SPECIES[labels[item, annotator]],
        }
    )
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def assert_same_model(found: Model, expected: Model, tolerance: float = 1e-8) -> None:
    reordered = expected.for_annotators(found.annotators, found.classes)
    assert found.classes.tolist() == expected.classes.tolist()
    assert sorted(found.annotators) == sorted(expected.annotators)
    np.testing.assert_allclose(found.confusions, reordered.confusions, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.prior, reordered.prior, rtol=0, atol=tolerance)


def assert_same_counts(found: MomentStatistics, frame: pd.DataFrame) -> None:
    responses = Responses.from_frame(frame).recoded(found.annotators, found.alphabet.classes)
    expected = MomentStatistics.from_responses(responses)
    assert found.moments == expected.moments
    np.testing.assert_array_equal(found.votes.counts, expected.votes.counts)
    np.testing.assert_array_equal(found.votes.totals, expected.votes.totals)


@pytest.mark.parametrize(("n_partitions", "density"), [(1, 1.0), (3, 0.6), (7, 1.0)])
def test_counts_models_and_labels_equal_those_of_one_machine(
    engine: Engine, n_partitions: int, density: float
) -> None:
    frame = labels_frame(seed=n_partitions, density=density)
    table = engine.table(split(frame, n_partitions))
    with fitting.open_partitions(table, COLUMNS, SymbolOptions()) as partitions:
        assert_same_counts(fitting.count_moments(partitions), frame)
    fitted = engine.module.fit(table)
    alone = BlindEnsemble(moments="counts") if density == 1 else DawidSkene(start="blind")
    assert type(fitted.method) is type(alone)
    assert_same_model(fitted.model, alone.fit(frame).model_)
    assert (fitted.n_items, fitted.n_responses) == (frame["item"].nunique(), len(frame))
    assert fitted.repeated == 0
    assert f"{len(frame):,} labels" in repr(fitted)

    assert_same_labels(engine, fitted.model, table, alone, Responses.from_frame(frame).items)


def test_em_starts_from_a_sample_that_does_not_depend_on_the_partitions(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test draws the same sample independently; one class does not occur in it."""
    frame = labels_frame(seed=5, n_items=900, n_annotators=6, density=0.7)
    sample_items = 300
    monkeypatch.setattr(fitting, "SAMPLE_ITEMS", sample_items)

    def hash_of(item: str) -> int:
        return int.from_bytes(blake2b(item.encode(), digest_size=8).digest(), "little")

    share = sample_items / frame["item"].nunique()
    sampled = np.array([hash_of(item) <= share * 2**64 for item in frame["item"]])
    frame.loc[sampled, "label"] = frame.loc[sampled, "label"].replace("eel", "dog")
    whole = Responses.from_frame(frame)
    sample = whole.select_items(np.isin(whole.items, frame.loc[sampled, "item"]))
    assert 200 < sample.n_items < 400
    assert sample.responses_per_symbol[2] == 0
    start = DawidSkene(start="blind")._resolve_start(sample, count_votes(whole))
    alone = DawidSkene(start=start).fit(frame)
    fitted = engine.module.fit(engine.table(split(frame, 3)))
    assert_same_model(fitted.model, alone.model_)
    assert fitted.model.prior[2] > 0.05


def test_other_methods_column_names_and_types_and_an_empty_partition(engine: Engine) -> None:
    """Names are numbers, some labels are null, and one partition has no rows."""
    frame = labels_frame(seed=8, n_items=300)
    frame = pd.DataFrame(
        {
            "photo": frame["item"].str[6:].astype(int),
            "rater": frame["annotator"].str[7:].astype(int),
            "species": frame["label"].map({"cat": 4.0, "dog": 7.0, "eel": 5.0}),
        }
    )
    frame.loc[::9, "species"] = np.nan
    columns: dict[str, Any] = {"item": "photo", "annotator": "rater", "label": "species"}
    table = engine.table([*split(frame, 2), frame.iloc[:0]])
    fitted = engine.module.fit(table, **columns, method=OneCoin(start="mv"))
    alone = OneCoin(start="mv").fit(Responses.from_frame(frame, **columns))
    assert fitted.model.classes.tolist() == [4, 5, 7]
    assert_same_model(fitted.model, alone.model_)
    found = engine.to_pandas(engine.module.predict(fitted.model, table, **columns, rule="ml"))
    assert sorted(found["photo"]) == sorted(frame["photo"].unique())
    responses = Responses.from_frame(frame, **columns)
    expected = dict(zip(responses.items, alone.model_.labels(responses, "ml"), strict=True))
    assert dict(zip(found["photo"], found["label"], strict=True)) == expected


@pytest.mark.parametrize("column", ["item", "annotator"])
def test_whole_numbers_in_two_spellings_are_refused(engine: Engine, column: str) -> None:
    frame = labels_frame(seed=3, n_items=60)
    codes, _ = pd.factorize(frame[column])
    frame[column] = pd.Series(codes).astype(str)
    engine.module.fit(engine.table(split(frame, 3)), method=DawidSkene())
    frame.loc[::7, column] += ".0"
    message = f"{column}s in column '{column}' are whole numbers as text, some written as 7"
    with pytest.raises(BlindfuseError, match=message):
        engine.module.fit(engine.table(split(frame, 3)), method=DawidSkene())


def test_names_are_trimmed_as_on_one_machine(engine: Engine) -> None:
    frame = labels_frame(seed=1, n_items=60)
    spaced = frame.copy()
    spaced.loc[::3, "item"] += " "
    spaced.loc[1::3, "annotator"] = "\t" + spaced["annotator"] + "\u00a0"
    found = engine.module.fit(engine.table(split(spaced, 3)), method=DawidSkene())
    expected = engine.module.fit(engine.table(split(frame, 3)), method=DawidSkene())
    assert found.n_items == expected.n_items == 60
    assert_same_model(found.model, expected.model)
    labels = engine.to_pandas(engine.module.predict(found.model, engine.table(split(spaced, 2))))
    assert sorted(labels["item"]) == sorted(frame["item"].unique())


def test_the_most_frequent_of_repeated_labels_counts(engine: Engine) -> None:
    frame = labels_frame(seed=9, n_items=200)
    twice = pd.concat([frame.iloc[:150].assign(label="dog"), frame, frame.iloc[50:100]])
    method = BlindEnsemble(moments="counts")  # contradictory responses leave gaps in the table
    fitted = engine.module.fit(engine.table(split(twice, 3)), method=method)
    responses = Responses.from_frame(twice)
    assert (fitted.repeated, fitted.contradictory) == (200, responses.contradictory)
    assert fitted.contradictory > 0
    assert_same_model(fitted.model, BlindEnsemble(moments="counts").fit(responses).model_)


def test_a_killed_worker_does_not_change_the_result(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker dies between two iterations, with the partitions that it kept."""
    frame = labels_frame(seed=11, density=0.6)
    alone = DawidSkene(start="mv").fit(frame)
    iterations, killed = [], set()
    m_step = DawidSkene._m_step

    def kill_in_the_second_iteration(method: DawidSkene, sums: Any) -> Any:
        iterations.append(sums)
        if len(iterations) == 2:
            killed.add(kill_one_worker(engine))
        return m_step(method, sums)

    monkeypatch.setattr(DawidSkene, "_m_step", kill_in_the_second_iteration)
    fitted = engine.module.fit(engine.table(split(frame, 4)), method=DawidSkene(start="mv"))
    assert len(iterations) > 4
    assert killed
    assert not killed & engine.worker_pids()
    assert_same_model(fitted.model, alone.model_)
    assert len(fitted.method.log_likelihoods_) == len(alone.log_likelihoods_)


def without(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    return frame.assign(**{column: frame[column].where(frame.index % 50 > 0, None)})


def texts(frame: pd.DataFrame) -> list[str]:
    return [f"free text {n}" for n in range(len(frame))]


BAD_TABLES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "a missing column": (lambda f: f.rename(columns={"label": "labels"}), "did you mean 'labels'"),
    "items without a name": (lambda f: without(f, "item"), "column 'item' is null"),
    "annotators without a name": (lambda f: without(f, "annotator"), "column 'annotator' is null"),
    "an empty table": (lambda f: f.iloc[:0], "The table is empty"),
    "only null labels": (lambda f: f.assign(label=pd.Series(dtype=object)), "no label"),
    "one class": (lambda f: f.assign(label="cat"), "at least two classes"),
    "too many classes": (lambda f: f.assign(label=texts(f)), "Is this the label column"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_rejected_with_the_reason(engine: Engine, case: str) -> None:
    damage, message = BAD_TABLES[case]
    frame = damage(labels_frame(seed=2))
    table = engine.table(split(frame, 2))
    with pytest.raises(BlindfuseError, match=message):
        engine.module.fit(table)


def test_unsuitable_annotators_classes_and_methods_are_rejected(engine: Engine) -> None:
    frame = labels_frame(seed=3, n_items=60)
    two = frame[frame["annotator"].isin(["worker 0", "worker 1"])]
    with pytest.raises(NotIdentifiable, match="three"):
        engine.module.fit(engine.table(split(two, 2)))
    table = engine.table(split(frame, 2))
    with pytest.raises(BlindfuseError, match="not among the classes"):
        engine.module.fit(table, classes=["cat", "dog"])
    with pytest.raises(BlindfuseError, match="cannot be fitted to a distributed table"):
        engine.module.fit(table, method=MajorityVote())
    with pytest.raises(BlindfuseError, match="is not a Dask or Spark DataFrame"):
        engine.module.fit(frame)
    with pytest.raises(BlindfuseError, match="no column 'worker'"):
        engine.module.predict(DawidSkene().fit(frame).model_, table, annotator="worker")


def test_an_unknown_annotator_is_named_when_labels_are_computed(engine: Engine) -> None:
    frame = labels_frame(seed=4, n_items=60)
    model = DawidSkene().fit(frame[frame["annotator"] != "worker 4"]).model_
    with pytest.raises(Exception, match="worker 4"):
        engine.to_pandas(engine.module.predict(model, engine.table(split(frame, 2))))


def test_the_snippets_of_the_documentation_run(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = labels_frame(seed=6, n_items=100)
    columns = {"item": "photo", "annotator": "worker", "label": "species"}
    (tmp_path / "labels").mkdir()
    frame.rename(columns=columns).to_parquet(tmp_path / "labels" / "part.parquet")
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 3
    snippet = "".join(text for text in snippets if f"engines import {engine.name} " in text)
    variables: dict[str, Any] = {"spark": getattr(engine, "session", None)}
    monkeypatch.chdir(tmp_path)
    exec(snippet.replace('"labels"', repr(str(tmp_path / "labels"))), variables)
    assert len(engine.to_pandas(variables["fused"])) == 100
    assert_same_model(variables["result"].model, BlindEnsemble(moments="counts").fit(frame).model_)
