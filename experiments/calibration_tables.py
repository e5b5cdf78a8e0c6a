"""Tables with a truth from which the expected error is learned: generated, public and trained.

Every generated kind lets annotators share errors in another way. Its parameters are drawn over wide
ranges, so that tables differ in size, in the number of classes and in how hard they are.
"""

import gzip
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse import Responses, simulate
from experiments.trained_classifiers import ENSEMBLES, SUBSETS, Ensemble, label_dataset

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

FAMILIES = {"api_": "APIs", "ws_": "weak supervision", "judges_": "juries", "shape_": "shapes"}
"""Family of a public table by the beginning of its name."""
NAMED_FAMILIES = {"llm_primes": "juries", "nq301_judges": "juries", "sleep_dodh": "ensembles"}
"""Family of other public tables; the rest are crowds. The annotators of sleep_dodh are networks."""
ENSEMBLE_ROWS = 20_000
ENSEMBLE_SEEDS = range(3)
CLASSES = (2, 2, 2, 3, 4, 5, 8, 10)
ANNOTATORS = (4, 5, 8, 11, 15, 25)


@dataclass(frozen=True)
class Table:
    """Responses and the true class codes, −1 if unknown; a truth that nobody reports is K."""

    name: str
    family: str
    load: Callable[[], tuple[Responses, Codes]]


@dataclass(frozen=True)
class Shape:
    """The size of a generated table: classes, annotators, items and responses per item."""

    K: int
    M: int
    N: int
    responses: int


def draw_shape(rng: np.random.Generator) -> Shape:
    """Draw a size: 300 to 6,000 items, complete or with 3 to 12 responses per item."""
    K, M = int(rng.choice(CLASSES)), int(rng.choice(ANNOTATORS))
    N = int(np.exp(rng.uniform(np.log(300), np.log(6_000))))
    responses = M if rng.random() < 0.5 else int(rng.integers(min(3, M), min(M, 12) + 1))
    return Shape(K, M, N, responses)


def draw_prior(K: int, rng: np.random.Generator) -> Floats:
    """Draw a class prior, from unequal to nearly uniform."""
    return rng.dirichlet(np.full(K, rng.choice([2.0, 5.0, 20.0])))


def to_responses(matrix: Codes, shape: Shape, rng: np.random.Generator) -> Responses:
    """The table of a matrix ``[item, annotator]`` with as many responses per item as wanted."""
    if shape.responses < matrix.shape[1]:
        kept = rng.random(matrix.shape).argsort(axis=1) < shape.responses
        matrix = np.where(kept, matrix, -1)
    return Responses.from_matrix(matrix, classes=np.arange(shape.K))


def draw_confusions(shape: Shape, rng: np.random.Generator) -> Floats:
    """Confusion matrices ``[annotator, reported, true]`` around a common accuracy."""
    K, mean = shape.K, rng.uniform(1.2 / shape.K, 0.75)
    confusions = np.empty((shape.M, K, K))
    for m in range(shape.M):
        skill = 1 / K + (1 - 1 / K) * np.clip(rng.beta(4, 4 * (1 - mean) / mean), 0.02, 0.99)
        for k in range(K):
            recall = np.clip(skill + rng.normal(0, 0.07), 1 / K, 0.995)
            confusions[m, :, k] = np.insert(rng.dirichlet(np.ones(K - 1)) * (1 - recall), k, recall)
    return confusions


def draw_matrix(confusions: Floats, truth: Codes, rng: np.random.Generator) -> Codes:
    """Conditionally independent responses ``[item, annotator]``."""
    limits = confusions.cumsum(axis=1)[:, :, truth]
    reported = (rng.random((len(confusions), 1, len(truth))) > limits).sum(axis=1)
    return np.asarray(np.minimum(reported, confusions.shape[1] - 1).T)


def independent(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """Conditionally independent annotators who respond to all of 10,000 items."""
    shape = Shape(int(rng.choice([2, 3, 5])), 10, 10_000, 10)
    truth = rng.choice(shape.K, shape.N, p=draw_prior(shape.K, rng))
    return to_responses(draw_matrix(draw_confusions(shape, rng), truth, rng), shape, rng), truth


def difficult_items(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """Items differ in difficulty, P(right) = σ(α_m β_n), and hard ones in which class they suggest.

    Whitehill et al. (2009), "Whose Vote Should Count More", with a wrong class per item.
    """
    shape = draw_shape(rng)
    truth = rng.choice(shape.K, shape.N, p=draw_prior(shape.K, rng))
    skill = rng.normal(rng.uniform(0.5, 1.5), 0.4, size=shape.M)
    ease = rng.normal(1, rng.uniform(0.5, 1.5), size=shape.N)
    right = rng.random((shape.N, shape.M)) < 1 / (1 + np.exp(-np.outer(ease, skill)))
    suggested = rng.integers(1, shape.K, size=(shape.N, 1))
    other = rng.integers(1, shape.K, size=(shape.N, shape.M))
    wrong = np.where(rng.random((shape.N, shape.M)) < 0.8, suggested, other)
    matrix = (truth[:, None] + np.where(right, 0, wrong)) % shape.K
    return to_responses(matrix, shape, rng), truth


def ambiguous_items(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """Items have class proportions; the truth and attentive annotators draw from them."""
    shape = draw_shape(rng)
    concentration = np.exp(rng.uniform(np.log(0.2), np.log(3)))
    proportions = rng.dirichlet(concentration * draw_prior(shape.K, rng) + 1e-3, size=shape.N)
    limits = proportions.cumsum(axis=1)

    def draw(number: int) -> Codes:
        drawn = (rng.random((shape.N, number, 1)) > limits[:, None]).sum(axis=2)
        return np.asarray(np.minimum(drawn, shape.K - 1))

    truth = draw(1)[:, 0]
    attentive = rng.random((shape.N, shape.M)) < rng.beta(6, 2, size=shape.M)
    guesses = rng.integers(0, shape.K, size=(shape.N, shape.M))
    return to_responses(np.where(attentive, draw(shape.M), guesses), shape, rng), truth


def shared_noise(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """Annotators see the same noisy picture of an item, each with noise of its own."""
    shape = draw_shape(rng)
    truth = rng.choice(shape.K, shape.N, p=draw_prior(shape.K, rng))
    signal, shared = rng.uniform(1, 3), rng.uniform(0.5, 1.2)
    picture = signal * np.eye(shape.K)[truth] + shared * rng.normal(size=(shape.N, shape.K))
    own = np.exp(rng.normal(np.log(rng.uniform(0.3, 1.5)), 0.3, size=shape.M))
    seen = np.stack(
        [
            picture + own[m] * rng.normal(size=picture.shape) + rng.normal(0, 0.3, size=shape.K)
            for m in range(shape.M)
        ],
        axis=1,
    )
    return to_responses(seen.argmax(axis=2), shape, rng), truth


def small_classifiers(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """Nearest-centroid, nearest-neighbour and linear classifiers of the same drawn features."""
    K, M, d = int(rng.choice([2, 2, 3, 5, 8])), int(rng.integers(5, 20)), int(rng.integers(5, 20))
    shape = Shape(K, M, int(rng.integers(500, 4_000)), M)
    centres = rng.normal(size=(K, 2, d)) * rng.uniform(0.4, 1.0)
    prior = draw_prior(K, rng)

    def sample(n: int) -> tuple[Floats, Codes]:
        classes = rng.choice(K, n, p=prior)
        return centres[classes, rng.integers(0, 2, size=n)] + rng.normal(size=(n, d)), classes

    features, truth = sample(shape.N)
    columns = []
    for m in range(M):
        trained, classes = sample(max(int(rng.choice([30, 100, 300])), 5 * K))
        used = np.flatnonzero(rng.random(d) < rng.uniform(0.5, 1.0)) if m else np.arange(d)
        used = used if len(used) else np.arange(d)
        classify = (_nearest_centroid, _nearest_neighbour, _least_squares)[int(rng.integers(3))]
        columns.append(classify(trained[:, used], classes, features[:, used], K))
    return to_responses(np.stack(columns, axis=1), shape, rng), truth


def _nearest_centroid(trained: Floats, classes: Codes, rows: Floats, K: int) -> Codes:
    present = np.unique(classes)
    centroids = np.stack([trained[classes == k].mean(axis=0) for k in present])
    distances = ((rows[:, None] - centroids) ** 2).sum(axis=2)
    return np.asarray(present[distances.argmin(axis=1)])


def _nearest_neighbour(trained: Floats, classes: Codes, rows: Floats, K: int) -> Codes:
    distances = (trained**2).sum(axis=1) - 2 * rows @ trained.T
    return np.asarray(classes[distances.argmin(axis=1)])


def _least_squares(trained: Floats, classes: Codes, rows: Floats, K: int) -> Codes:
    design = np.column_stack([trained, np.ones(len(trained))])
    gram = design.T @ design + 5 * np.eye(design.shape[1])
    weights = np.linalg.solve(gram, design.T @ np.eye(K)[classes])
    return np.asarray((np.column_stack([rows, np.ones(len(rows))]) @ weights).argmax(axis=1))


def copying(rng: np.random.Generator) -> tuple[Responses, Codes]:
    """One or two groups of annotators copy the first member's responses."""
    shape = draw_shape(rng)
    size = int(rng.integers(2, max(3, shape.M // 2 + 1)))
    groups = [range(size), range(size, 2 * size)][: 1 + int(2 * size <= shape.M)]
    drawn = simulate(
        shape.N,
        shape.M,
        shape.K,
        rng,
        prior=draw_prior(shape.K, rng),
        skill=rng.uniform(0.1, 0.5),
        dependent_groups=groups,
        copy_probability=rng.uniform(0.3, 0.95),
    )
    return to_responses(np.array(drawn.responses.matrix()), shape, rng), drawn.truth


KINDS: dict[str, Callable[[np.random.Generator], tuple[Responses, Codes]]] = {
    kind.__name__: kind
    for kind in (
        *(independent, difficult_items, ambiguous_items, shared_noise),
        *(small_classifiers, copying),
    )
}
"""The kinds of generated tables."""


def generated_tables(seeds: range) -> Iterator[Table]:
    """One table of each kind per seed."""
    for seed in seeds:
        for number, (kind, make) in enumerate(KINDS.items()):
            rng = np.random.default_rng([seed, number])
            yield Table(f"{kind} {seed}", kind, partial(make, rng))


def tables_with_truth(folder: Path) -> Iterator[Table]:
    """The public tables and the trained ensembles."""
    yield from public_tables(folder)
    yield from trained_tables(folder)


def public_tables(folder: Path) -> Iterator[Table]:
    """The crowds and ensembles in a folder with the layout of :mod:`blindfuse.datasets`."""
    for path in sorted((folder / "crowd").iterdir()):
        yield Table(path.name, family_of(path.name), partial(_read_crowd, path))
    for path in sorted((folder / "ensembles").glob("*.npz")):
        yield Table(path.stem, "ensembles", partial(_read_matrix, path))


def trained_tables(folder: Path) -> Iterator[Table]:
    """Ensembles of Section V-B and mixed ones; no classifier was trained on the labelled rows."""
    for name in SUBSETS:
        for ensemble in ENSEMBLES:
            for seed in ENSEMBLE_SEEDS:
                train = partial(_train, name, ensemble, seed, folder)
                yield Table(f"{name} {ensemble} {seed}", "ensembles", train)


def _train(name: str, ensemble: Ensemble, seed: int, folder: Path) -> tuple[Responses, Codes]:
    with warnings.catch_warnings():
        # Weak classifiers need not converge, nor do constant features matter.
        warnings.simplefilter("ignore")
        crowd = label_dataset(name, seed, ENSEMBLE_ROWS, folder, ensemble, unseen=True)
    return crowd.responses, crowd.truth


def family_of(name: str) -> str:
    """The family of a public table of responses."""
    by_prefix = (family for prefix, family in FAMILIES.items() if name.startswith(prefix))
    return NAMED_FAMILIES.get(name) or next(by_prefix, "crowds")


def _read_crowd(path: Path) -> tuple[Responses, Codes]:
    labels, truth = (_read_text(path / f"{name}.csv.gz") for name in ("labels", "truth"))
    responses = Responses.from_long(
        labels["item"].to_list(), labels["annotator"].to_list(), labels["label"].to_list()
    )
    code_of = {label: code for code, label in enumerate(responses.classes.tolist())}
    true = dict(zip(truth["item"].to_list(), truth["label"].to_list(), strict=True))
    codes = [
        code_of.get(true[item], len(code_of)) if item in true else -1
        for item in responses.items.tolist()
    ]
    return responses, np.array(codes, dtype=np.intp)


def _read_text(path: Path) -> pl.DataFrame:
    with gzip.open(path) as file:
        return pl.read_csv(file.read(), infer_schema=False)


def _read_matrix(path: Path) -> tuple[Responses, Codes]:
    with np.load(path, allow_pickle=False) as stored:
        matrix, truth = stored["answers"].astype(np.intp), stored["truth"].astype(np.intp)
    classes = np.arange(max(matrix.max(), truth.max()) + 1)
    return Responses.from_matrix(matrix, classes=classes), truth


def sample_items(
    responses: Responses, truth: Codes, limit: int, rng: np.random.Generator
) -> tuple[Responses, Codes]:
    """At most about ``limit`` items; where few have a truth, all of those."""
    if responses.n_items <= limit:
        return responses, truth
    kept = rng.random(responses.n_items) < limit / responses.n_items
    if np.mean(truth >= 0) < 0.5:
        kept |= truth >= 0
    return responses.select_items(np.flatnonzero(kept)), truth[kept]


def drop_unused(responses: Responses, truth: Codes) -> tuple[Responses, Codes]:
    """The items and annotators that have responses."""
    answered = np.flatnonzero(responses.responses_per_item > 0)
    table = responses.select_items(answered)
    active = np.flatnonzero(table.responses_per_annotator > 0)
    return table.select_annotators(active), truth[answered]


def limit_responses(responses: Responses, number: int, rng: np.random.Generator) -> Responses:
    """At most ``number`` random responses per item."""
    items = responses.item_of_response()
    order = np.lexsort((rng.random(len(items)), items))
    rank = np.empty(len(items), dtype=np.intp)
    rank[order] = np.arange(len(items)) - responses.by_item.starts[items]
    kept = rank < number
    return Responses.from_codes(
        items[kept],
        responses.by_item.codes[kept].astype(np.intp),
        responses.by_item.symbols[kept].astype(np.intp),
        items=responses.items,
        annotators=responses.annotators,
        classes=responses.classes,
    )


def data_folder() -> Path | None:
    """The folder named by BLINDFUSE_DATA."""
    named = os.environ.get("BLINDFUSE_DATA")
    return Path(named) if named else None
