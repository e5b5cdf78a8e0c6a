"""KOS: message passing between items and annotators (Karger, Oh and Shah 2011)."""

from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import log_expit, softmax

from blindfuse.estimators.base import TableEstimator, at_least, one_of, to_fit
from blindfuse.estimators.signs import leading, products_of, signs
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Variant = Literal["messages", "svd"]


class Found(NamedTuple):
    """What one two-class problem gives: scores of items, weights of annotators, and an offset."""

    scores: Floats
    weights: Floats
    offset: float


class KOS(TableEstimator):
    """Two classes by messages or by a singular vector; more by several two-class problems.

    Parameters
    ----------
    variant
        ``"messages"``: x_{i→j} = Σ_{j'≠j} A_ij' y_{j'→i} and y_{j→i} = Σ_{i'≠i} A_i'j x_{i'→j},
        from y ~ N(1, 1), scaled to unit size each round; items score Σ_j A_ij y_{j→i}.
        ``"svd"``: the "KOS" of published tables, the leading left singular vector of the signs with
        centred columns, turned so that its partner's positive entries weigh more.
    ordered
        take classes as ordered: one problem for each "above class l". Messages then give the
        class that fits all answers best, and ``"svd"``, as published, the first class that is not
        exceeded. Without it, more than two classes are one problem each, against the rest.
    rounds, seed
        of message passing.

    ``posteriors_`` are scores brought between 0 and 1, for ranking; they are not calibrated, and
    0 or 1 with ordered ``"svd"``.
    """

    weights_: Floats

    def __init__(
        self,
        *,
        variant: Variant = "messages",
        ordered: bool = False,
        rounds: int = 20,
        seed: int | None = 0,
    ) -> None:
        self.variant: Variant = variant
        self.ordered = ordered
        self.rounds = rounds
        self.seed = seed

    def fit(self, responses: Any) -> Self:
        table = to_fit(responses)
        one_of("variant", self.variant, get_args(Variant))
        at_least("rounds", self.rounds, 1)
        rng = np.random.default_rng(self.seed)
        found = [
            _singular(problem) if self.variant == "svd" else _messages(problem, self.rounds, rng)
            for problem in self._problems(table)
        ]
        self.classes_, self.annotators_ = table.classes, table.annotators
        self.weights_ = np.array([problem.weights for problem in found])
        self._offsets = [problem.offset for problem in found]
        scores = np.column_stack([problem.scores for problem in found])
        self._size = np.sqrt(np.mean(scores**2)) or 1.0
        self.posteriors_ = self._ranked(scores)
        self.labels_ = self._named(self.posteriors_)
        return self

    def _posteriors(self, responses: Responses) -> Floats:
        """From the annotators' weights, in which items of ``fit`` have their own part."""
        scores = [
            problem @ weights - offset
            for problem, weights, offset in zip(
                self._problems(responses), self.weights_, self._offsets, strict=True
            )
        ]
        return self._ranked(np.column_stack(scores))

    def _problems(self, responses: Responses) -> list[csr_array]:
        """Signs ``[item, annotator]`` of each two-class problem."""
        labels = responses.by_item.labels
        if self.ordered or responses.n_classes == 2:
            yes = [labels > threshold for threshold in range(responses.n_classes - 1)]
        else:
            yes = [labels == one for one in range(responses.n_classes)]
        return [signs(responses, answers) for answers in yes]

    def _ranked(self, scores: Floats) -> Floats:
        """Scores of all problems as beliefs ``[item, class]``."""
        scaled = scores / self._size
        if scaled.shape[1] == len(self.classes_):
            return np.asarray(softmax(scaled, axis=1))
        if self.ordered and self.variant == "svd":
            exceeded = np.cumprod(scaled > 0, axis=1).sum(axis=1)
            return np.asarray(np.eye(len(self.classes_))[exceeded])
        above, below = log_expit(scaled), log_expit(-scaled)
        zero = np.zeros((len(scaled), 1))
        passed = np.concatenate([zero, above.cumsum(axis=1)], axis=1)
        failed = np.concatenate([below[:, ::-1].cumsum(axis=1)[:, ::-1], zero], axis=1)
        return np.asarray(softmax(passed + failed, axis=1))


def _messages(answers: csr_array, rounds: int, rng: np.random.Generator) -> Found:
    N, M = answers.shape
    items, annotators = answers.nonzero()
    sign: Floats = answers.data
    totals: Floats = np.zeros(M)
    to_items = rng.normal(1.0, 1.0, size=len(sign))
    for _ in range(rounds):
        sent = sign * to_items
        to_annotators = np.bincount(items, sent, minlength=N)[items] - sent
        sent = sign * to_annotators
        totals = np.bincount(annotators, sent, minlength=M).astype(float)
        to_items = totals[annotators] - sent
        size = np.sqrt(np.mean(to_items**2))
        if size == 0:  # no item has two answers, so that nobody hears of anybody: a plain vote
            to_items, totals = np.ones_like(to_items), np.ones_like(totals)
            break
        to_items, totals = to_items / size, totals / size
    scores = np.bincount(items, sign * to_items, minlength=N).astype(float)
    return Found(scores, totals, 0.0)


def _singular(answers: csr_array) -> Found:
    N = answers.shape[0]
    mean = np.asarray(answers.sum(axis=0)) / N
    gram = products_of(answers) - N * np.outer(mean, mean)
    _, weights = leading(gram)
    if np.sum(weights[weights >= 0] ** 2) < 0.5:
        weights = -weights
    offset = float(mean @ weights)
    return Found(answers @ weights - offset, weights, offset)
