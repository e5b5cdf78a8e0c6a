"""Simulated tables of kinds that public data lack, on which a fusion could go wrong.

Each kind is a function of a random generator; :data:`KINDS` names them all, in families. None of
them has a parameter of any method in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import Responses

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Matrix = NDArray[np.intp]
"""Responses ``[item, annotator]`` as class codes, −1 where missing."""
Rng = np.random.Generator

MISSING = -1


@dataclass(frozen=True, eq=False)
class AwkwardCrowd:
    """Responses with the true classes ``truth[item]``, −1 where nobody reports the true class."""

    responses: Responses
    truth: Codes


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of table: its family, its parameters, and a function that draws matrix and truth."""

    family: str
    parameters: str
    draw: Callable[[Rng], tuple[Matrix, Codes]]

    @property
    def name(self) -> str:
        return f"{self.family}: {self.parameters}"

    def crowd(self, seed: int) -> AwkwardCrowd:
        """Draw a table; the classes are those that occur among the responses, as in a file.

        The first two are always there, because one class alone cannot be fused.
        """
        matrix, truth = self.draw(np.random.default_rng(seed))
        kept = (matrix >= 0).any(axis=1)
        classes = np.union1d(matrix[matrix >= 0], [0, 1])
        responses = Responses.from_matrix(matrix[kept], classes=classes.tolist())
        at = np.searchsorted(responses.classes, truth[kept])
        at[at == responses.n_classes] = 0
        known = responses.classes[at] == truth[kept]
        return AwkwardCrowd(responses, np.where(known, at, -1).astype(np.intp))


def coin_matrix(truth: Codes, accuracies: Floats, K: int, rng: Rng) -> Matrix:
    """Everyone is right with an own probability, ``accuracies`` ``[annotator]`` or per item."""
    shape = len(truth), np.shape(accuracies)[-1]
    right = rng.random(shape) < accuracies
    wrong = (truth[:, None] + rng.integers(1, K, size=shape)) % K
    return np.where(right, truth[:, None], wrong)


def keep_per_item(matrix: Matrix, number: int, rng: Rng, weights: Floats | None = None) -> Matrix:
    """Keep ``number`` responses per item, drawn with probabilities proportional to the weights."""
    N, M = matrix.shape
    keys = np.log(rng.random((N, M))) / (np.ones(M) if weights is None else weights)
    kept = keys.argsort(axis=1).argsort(axis=1) >= M - number
    return np.where(kept, matrix, MISSING)


def draw_truth(N: int, K: int, rng: Rng, concentration: float = 10.0) -> Codes:
    """True classes ``[item]``, with a prior from a Dirichlet distribution."""
    return rng.choice(K, size=N, p=rng.dirichlet(np.full(K, concentration)))


def one_sided(rng: Rng, *, M: int, K: int, coverage: float, whole: float = 0.0) -> Any:
    """Sources that report one class each or nothing; a share ``whole`` reports all classes."""
    truth = draw_truth(1500, K, rng, 3.0)
    matrix = np.full((len(truth), M), MISSING)
    for m in range(M):
        if m < whole * M:
            matrix[:, [m]] = coin_matrix(truth, np.array([rng.uniform(0.5, 0.9)]), K, rng)
            continue
        k, precision = m % K, rng.uniform(0.5, 0.95)
        share = np.mean(truth == k)
        recall = coverage * rng.uniform(0.5, 1.5)
        false_alarm = min(recall * share * (1 - precision) / (precision * (1 - share)), 1.0)
        fires = rng.random(len(truth)) < np.where(truth == k, min(recall, 1), false_alarm)
        matrix[fires, m] = k
    return matrix, truth


def copies(rng: Rng, *, M: int, K: int, chain: bool, faithful: float) -> Any:
    """Half of the annotators copy: each the one before (``chain``), or all the first."""
    truth = draw_truth(1000, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.5, 0.85, M), K, rng)
    for m in range(M // 2 + 1, M):
        source = m - 1 if chain else M // 2
        copied = rng.random(len(truth)) < faithful
        matrix[copied, m] = matrix[copied, source]
    return matrix, truth


def unreported(rng: Rng, *, M: int, K: int, drift: bool) -> Any:
    """The last class is reported by nobody; it is taken for one class, or for any."""
    truth = draw_truth(1000, K + 1, rng)
    seen = np.where(truth == K, 0 if not drift else rng.integers(K, size=len(truth)), truth)
    return coin_matrix(seen, rng.uniform(0.5, 0.9, M), K, rng), truth


def drifting(rng: Rng, *, M: int, K: int, share: float) -> Any:
    """A share of the annotators gets worse (or better) from the first item to the last."""
    truth = draw_truth(1500, K, rng)
    begin, end = rng.uniform(0.6, 0.95, M), rng.uniform(0.6, 0.95, M)
    tired = rng.random(M) < share
    end = np.where(tired, 1 / K + 0.05, begin)
    time = np.linspace(0, 1, len(truth))[:, None]
    return coin_matrix(truth, begin + (end - begin) * time, K, rng), truth


def crowd_of(rng: Rng, *, M: int, K: int, N: int = 600, per_item: int | None = None) -> Any:
    """Independent annotators of mixed skill."""
    truth = draw_truth(N, K, rng)
    skills = 1 / K + (1 - 1 / K) * rng.beta(2, 2, M)
    matrix = coin_matrix(truth, skills, K, rng)
    return (matrix if per_item is None else keep_per_item(matrix, per_item, rng)), truth


def adversaries(rng: Rng, *, M: int, K: int, share: float, together: bool) -> Any:
    """A minority avoids the truth: each alone, or all with the same wrong class per item."""
    truth = draw_truth(1000, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.55, 0.85, M), K, rng)
    lie = (truth + rng.integers(1, K, size=len(truth))) % K
    for m in range(round(share * M)):
        own = lie if together else (truth + rng.integers(1, K, size=len(truth))) % K
        matrix[:, m] = np.where(rng.random(len(truth)) < 0.8, own, matrix[:, m])
    return matrix, truth


def specialists(rng: Rng, *, M: int, K: int, per_item: int) -> Any:
    """Everyone knows some of the classes well and confuses the others."""
    truth = draw_truth(1200, K, rng)
    knows = rng.random((M, K)) < 0.5
    recalls = np.where(knows, 0.95, 1 / K + 0.15)
    matrix = coin_matrix(truth, recalls[:, truth].T, K, rng)
    return keep_per_item(matrix, min(per_item, M), rng), truth


def abstaining(rng: Rng, *, M: int, K: int, missing: float) -> Any:
    """Nearly all responses are missing at random."""
    truth = draw_truth(2000, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.45, 0.9, M), K, rng)
    return np.where(rng.random(matrix.shape) < missing, MISSING, matrix), truth


def tiny(rng: Rng, *, N: int, M: int, K: int) -> Any:
    """At most twenty items."""
    truth = rng.integers(K, size=N)
    return coin_matrix(truth, rng.uniform(0.5, 0.95, M), K, rng), truth


def imbalanced(rng: Rng, *, M: int, rare: float, false_alarm: float) -> Any:
    """Two classes, one of them rare; false alarms may outnumber it."""
    truth = (rng.random(4000) < rare).astype(np.intp)
    recall = rng.uniform(0.5, 0.9, M)
    alarm = rng.uniform(0, 2 * false_alarm, M)
    reports = rng.random((len(truth), M)) < np.where(truth[:, None] == 1, recall, alarm)
    return reports.astype(np.intp), truth


def biased(rng: Rng, *, M: int, K: int, share: float, bias: float) -> Any:
    """Most annotators report the first class too often, on the same items."""
    truth = draw_truth(1500, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.6, 0.9, M), K, rng)
    lure = rng.random(len(truth)) < bias
    for m in range(round(share * M)):
        falls = lure & (rng.random(len(truth)) < 0.8)
        matrix[falls, m] = 0
    return matrix, truth


def camps(rng: Rng, *, M: int, K: int, share: float, bias: float) -> Any:
    """A camp takes a shared wrong class on some items; the other camp does not."""
    truth = draw_truth(1500, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.7, 0.9, M), K, rng)
    lure = (truth + rng.integers(1, K, size=len(truth))) % K
    biased_items = rng.random(len(truth)) < bias
    for m in range(round(share * M)):
        falls = biased_items & (rng.random(len(truth)) < 0.85)
        matrix[falls, m] = lure[falls]
    return matrix, truth


def difficult(rng: Rng, *, M: int, K: int, spread: float, distractor: bool) -> Any:
    """Some items are hard for everyone; wrong responses spread, or share one distractor."""
    truth = draw_truth(1200, K, rng)
    logits = rng.normal(1.0, 0.5, M) + spread * rng.normal(0, 1, (len(truth), 1))
    matrix = coin_matrix(truth, 1 / (1 + np.exp(-logits)), K, rng)
    if distractor:
        lure = (truth + rng.integers(1, K, size=len(truth))) % K
        matrix = np.where(matrix == truth[:, None], matrix, lure[:, None])
    return matrix, truth


def unequal(rng: Rng, *, M: int, K: int, busiest: str) -> Any:
    """Numbers of responses per annotator follow Zipf's law; the busiest may guess."""
    truth = draw_truth(1500, K, rng)
    skills = rng.uniform(0.5, 0.9, M)
    if busiest == "guess":
        skills[: max(M // 10, 1)] = 1 / K
    if busiest == "experts":
        skills[: max(M // 10, 1)] = 0.95
    matrix = coin_matrix(truth, skills, K, rng)
    return keep_per_item(matrix, min(5, M), rng, 1 / np.arange(1, M + 1)), truth


def blocks(rng: Rng, *, B: int, M: int, K: int, poor: float) -> Any:
    """Blocks of annotators who share no item with other blocks; some blocks are poor."""
    truth = draw_truth(1200, K, rng)
    block = rng.integers(B, size=len(truth))
    matrix = np.full((len(truth), B * M), MISSING)
    for b in range(B):
        low, high = (1 / K, 0.6) if rng.random() < poor else (0.6, 0.95)
        own = block == b
        columns = slice(b * M, (b + 1) * M)
        matrix[own, columns] = coin_matrix(truth[own], rng.uniform(low, high, M), K, rng)
    return matrix, truth


def spammers(rng: Rng, *, M: int, K: int, share: float, constant: bool) -> Any:
    """A share of the annotators guesses, or always reports one class."""
    truth = draw_truth(1000, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.6, 0.9, M), K, rng)
    for m in range(round(share * M)):
        matrix[:, m] = rng.integers(K) if constant else rng.integers(K, size=len(truth))
    return keep_per_item(matrix, min(M, 7), rng), truth


def classifiers(rng: Rng, *, M: int, K: int, shared: float, families: int) -> Any:
    """Scores of the classes with noise that all share, noise per family, and own noise."""
    N = 3000
    truth = draw_truth(N, K, rng, 3.0)
    signal = np.eye(K)[truth] * 2.0
    common = rng.normal(0, 1, (N, K)) * np.sqrt(shared)
    bias = rng.normal(0, 0.5, K)
    by_family = rng.normal(0, 1, (families, N, K)) * np.sqrt((1 - shared) / 2)
    matrix = np.empty((N, M), dtype=np.intp)
    for m in range(M):
        noise = rng.normal(0, 1, (N, K)) * np.sqrt((1 - shared) / 2) * rng.uniform(0.7, 1.6)
        own = rng.normal(0, 0.3, K) + bias
        matrix[:, m] = (signal + 1.2 * (common + by_family[m % families] + noise) + own).argmax(1)
    return matrix, truth


def prompts(rng: Rng, *, models: int, each: int, K: int, same: float) -> Any:
    """A few language models with several prompts each: errors of one model coincide."""
    truth = draw_truth(1200, K, rng)
    base = coin_matrix(truth, rng.uniform(0.65, 0.9, models), K, rng)
    matrix = np.repeat(base, each, axis=1)
    fresh = coin_matrix(truth, np.repeat(rng.uniform(0.65, 0.9, models), each), K, rng)
    return np.where(rng.random(matrix.shape) < same, matrix, fresh), truth


def illusions(rng: Rng, *, M: int, K: int, share: float, pull: float) -> Any:
    """Items on which everyone is pulled towards one wrong class."""
    truth = draw_truth(1500, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.7, 0.95, M), K, rng)
    lure = (truth + rng.integers(1, K, size=len(truth))) % K
    pulled = (rng.random(len(truth)) < share)[:, None] & (rng.random(matrix.shape) < pull)
    return np.where(pulled, lure[:, None], matrix), truth


def confusable(rng: Rng, *, M: int, K: int, size: int, per_item: int) -> Any:
    """Classes are confused within groups of ``size`` only; one of a group is the favourite."""
    truth = draw_truth(1500, K, rng)
    matrix = np.empty((len(truth), M), dtype=np.intp)
    for m in range(M):
        right = rng.random(len(truth)) < rng.uniform(0.5, 0.85)
        within = truth // size * size
        favourite = rng.random(len(truth)) < 0.5
        other = np.where(favourite, within, within + rng.integers(size, size=len(truth)))
        matrix[:, m] = np.where(right, truth, np.minimum(other, K - 1))
    return keep_per_item(matrix, min(M, per_item), rng), truth


def neighbours(rng: Rng, *, M: int, K: int, lenient: float) -> Any:
    """Grades: errors go to neighbouring classes, and annotators are harsh or lenient."""
    truth = draw_truth(1200, K, rng)
    shift = rng.normal(0, lenient, M)
    noise = rng.normal(0, 1, (len(truth), M)) * rng.uniform(0.4, 1.2, M)
    return np.clip(np.round(truth[:, None] + shift + noise), 0, K - 1).astype(np.intp), truth


def experts(rng: Rng, *, M: int, K: int, number: int) -> Any:
    """A few experts among many who know little."""
    truth = draw_truth(1000, K, rng)
    skills = np.full(M, 1 / K + 0.1)
    skills[:number] = 0.93
    return coin_matrix(truth, skills, K, rng), truth


def judge_families(rng: Rng, *, families: int, each: int, K: int) -> Any:
    """Judges of a few model families: difficulty is shared by all, and errors by a family."""
    truth = draw_truth(1500, K, rng)
    M = families * each
    by_family = np.repeat(rng.normal(size=(1500, families)), each, axis=1)
    margin = 1.2 + 0.6 * rng.normal(size=(1500, 1)) + 0.8 * by_family
    margin = margin + 0.6 * rng.normal(size=(1500, M)) + 0.2 * rng.normal(size=M)
    return coin_matrix(truth, (margin > 0).astype(float), K, rng), truth


def adaptive(rng: Rng, *, M: int, K: int) -> Any:
    """Labels are collected until a class leads by two votes, or nine annotators responded."""
    truth = draw_truth(800, K, rng)
    hard = np.where(rng.random((800, 1)) < 0.3, 0.6, 1.0)
    matrix = coin_matrix(truth, hard * rng.uniform(0.5, 0.9, M), K, rng)
    order = rng.random((800, M)).argsort(axis=1)[:, :9]
    kept = np.full_like(matrix, MISSING)
    for item, asked in enumerate(order):
        votes = np.zeros(K)
        for m in asked:
            kept[item, m] = matrix[item, m]
            votes[matrix[item, m]] += 1
            if np.subtract(*np.sort(votes)[:-3:-1]) >= 2:
                break
    return kept, truth


def experts_on_hard(rng: Rng, *, M: int, K: int) -> Any:
    """Two of five experts are asked, beside three others, only about items that are hard."""
    truth, hard = draw_truth(1000, K, rng), rng.random((1000, 1)) < 0.35
    skills = np.where(hard, 0.55, rng.uniform(0.55, 0.85, M))
    others = keep_per_item(coin_matrix(truth, skills, K, rng), 3, rng)
    experts = keep_per_item(coin_matrix(truth, np.full(5, 0.93), K, rng), 2, rng)
    return np.hstack([others, np.where(hard, experts, MISSING)]), truth


def long_tail(rng: Rng, *, M: int, K: int, per_item: int) -> Any:
    """The k-th class has 1/k of the items of the first, and is confused with a few others."""
    shares = 1 / np.arange(1, K + 1)
    truth = rng.choice(K, size=3000, p=shares / shares.sum())
    partner = rng.permuted(np.tile(np.arange(K), (M, 1)), axis=1)
    right = rng.random((3000, M)) < rng.uniform(0.4, 0.9, M)
    confused = np.where(rng.random((3000, M)) < 0.7, partner[:, truth].T, rng.integers(K, size=1))
    return keep_per_item(np.where(right, truth[:, None], confused), per_item, rng), truth


def first_option(rng: Rng, *, M: int, bias: float) -> Any:
    """Pairs of texts, first, second or tie: judges prefer the one that is shown first."""
    truth = rng.choice(3, size=1200, p=[0.42, 0.42, 0.16])
    matrix = coin_matrix(truth, rng.uniform(0.6, 0.85, M), 3, rng)
    return np.where(rng.random(matrix.shape) < rng.uniform(0, 2 * bias, M), 0, matrix), truth


def mixed_language(rng: Rng, *, M: int, K: int) -> Any:
    """A third of the annotators does not understand a third of the items, and guesses there."""
    truth = draw_truth(1200, K, rng)
    matrix = coin_matrix(truth, rng.uniform(0.6, 0.9, M), K, rng)
    foreign = (rng.random((len(truth), 1)) < 1 / 3) & (np.arange(M) < round(M / 3))
    return np.where(foreign, rng.integers(K, size=matrix.shape), matrix), truth


def weakly_anchored(rng: Rng, *, M: int, K: int, mutual: bool) -> Any:
    """Everyone reports the true class little more often than one other class.

    That class is the next one, or, if ``mutual``, the other one of a pair of classes.
    """
    truth = draw_truth(1200, K, rng)
    other = truth ^ 1 if mutual else (truth + 1) % K
    lead, drawn = rng.uniform(0.05, 0.15, M), rng.random((len(truth), M))
    near = np.where(drawn < (0.9 + lead) / 2, truth[:, None], other[:, None])
    return np.where(drawn < 0.9, near, rng.integers(K, size=near.shape)), truth


def trivial(rng: Rng, *, what: str) -> Any:
    """Tables without disagreement, with one class only, or with single responses."""
    truth = rng.integers(3, size=200)
    if what == "agreed":
        return np.repeat(truth[:, None], 5, axis=1), truth
    if what == "one class":
        nearly = (rng.random((200, 5)) < 0.005).astype(np.intp)
        return nearly, np.zeros(200, dtype=np.intp)
    if what == "one response each":
        return keep_per_item(coin_matrix(truth, rng.uniform(0.5, 0.9, 8), 3, rng), 1, rng), truth
    matrix = coin_matrix(truth, rng.uniform(0.5, 0.9, 8), 3, rng)
    return keep_per_item(matrix, 2, rng), truth


def _kinds(family: str, draw: Callable[..., Any], **grid: tuple[Any, ...]) -> list[Kind]:
    """One kind per combination of the values of the grid."""
    return [
        Kind(
            family,
            ", ".join(f"{name} {value}" for name, value in zip(grid, values, strict=True)),
            partial(draw, **dict(zip(grid, values, strict=True))),
        )
        for values in product(*grid.values())
    ]


KINDS: list[Kind] = [
    *_kinds("one-sided sources", one_sided, M=(6, 12, 30), K=(2, 4), coverage=(0.1, 0.4)),
    *_kinds("one-sided and whole", one_sided, M=(10,), K=(2, 4), coverage=(0.3,), whole=(0.2, 0.5)),
    *_kinds("copies", copies, M=(5, 11, 20), K=(2, 4), chain=(True, False), faithful=(0.9,)),
    *_kinds("copies", copies, M=(9,), K=(2,), chain=(True,), faithful=(0.5, 1.0)),
    *_kinds("unreported class", unreported, M=(4, 12), K=(2, 4), drift=(False, True)),
    *_kinds("drifting annotators", drifting, M=(5, 15), K=(2, 4), share=(0.4, 1.0)),
    *_kinds("size", crowd_of, M=(2, 3, 4, 5, 7, 11, 30), K=(2, 4)),
    *_kinds("size", crowd_of, M=(100, 200), K=(2, 4), per_item=(5, 20)),
    *_kinds("many classes", crowd_of, M=(5,), K=(1000,), N=(3000,), per_item=(3, 5)),
    *_kinds("many classes", crowd_of, M=(30,), K=(100,), N=(500, 3000), per_item=(5,)),
    *_kinds(
        "adversaries", adversaries, M=(5, 10, 25), K=(2, 4), share=(0.2, 0.4), together=(True,)
    ),
    *_kinds("adversaries", adversaries, M=(10,), K=(4,), share=(0.3,), together=(False,)),
    *_kinds("specialists", specialists, M=(6, 20), K=(4, 10), per_item=(5,)),
    *_kinds("abstaining", abstaining, M=(5, 20, 60), K=(2, 4), missing=(0.8, 0.95)),
    *_kinds("tiny", tiny, N=(1, 2, 5, 10, 20), M=(3, 8), K=(2, 4)),
    *_kinds("imbalanced", imbalanced, M=(3, 5, 11), rare=(0.01, 0.001), false_alarm=(0.01, 0.1)),
    *_kinds("biased majority", biased, M=(5, 11), K=(2, 4), share=(0.6, 0.8), bias=(0.2, 0.4)),
    *_kinds("camps", camps, M=(10, 25), K=(2, 4), share=(0.4, 0.6), bias=(0.25,)),
    *_kinds(
        "difficult items",
        difficult,
        M=(5, 11, 25),
        K=(2, 4),
        spread=(1.5,),
        distractor=(True, False),
    ),
    *_kinds("unequal volumes", unequal, M=(15, 60), K=(2, 4), busiest=("guess", "experts", "any")),
    *_kinds("blocks", blocks, B=(4, 15), M=(3, 6), K=(2, 4), poor=(0.3,)),
    *_kinds("spammers", spammers, M=(10, 40), K=(2, 4), share=(0.3, 0.6), constant=(True, False)),
    *_kinds("classifiers", classifiers, M=(7, 15), K=(2, 5), shared=(0.3, 0.6, 0.9), families=(3,)),
    *_kinds("prompts", prompts, models=(2, 3, 5), each=(4,), K=(2, 4), same=(0.6, 0.9)),
    *_kinds("illusions", illusions, M=(5, 15), K=(2, 4), share=(0.1, 0.3), pull=(0.6,)),
    *_kinds("confusable classes", confusable, M=(10,), K=(8, 20), size=(2, 4), per_item=(4, 10)),
    *_kinds("grades", neighbours, M=(5, 12), K=(3, 5), lenient=(0.3, 0.8)),
    *_kinds("experts", experts, M=(9, 25), K=(2, 4), number=(1, 3)),
    *_kinds("judge families", judge_families, families=(3, 5), each=(2, 4), K=(2, 5)),
    *_kinds("adaptive labels", adaptive, M=(12, 40), K=(2, 4)),
    *_kinds("experts on hard items", experts_on_hard, M=(12, 30), K=(2, 4)),
    *_kinds("long tail", long_tail, M=(20, 200), K=(10, 30), per_item=(3, 5)),
    *_kinds("first option", first_option, M=(4, 9), bias=(0.1, 0.25)),
    *_kinds("trivial", trivial, what=("agreed", "one class", "one response each", "two each")),
]
"""All kinds of tables."""

HARD_KINDS: list[Kind] = [
    *_kinds(
        *("varying difficulty", difficult), M=(5, 15), K=(2, 4), spread=(1.5,), distractor=(False,)
    ),
    *_kinds("drift", drifting, M=(5, 15), K=(2, 4), share=(0.5,)),
    *_kinds("mixed languages", mixed_language, M=(6, 15), K=(2, 4)),
    *_kinds("weak anchoring", weakly_anchored, M=(10, 20), K=(4,), mutual=(False, True)),
]
"""Kinds of tables whose errors are hard to state."""
