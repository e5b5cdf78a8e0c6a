"""Both engines, with real worker processes: results are those of one machine."""

import re
from hashlib import blake2b
from itertools import pairwise
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
from blindfuse.engines.arrow import Columns
from blindfuse.model.posteriors import count_votes
from blindfuse.moments.moment_statistics import MomentStatistics
from tests.support.engine_cases import Engine, kill_one

COLUMNS = Columns("item", "annotator", "label")
SPECIES = np.array(["cat", "dog", "eel"])


def answers(seed: int, n_items: int = 500, n_annotators: int = 5, share: float = 1.0) -> Any:
    """Answers of annotators of whom some are better, with this share of them there, shuffled."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n_items, p=[0.5, 0.3, 0.2])
    right = rng.random((n_items, n_annotators)) < np.linspace(0.6, 0.9, n_annotators)
    labels = np.where(right, truth[:, None], rng.integers(3, size=right.shape))
    item, annotator = np.nonzero(rng.random(right.shape) < share)
    frame = pd.DataFrame(
        {
            "item": [f"photo {number}" for number in item],
            "annotator": [f"worker {number}" for number in annotator],
            "label": SPECIES[labels[item, annotator]],
        }
    )
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def cut(frame: pd.DataFrame, pieces: int) -> list[pd.DataFrame]:
    bounds = np.linspace(0, len(frame), pieces + 1).astype(int)
    return [frame.iloc[a:b] for a, b in pairwise(bounds)]


def assert_same(found: Model, expected: Model, tolerance: float = 1e-8) -> None:
    same = expected.for_annotators(found.annotators, found.classes)
    assert found.classes.tolist() == expected.classes.tolist()
    assert sorted(found.annotators) == sorted(expected.annotators)
    np.testing.assert_allclose(found.confusions, same.confusions, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.prior, same.prior, rtol=0, atol=tolerance)


def assert_counts(found: MomentStatistics, frame: pd.DataFrame) -> None:
    responses = Responses.from_frame(frame).recoded(found.annotators, found.classes)
    expected = MomentStatistics.of(responses)
    assert found.moments == expected.moments
    np.testing.assert_array_equal(found.votes.counts, expected.votes.counts)
    np.testing.assert_array_equal(found.votes.totals, expected.votes.totals)


@pytest.mark.parametrize(("pieces", "share"), [(1, 1.0), (3, 0.6), (7, 1.0)])
def test_counts_models_and_labels_are_those_of_one_machine(
    engine: Engine, pieces: int, share: float
) -> None:
    frame = answers(seed=pieces, share=share)
    table = engine.table(cut(frame, pieces))
    assert_counts(fitting.count(engine.parts(table, COLUMNS)), frame)
    fitted = engine.module.fit(table)
    alone = BlindEnsemble(moments="counts") if share == 1 else DawidSkene(start="blind")
    assert type(fitted.method) is type(alone)
    assert_same(fitted.model, alone.fit(frame).model_)
    assert (fitted.n_items, fitted.n_responses) == (frame["item"].nunique(), len(frame))
    assert fitted.repeated == 0
    assert f"{len(frame):,} labels" in repr(fitted)

    found = engine.rows(engine.module.predict(fitted.model, table)).set_index("item")
    responses = Responses.from_frame(frame)
    found = found.loc[responses.items]
    posteriors = alone.posteriors_
    assert len(found) == len(posteriors)
    np.testing.assert_allclose(found["probability"], posteriors.max(axis=1), atol=1e-8)
    assert found["label"].tolist() == alone.labels_.tolist()


def test_a_sample_of_items_starts_em_wherever_they_are(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample is drawn a second time here; one class is in no item of it."""
    frame = answers(seed=5, n_items=900, n_annotators=6, share=0.7)
    wanted = 300
    monkeypatch.setattr(fitting, "SAMPLE", wanted)

    def number(item: str) -> int:
        return int.from_bytes(blake2b(item.encode(), digest_size=8).digest(), "little")

    share = wanted / frame["item"].nunique()
    drawn = np.array([number(item) <= share * 2**64 for item in frame["item"]])
    frame.loc[drawn, "label"] = frame.loc[drawn, "label"].replace("eel", "dog")
    whole = Responses.from_frame(frame)
    sample = whole.select_items(np.isin(whole.items, frame.loc[drawn, "item"]))
    assert 200 < sample.n_items < 400
    assert sample.responses_per_class[2] == 0
    begin = DawidSkene(start="blind").begin(sample, count_votes(whole))
    alone = DawidSkene(start=begin).fit(frame)
    fitted = engine.module.fit(engine.table(cut(frame, 3)))
    assert_same(fitted.model, alone.model_)
    assert fitted.model.prior[2] > 0.05


def test_other_methods_columns_and_types_and_an_empty_partition(engine: Engine) -> None:
    """Numbers for names, some labels null, and a partition without a row."""
    frame = answers(seed=8, n_items=300)
    frame = pd.DataFrame(
        {
            "photo": frame["item"].str[6:].astype(int),
            "who": frame["annotator"].str[7:].astype(int),
            "said": frame["label"].map({"cat": 4.0, "dog": 7.0, "eel": 5.0}),
        }
    )
    frame.loc[::9, "said"] = np.nan
    named: dict[str, Any] = {"item": "photo", "annotator": "who", "label": "said"}
    table = engine.table([*cut(frame, 2), frame.iloc[:0]])
    fitted = engine.module.fit(table, **named, method=OneCoin(start="mv"))
    alone = OneCoin(start="mv").fit(Responses.from_frame(frame, **named))
    assert fitted.model.classes.tolist() == [4, 5, 7]
    assert_same(fitted.model, alone.model_)
    found = engine.rows(engine.module.predict(fitted.model, table, **named, rule="ml"))
    assert sorted(found["photo"]) == sorted(frame["photo"].unique())
    responses = Responses.from_frame(frame, **named)
    expected = dict(zip(responses.items, alone.model_.labels(responses, "ml"), strict=True))
    assert dict(zip(found["photo"], found["label"], strict=True)) == expected


def test_of_repeated_labels_the_last_class_counts(engine: Engine) -> None:
    frame = answers(seed=9, n_items=200)
    again = frame.iloc[:150].assign(label="dog")
    table = engine.table(cut(pd.concat([again, frame]), 3))
    fitted = engine.module.fit(table)
    kept = (
        pd.concat([again, frame])
        .sort_values("label")
        .drop_duplicates(["item", "annotator"], keep="last")
    )
    assert fitted.repeated == 150
    assert_same(fitted.model, BlindEnsemble(moments="counts").fit(kept).model_)


def test_a_killed_worker_changes_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies between two iterations, with the parts that it kept."""
    frame = answers(seed=11, share=0.6)
    alone = DawidSkene(start="mv").fit(frame)
    rounds, dead = [], set()
    m_step = DawidSkene._m_step

    def kill_in_the_second_round(method: DawidSkene, sums: Any) -> Any:
        rounds.append(sums)
        if len(rounds) == 2:
            dead.add(kill_one(engine))
        return m_step(method, sums)

    monkeypatch.setattr(DawidSkene, "_m_step", kill_in_the_second_round)
    fitted = engine.module.fit(engine.table(cut(frame, 4)), method=DawidSkene(start="mv"))
    assert len(rounds) > 4
    assert dead
    assert not dead & engine.workers()
    assert_same(fitted.model, alone.model_)
    assert len(fitted.method.log_likelihoods_) == len(alone.log_likelihoods_)


def without(column: str) -> Any:
    def empty_out(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(frame.index % 50 > 0, None)})

    return empty_out


BAD = {
    "a missing column": (lambda f: f.rename(columns={"label": "labels"}), "did you mean 'labels'"),
    "items without a name": (without("item"), "column 'item' is null"),
    "annotators without a name": (without("annotator"), "column 'annotator' is null"),
    "an empty table": (lambda f: f.iloc[:0], "The table is empty"),
    "no label": (lambda f: f.assign(label=pd.Series([None] * len(f), dtype=object)), "no label"),
    "one class": (lambda f: f.assign(label="cat"), "at least two classes"),
    "too many classes": (
        lambda f: f.assign(label=[f"free text {n}" for n in range(len(f))]),
        "Is this the label column",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_named(engine: Engine, case: str) -> None:
    spoil, told = BAD[case]
    frame = spoil(answers(seed=2))
    table = engine.table(cut(frame, 2))
    with pytest.raises(BlindfuseError, match=told):
        engine.module.fit(table)


def test_what_cannot_be_fitted_is_refused(engine: Engine) -> None:
    frame = answers(seed=3, n_items=60)
    two = frame[frame["annotator"].isin(["worker 0", "worker 1"])]
    with pytest.raises(NotIdentifiable, match="three"):
        engine.module.fit(engine.table(cut(two, 2)))
    table = engine.table(cut(frame, 2))
    with pytest.raises(BlindfuseError, match="not among the classes"):
        engine.module.fit(table, classes=["cat", "dog"])
    with pytest.raises(BlindfuseError, match="cannot be fitted in parts"):
        engine.module.fit(table, method=MajorityVote())
    with pytest.raises(BlindfuseError, match=r"is no \w+ DataFrame"):
        engine.module.fit(frame)
    with pytest.raises(BlindfuseError, match="no column 'worker'"):
        engine.module.predict(DawidSkene().fit(frame).model_, table, annotator="worker")


def test_a_stranger_is_named_when_labels_are_computed(engine: Engine) -> None:
    frame = answers(seed=4, n_items=60)
    model = DawidSkene().fit(frame[frame["annotator"] != "worker 4"]).model_
    with pytest.raises(Exception, match="worker 4"):
        engine.rows(engine.module.predict(model, engine.table(cut(frame, 2))))


def test_the_snippets_of_the_page_run(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = answers(seed=6, n_items=100)
    columns = {"item": "photo", "annotator": "worker", "label": "species"}
    (tmp_path / "labels").mkdir()
    frame.rename(columns=columns).to_parquet(tmp_path / "labels" / "part.parquet")
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 2
    own = next(one for one in snippets if f"engines import {engine.name} " in one)
    names: dict[str, Any] = {"spark": getattr(engine, "session", None)}
    monkeypatch.chdir(tmp_path)
    exec(own.replace('"labels"', repr(str(tmp_path / "labels"))), names)
    assert len(engine.rows(names["fused"])) == 100
    assert_same(names["fitted"].model, BlindEnsemble(moments="counts").fit(frame).model_)
