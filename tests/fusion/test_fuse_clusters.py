"""``fuse_clusters``: classes that clusterings have in common, and how many there are."""

import doctest
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import blindfuse.fusion.fuse_clusters
from blindfuse import BadLabels, BadParameter, NotIdentifiable, Responses, fuse_clusters
from blindfuse.fusion.fuse_clusters import _log_predictions, choose_number_of_classes
from blindfuse.metrics import adjusted_rand_index
from blindfuse.model.co_association import spectral_codes

Codes = NDArray[np.intp]


def draw_runs(
    n_items: int, n_classes: int, seed: int, n_runs: int = 10, noise: float = 0.2
) -> tuple[Codes, Codes]:
    """Runs that split or join classes, with clusters named at random, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    columns = []
    for _ in range(n_runs):
        n_clusters = int(rng.integers(2, 2 * n_classes + 1))
        names = rng.permutation(100)[:n_clusters]
        halves = 2 * truth + (rng.random(n_items) < 0.5)
        clusters = rng.permutation(2 * n_classes)[halves] % n_clusters
        moved = rng.random(n_items) < noise
        clusters[moved] = rng.integers(n_clusters, size=moved.sum())
        columns.append(names[clusters])
    return np.stack(columns, axis=1), truth


def run_kmeans(data: Any, n_classes: int, seed: int) -> Codes:
    rng = np.random.default_rng(seed)
    columns = []
    for run in range(12):
        chosen = rng.choice(data.shape[1], data.shape[1] // 2, replace=False)
        number = int(rng.integers(2, 2 * n_classes + 1))
        kmeans = KMeans(number, n_init=1, random_state=100 * seed + run)
        columns.append(kmeans.fit_predict(data[:, chosen]))
    return np.stack(columns, axis=1)


def test_docstring_examples() -> None:
    assert doctest.testmod(blindfuse.fusion.fuse_clusters, raise_on_error=True).attempted > 0


@pytest.mark.parametrize("seed", range(6))
def test_true_classes_are_found(seed: int) -> None:
    runs, truth = draw_runs(900, 2 + seed % 4, seed, n_runs=25)
    fusion = fuse_clusters(runs, 2 + seed % 4)
    rng = np.random.default_rng(seed)
    order, columns = rng.permutation(900), rng.permutation(25)
    renamed = fuse_clusters((runs * 7 + np.arange(25))[order][:, columns], 2 + seed % 4)
    assert adjusted_rand_score(fusion.labels[order], renamed.labels) > 0.95
    single = np.mean([adjusted_rand_score(truth, run) for run in runs.T])
    assert adjusted_rand_score(truth, fusion.labels) > single + 0.2
    np.testing.assert_allclose(fusion.posteriors.sum(axis=1), 1)
    np.testing.assert_allclose(fusion.predict_proba(fusion.responses), fusion.posteriors)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "n_classes"), [("wine", 3), ("digits", 10)])
def test_fused_classes_are_better_than_single_runs_of_kmeans(
    name: str, n_classes: int, seed: int
) -> None:
    data, truth = {"wine": load_wine, "digits": load_digits}[name](return_X_y=True)
    runs = run_kmeans(StandardScaler().fit_transform(data), n_classes, seed)
    scores = [adjusted_rand_score(truth, run) for run in runs.T]
    fused = adjusted_rand_score(truth, fuse_clusters(runs, n_classes).labels)
    assert fused > np.mean(scores) + 0.05


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (3, 1), (4, 2), (6, 3)])
def test_the_number_of_classes_is_chosen(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=1200)
    guesses = rng.integers(n_classes, size=(1200, 12))
    runs = np.where(rng.random((1200, 12)) < 0.15, guesses, truth[:, None])
    fusion = fuse_clusters(runs)
    assert fusion.number is not None
    assert fusion.number.best == len(fusion.model.classes) == n_classes
    assert f"{n_classes} classes were chosen" in fusion.summary()
    assert adjusted_rand_score(truth, fusion.labels) > 0.95


def test_the_number_of_classes_is_found_on_wine() -> None:
    data = StandardScaler().fit_transform(load_wine().data)
    chosen = [
        choose_number_of_classes(Responses.from_clusters(run_kmeans(data, 3, seed), classes=2)).best
        for seed in range(3)
    ]
    assert chosen == [3, 3, 3]


@pytest.mark.parametrize("seed", range(4))
def test_runs_without_common_classes_are_refused(seed: int) -> None:
    runs = np.random.default_rng(seed).integers(5, size=(400, 6))
    with pytest.raises(NotIdentifiable, match="agree no more than by chance"):
        fuse_clusters(runs)
    assert fuse_clusters(runs, 3).agreement.max() < 0.3


def test_held_out_predictions_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    confusions = rng.dirichlet(np.ones(4), size=(5, 2)).transpose(0, 2, 1)
    prior = np.array([0.3, 0.7])
    runs = rng.integers(4, size=(30, 5))
    runs[3, 2] = -1
    responses = Responses.from_clusters(runs, classes=2)
    expected = []
    for row in runs:
        each = []
        for m, cluster in enumerate(row):
            if cluster < 0:
                continue
            others = prior.copy()
            for other, seen in enumerate(row):
                if other != m and seen >= 0:
                    others = others * confusions[other, seen]
            each.append(np.log(others / others.sum() @ confusions[m, cluster]))
        expected.append(np.mean(each))
    np.testing.assert_allclose(_log_predictions(confusions, prior, responses), expected)


def test_items_that_runs_left_out_are_fused() -> None:
    runs, truth = draw_runs(500, 3, 4, n_runs=20, noise=0.1)
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(runs.shape) < 0.3, -1, runs)
    fusion = fuse_clusters(holes, 3)
    assert adjusted_rand_score(truth, fusion.labels) > 0.6
    names = [f"run {m}" for m in range(20)]
    frame = pl.DataFrame(
        {"item": [f"i{n}" for n in range(500)]} | dict(zip(names, runs.T, strict=True))
    )
    from_frame = fuse_clusters(frame, ["low", "mid", "high"], annotator=names)
    assert set(from_frame.labels) == {"low", "mid", "high"}
    assert from_frame.responses.annotators.tolist() == names
    assert adjusted_rand_score(from_frame.labels, fuse_clusters(runs, 3).labels) > 0.98


def test_agreement_is_the_adjusted_rand_index_of_each_run() -> None:
    runs = run_kmeans(load_iris().data, 3, 0)
    fusion = fuse_clusters(runs, 3)
    expected = [adjusted_rand_score(fusion.labels, run) for run in runs.T]
    np.testing.assert_allclose(fusion.agreement, expected)
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        one, other = rng.integers(3, size=(2, n))
        assert adjusted_rand_index(one, other) == pytest.approx(adjusted_rand_score(one, other))
        assert adjusted_rand_index(one, -one) == pytest.approx(1)


def test_spectral_start_does_not_form_a_matrix_of_items() -> None:
    runs, truth = draw_runs(60_000, 4, 1, n_runs=12, noise=0.05)  # 29 GB as a matrix of items
    codes = spectral_codes(Responses.from_clusters(runs, classes=4))
    assert adjusted_rand_score(truth, codes) > 0.7


@pytest.mark.parametrize(
    ("runs", "classes", "error", "message"),
    [
        ([[0], [1], [0]], 2, NotIdentifiable, "only one clustering"),
        ([[0, 1], [1, 0]], 3, BadLabels, "classes=3 is more than the 2 clusters"),
        ([[0, 1], [1, 0]], 1, BadParameter, "classes=1 must be"),
        ([[0, 1], [1, 0]], None, NotIdentifiable, "too few to choose the number of classes"),
        ([[0, 0], [0, 0]], 2, BadLabels, "more than the 1 cluster"),
        ([[-1, -1], [-1, -1]], 2, BadLabels, "nothing to fuse"),
    ],
)
def test_bad_clusterings_are_refused(
    runs: Any, classes: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fuse_clusters(runs, classes)


def test_a_class_that_no_item_belongs_to_is_named() -> None:
    runs = np.repeat([[0, 0, 0], [1, 1, 1]], 50, axis=0)
    runs[0] = [2, 3, 4]
    fusion = fuse_clusters(runs, 5)
    text = fusion.summary()
    used = len(set(fusion.labels))
    assert used == 5 or "Ask for fewer classes" in text
