"""fuse: fusion as a user calls it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from blindfuse import BadLabels, BadParameter, Responses, fuse, simulate
from tests.support.diagnostics_cases import copiers

TINY = [
    [[0, 1]],
    [[0], [1]],
    [[0, 1], [1, 0]],
    [[0, -1], [-1, 1]],
    [[0, 0, 0], [1, 1, 1]],
    [[0, 1, -1], [-1, -1, -1], [1, 1, 1]],
    [[0, 1, 2]],
]


@pytest.mark.parametrize("matrix", TINY, ids=str)
def test_tiny_tables_are_fused_and_described(matrix: list[list[int]]) -> None:
    fusion = fuse(np.array(matrix))
    np.testing.assert_allclose(fusion.posteriors.sum(axis=1), 1)
    np.testing.assert_allclose(fusion.predict_proba(fusion.responses), fusion.posteriors)
    assert "nan" not in fusion.summary()
    if fusion.expected_error is not None:
        assert 0 <= fusion.expected_error.low <= fusion.expected_error.high <= 0.5


def test_threads_do_not_change_the_result() -> None:
    responses = copiers(0).responses
    one, other = fuse(responses), fuse(responses, threads=1)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.posteriors, other.posteriors, atol=1e-9)
    assert one.why == other.why


def test_fusions_in_threads_of_the_caller_do_not_warn() -> None:
    """A warning would be an error. On noise, models that are only compared do not converge."""
    tables = [np.random.default_rng(seed).integers(0, 3, (150, 5)) for seed in range(6)]
    with ThreadPoolExecutor(4) as pool:
        fusions = list(pool.map(fuse, tables))
    for table, fusion in zip(tables, fusions, strict=True):
        np.testing.assert_array_equal(fusion.posteriors, fuse(table).posteriors)


def test_new_items_may_be_a_matrix_with_annotators_in_another_order() -> None:
    drawn = simulate(500, 8, 3, np.random.default_rng(1), skill=0.3, missing=0.2)
    fusion = fuse(drawn.responses)
    matrix = drawn.responses.matrix()[:50, ::-1]
    new = Responses.from_matrix(matrix, annotators=list(range(8))[::-1], classes=[0, 1, 2])
    np.testing.assert_allclose(fusion.predict_proba(new), fusion.posteriors[:50], atol=1e-9)
    np.testing.assert_array_equal(fusion.predict(matrix[:, ::-1]), fusion.labels[:50])


def test_the_evidence_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fusion = fuse(simulate(300, 6, 2, np.random.default_rng(0), skill=0.3).responses)
    monkeypatch.setattr("blindfuse.fusion.evidence.held_out_gain", None)
    monkeypatch.setattr("blindfuse.fusion.evidence.DawidSkene", None)
    monkeypatch.setattr("blindfuse.diagnostics.diagnose.measure_information", None)
    assert fusion.diagnostics is fusion.diagnostics
    assert fusion.diagnostics.items is fusion.item_ratings


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadLabels, match="no labels"):
        fuse(np.full((3, 3), -1))
    with pytest.raises(BadLabels, match="Gold items"):
        fuse([[0, 1, 0], [1, 1, 0]], gold={7: 1})
    with pytest.raises(BadParameter, match="ordered"):
        fuse([[0, 1, 0], [1, 1, 0]], ordered="yes")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="seed"):
        fuse([[0, 1, 0], [1, 1, 0]], seed=-1)
