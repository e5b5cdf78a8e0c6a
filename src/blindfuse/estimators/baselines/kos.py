"""KOS: message passing between items and annotators (Karger, Oh and Shah 2011)."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_expit, softmax

from blindfuse.estimators.base import Estimator, Iterations, Seed
from blindfuse.estimators.baselines.pairs import gram_matrix, leading_eigenpair, to_signs
from blindfuse.parameters import one_of
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

Variant = Literal["messages", "svd"]


@dataclass(kw_only=True, eq=False, repr=False)
class KOS(Estimator):
    """Message passing between items and annotators (Karger, Oh and Shah 2011).

    With responses as signs A_ij, items and annotators exchange the messages
    x_{i→j} = Σ_{j'≠j} A_ij' y_{j'→i} and y_{j→i} = Σ_{i'≠i} A_i'j x_{i'→j}, starting at y ~ N(1, 1)
    and scaled to unit size in each iteration; the score of an item is Σ_j A_ij y_{j→i}. More than
    two classes are several two-class problems. Reference: Karger, Oh and Shah (2011), "Iterative
    Learning for Reliable Crowdsourcing Systems".

    Parameters
    ----------
    variant
        ``"messages"``, or ``"svd"`` for the "KOS" of published tables: the leading left singular
        vector of the signs with centred columns, oriented so that the positive entries of the right
        one have more weight.
    ordered
        whether the classes are ordered. If so, there is one problem "above class l" per class l but
        the last: ``"messages"`` selects the class that fits all scores best, and ``"svd"``, as
        published, the first class that is not exceeded. If not, and there are more than two
        classes, each class is compared with all others.
    n_iter, seed
        number of iterations of message passing, and its random seed.

    Attributes
    ----------
    weights_ ``[problem, annotator]``
        the weight of each annotator in each two-class problem.
    posteriors_ ``[item, class]``
        scores scaled to [0, 1], for ranking. They are not calibrated, and are 0 or 1 with ordered
        classes and ``"svd"``.
    """

    variant: Annotated[Variant, one_of(*get_args(Variant))] = "messages"
    ordered: Annotated[bool, one_of(False, True)] = False
    n_iter: Iterations = 20
    seed: Seed = 0

    def _fit(self, table: Responses) -> None:
        rng = np.random.default_rng(self.seed)
        results = [
            _leading_singular_vector(signs)
            if self.variant == "svd"
            else _pass_messages(signs, self.n_iter, rng)
            for signs in self._two_class_problems(table)
        ]
        self._remember_names(table)
        self.weights_ = np.array([result.weights for result in results])
        self._offsets = [result.offset for result in results]
        scores = np.column_stack([result.scores for result in results])
        self._scale = np.sqrt(np.mean(scores**2)) or 1.0
        self._store_posteriors(self._scores_to_posteriors(scores))

    def _posteriors(self, responses: Responses) -> Floats:
        """Return posteriors by the weights, which include the messages of the items of ``fit``."""
        scores = [
            signs @ weights - offset
            for signs, weights, offset in zip(
                self._two_class_problems(responses), self.weights_, self._offsets, strict=True
            )
        ]
        return self._scores_to_posteriors(np.column_stack(scores))

    def _two_class_problems(self, responses: Responses) -> list[csr_array]:
        """Return the signs ``[item, annotator]`` of each two-class problem."""
        symbols = responses.by_item.symbols
        if self.ordered or responses.n_classes == 2:
            positive = [symbols > threshold for threshold in range(responses.n_classes - 1)]
        else:
            positive = [symbols == k for k in range(responses.n_classes)]
        return [to_signs(responses, is_positive) for is_positive in positive]

    def _scores_to_posteriors(self, scores: Floats) -> Floats:
        """Return posteriors ``[item, class]`` from scores ``[item, problem]``."""
        scaled = scores / self._scale
        if scaled.shape[1] == len(self.classes_):
            return np.asarray(softmax(scaled, axis=1))
        if self.ordered and self.variant == "svd":
            n_exceeded = np.cumprod(scaled > 0, axis=1).sum(axis=1)
            return np.asarray(np.eye(len(self.classes_))[n_exceeded])
        log_above, log_below = log_expit(scaled), log_expit(-scaled)
        zero = np.zeros((len(scaled), 1))
        exceeded = np.concatenate([zero, log_above.cumsum(axis=1)], axis=1)
        not_reached = np.concatenate([log_below[:, ::-1].cumsum(axis=1)[:, ::-1], zero], axis=1)
        return np.asarray(softmax(exceeded + not_reached, axis=1))


class _TwoClassResult(NamedTuple):
    """``scores[item]``, ``weights[annotator]``, and the offset of scores of new items."""

    scores: Floats
    weights: Floats
    offset: float


def _pass_messages(signs: csr_array, n_iter: int, rng: np.random.Generator) -> _TwoClassResult:
    N, M = signs.shape
    items, annotators = signs.nonzero()
    sign: Floats = signs.data
    totals: Floats = np.zeros(M)
    to_items = rng.normal(1.0, 1.0, size=len(sign))
    for _ in range(n_iter):
        sent = sign * to_items
        to_annotators = np.bincount(items, sent, minlength=N)[items] - sent
        sent = sign * to_annotators
        totals = np.bincount(annotators, sent, minlength=M).astype(float)
        to_items = totals[annotators] - sent
        size = np.sqrt(np.mean(to_items**2))
        if size == 0:  # no item has two responses, so all messages are zero: use a plain vote
            to_items, totals = np.ones_like(to_items), np.ones_like(totals)
            break
        to_items, totals = to_items / size, totals / size
    scores = np.bincount(items, sign * to_items, minlength=N).astype(float)
    return _TwoClassResult(scores, totals, 0.0)


def _leading_singular_vector(signs: csr_array) -> _TwoClassResult:
    N = signs.shape[0]
    mean = np.asarray(signs.sum(axis=0)) / N
    centred_gram = gram_matrix(signs) - N * np.outer(mean, mean)
    _, weights = leading_eigenpair(centred_gram)
    if np.sum(weights[weights >= 0] ** 2) < 0.5:
        weights = -weights
    offset = float(mean @ weights)
    return _TwoClassResult(signs @ weights - offset, weights, offset)
