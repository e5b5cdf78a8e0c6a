"""Arguments of the wrong type: every public function refuses them with one sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import blindfuse
from blindfuse import BadLabels, BadParameter, BlindfuseError, Fusion, Responses, ResponseSets

VOTES = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
ITEMS, ANNOTATORS = [0, 0, 1, 1, 2, 2], ["ann", "bob"] * 3
FRAME = pl.DataFrame({"item": ITEMS, "annotator": ANNOTATORS, "label": list("aabbab")})


@pytest.fixture(scope="module")
def fusion() -> Fusion:
    return blindfuse.fuse(VOTES)


NOT_MAPPINGS = ["cat", ["cat"], 3, pd.Series({0: 1}), pd.DataFrame({"item": [0], "label": [1]})]

TAKES_GOLD: dict[str, Callable[[Fusion, Any], Any]] = {
    "fuse": lambda _, gold: blindfuse.fuse(VOTES, gold=gold),
    "fuse, checked": lambda _, gold: blindfuse.fuse(VOTES, checked=gold),
    "fuse_sets": lambda _, gold: blindfuse.fuse_sets(ITEMS, ANNOTATORS, ["a"] * 6, gold=gold),
    "fuse_numbers": lambda _, gold: blindfuse.fuse_numbers(np.eye(4), gold=gold),
    "fuse_stream": lambda _, gold: blindfuse.fuse_stream([VOTES], gold=gold),
    "compare": lambda _, gold: blindfuse.compare(VOTES, gold),
    "check_on_gold": blindfuse.check_on_gold,
    "audit": lambda fusion, gold: blindfuse.audit(fusion, None, gold),
    "fit": lambda _, gold: blindfuse.DawidSkene().fit(VOTES, gold=gold),
}


@pytest.mark.parametrize("gold", NOT_MAPPINGS, ids=lambda gold: type(gold).__name__)
@pytest.mark.parametrize("name", TAKES_GOLD)
def test_gold_labels_are_a_dictionary(name: str, gold: Any, fusion: Fusion) -> None:
    with pytest.raises(BadParameter, match=r"must be a dictionary \{item: label\}, not a"):
        TAKES_GOLD[name](fusion, gold)


TAKES_FUSION: dict[str, Callable[[Any], Any]] = {
    "next_labels": lambda fusion: blindfuse.next_labels(fusion, 2),
    "plan_audit": lambda fusion: blindfuse.plan_audit(fusion, 2),
    "audit": lambda fusion: blindfuse.audit(fusion, None, {0: 0}),
}


@pytest.mark.parametrize(
    "value",
    [3, "votes.csv", None, VOTES, FRAME, blindfuse.fuse_sets(FRAME), blindfuse.fuse_numbers(VOTES)],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", TAKES_FUSION)
def test_a_fusion_is_the_result_of_fuse(name: str, value: Any) -> None:
    with pytest.raises(BadParameter, match=r"must be the result of fuse\(responses\)"):
        TAKES_FUSION[name](value)


TAKES_INTEGERS: dict[str, Callable[[Fusion, Any], Any]] = {
    "budget": lambda fusion, n: blindfuse.next_labels(fusion, n),
    "max_per_annotator": lambda fusion, n: blindfuse.next_labels(fusion, 2, max_per_annotator=n),
    "max_responses": lambda _, n: blindfuse.fuse_stream([VOTES], max_responses=n),
    "seed": lambda _, n: blindfuse.fuse(VOTES, seed=n),
    "seed of sets": lambda _, n: blindfuse.fuse_sets(ITEMS, ANNOTATORS, ["a|b"] * 6, seed=n),
    "threads": lambda _, n: blindfuse.fuse(VOTES, threads=n),
    "levels": lambda _, n: Responses.from_scores(np.eye(4), levels=n),
    "classes": lambda _, n: blindfuse.fuse_clusters(VOTES, n),
}


@pytest.mark.parametrize("number", [-1, 1.5, 2.5, "many", float("nan"), float("inf")])
@pytest.mark.parametrize("name", TAKES_INTEGERS)
def test_counts_are_whole_numbers(name: str, number: Any, fusion: Fusion) -> None:
    with pytest.raises(BlindfuseError, match=r"\.$"):
        TAKES_INTEGERS[name](fusion, number)


TAKES_TABLE: dict[str, Callable[[Any], Any]] = {
    "fuse": blindfuse.fuse,
    "fuse_sets": blindfuse.fuse_sets,
    "fuse_numbers": blindfuse.fuse_numbers,
    "fuse_clusters": blindfuse.fuse_clusters,
    "compare": blindfuse.compare,
    "fit": lambda table: blindfuse.DawidSkene().fit(table),
    "from_frame": Responses.from_frame,
    "from_wide": Responses.from_wide,
}


@pytest.mark.parametrize(
    ("table", "step"),
    [
        ("votes.csv", r"blindfuse.read\(path\)"),
        ({"item": [1], "label": [1]}, r"polars.DataFrame\(data\)"),
        ([{"item": 1, "label": 1}], r"polars.DataFrame\(data\)"),
        (pd.Series([1, 2]), r"series.reset_index\(\)"),
        (sparse.csr_matrix(VOTES), r"array.toarray\(\)"),
        (3, "from_frame"),
        (None, "from_frame"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", TAKES_TABLE)
def test_what_is_not_a_table_says_how_to_make_one(name: str, table: Any, step: str) -> None:
    with pytest.raises(BadLabels, match=step):
        TAKES_TABLE[name](table)


@pytest.mark.parametrize("columns", [1, 2, 4, 8])
def test_a_matrix_to_predict_has_a_column_per_annotator(columns: int, fusion: Fusion) -> None:
    """Unnamed columns would be taken for the first annotators."""
    new = np.zeros((5, columns), dtype=int)
    fitted = blindfuse.DawidSkene().fit(VOTES)
    for predict in (fusion.predict, fusion.predict_proba, fitted.predict, fitted.predict_proba):
        with pytest.raises(BadLabels, match=f"{columns} columns?, but there were 3 annotators"):
            predict(new)
        assert len(predict(np.zeros((5, 3), dtype=int))) == 5


def test_other_arguments_are_refused(fusion: Fusion) -> None:
    with pytest.raises(BadParameter, match="result= is of type int, not a fusion"):
        blindfuse.write_report(1, "report.html")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="Pass another DawidSkene"):
        blindfuse.DawidSkene().partial_fit(VOTES).merge(3)  # type: ignore[arg-type]
    table = ResponseSets.from_long(ITEMS, ANNOTATORS, ["a"] * 6)
    with pytest.raises(BadParameter, match="have classes of their own"):
        blindfuse.fuse_sets(table, classes=["a", "b"])
    with pytest.raises(BadParameter, match="must be an AuditPlan or None"):
        blindfuse.audit(fusion, "plan", {0: 0})  # type: ignore[arg-type]
    with pytest.raises(BadLabels, match="No item was checked"):
        blindfuse.audit(fusion, None, None)  # type: ignore[arg-type]
    for methods in ("OneCoin", ["OneCoin"], {"OneCoin": 3}):
        with pytest.raises(BadParameter, match=r"methods=.* must be a dictionary"):
            blindfuse.compare(VOTES, None, methods)  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="chunks= is a int"):
        blindfuse.fuse_stream(3)  # type: ignore[arg-type]
    with pytest.raises(BadLabels, match="array of numbers"):
        Responses.from_probabilities([[[1, 0], [1]]])


def test_masked_entries_are_missing_in_every_table() -> None:
    mask = np.zeros((4, 2), dtype=bool)
    mask[0, 1] = mask[2] = True
    labels = np.ma.array([[0, 1], [1, 1], [0, 0], [1, 0]], mask=mask)
    assert Responses.from_matrix(labels).n_responses == 5
    assert blindfuse.fuse_numbers(labels).numbers.n_responses == 5
    probabilities = np.ma.array(
        np.full((4, 2, 2), 0.5), mask=np.repeat(mask[:, :, None], 2, axis=2)
    )
    assert Responses.from_probabilities(probabilities).n_responses == 5
    sets = ResponseSets.from_indicators([0, 1, 2, 3], ["ann"] * 4, labels, classes=["a", "b"])
    assert sets.n_responses == 3
