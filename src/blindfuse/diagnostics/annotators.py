"""Accuracy of each annotator with an interval, and flags for adversaries and spammers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, expit, logit, ndtri

from blindfuse.errors import list_names
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, posterior_products
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

INTERVAL_LEVEL = 0.95
"""Confidence level of the accuracy intervals."""
INDEPENDENCE_LEVEL = 0.05
"""Significance level of the test that an annotator's responses depend on the class."""
MAX_INFORMATION_ENTRIES = 4_000_000
"""Entries of the information matrices that are inverted at once."""
PSEUDO_COUNT = 1.0
"""Responses per class added to each annotator's information, so that a class without responses
has a finite interval."""

FLAGS = {
    "adversary": "worse than chance",
    "spammer": "no better than chance",
    "constant": "always the same response",
}
"""Flag to description, most serious first; each flag is a field of :class:`Annotators`."""


@dataclass(frozen=True, eq=False)
class Annotators:
    """Ratings per annotator, in the order of ``names``.

    Attributes
    ----------
    n_responses ``[annotator]``
        number of responses.
    accuracy, low, high ``[annotator]``
        estimated accuracy Σ_k π_k Γ_m(k, k), and its 95 % interval.
    worst_class, confused_with ``[annotator]``
        code of the class with the lowest recall, and of what is reported most often instead.
    bias ``[annotator, class]``
        share of responses with this class, minus the mean posterior of this class over the same
        items.
    adversary, spammer, constant ``[annotator]``
        flags: the whole interval lies below chance; responses do not depend significantly on the
        class; all responses are the same.
    """

    names: NDArray[Any]
    classes: NDArray[Any]
    n_responses: NDArray[np.integer[Any]]
    accuracy: Floats
    low: Floats
    high: Floats
    worst_class: NDArray[np.intp]
    confused_with: NDArray[np.intp]
    bias: Floats
    constant: NDArray[np.bool_]
    spammer: NDArray[np.bool_]
    adversary: NDArray[np.bool_]

    def flagged(self, flag: str) -> NDArray[np.bool_]:
        """Whether each annotator has this flag of ``FLAGS``, ``[annotator]``."""
        return np.asarray(getattr(self, flag))

    def flags_of(self, m: int) -> list[str]:
        """The flags of annotator m, most serious first."""
        return [flag for flag in FLAGS if self.flagged(flag)[m]]

    @property
    def has_adversaries(self) -> bool:
        """Whether some annotator is worse than chance."""
        return bool(np.any(self.adversary))

    def summary(self) -> str:
        """The range of accuracies, and the flagged annotators."""
        responding = self.n_responses > 0
        low, high = np.quantile(self.accuracy[responding], [0.25, 0.75])
        sentences = [
            f"Estimated accuracy: {100 * low:.0f} to {100 * high:.0f} % for most "
            "(interquartile range)."
        ]
        for flag, description in FLAGS.items():
            if np.any(self.flagged(flag)):
                names = list_names(self.names[self.flagged(flag)])
                sentences.append(f"{description.capitalize()}: {names}.")
        if self.has_adversaries:
            sentences.append(
                "Check whether those worse than chance swapped classes; if most annotators did, "
                "no method could detect it."
            )
        return " ".join(sentences)


def rate_annotators(responses: Responses, model: Model, posteriors: Floats) -> Annotators:
    """Rate annotators; intervals are by the delta method on the logit of the accuracy."""
    K = responses.n_classes
    counts = count_posteriors(responses, posteriors).counts
    accuracy = model.accuracies
    products = posterior_products(responses, posteriors)
    low, high = _intervals(accuracy, _variances(model, products, responses.n_items))
    worst_class, confused_with = _worst_confusions(model.confusions)
    reported, true = counts.sum(axis=2), counts.sum(axis=1)
    totals = np.maximum(reported.sum(axis=1, keepdims=True), 1.0)
    chance = np.sum(reported / totals * (true / totals), axis=1)
    responding = responses.responses_per_annotator > 0
    constant = responding & (np.count_nonzero(reported, axis=1) == 1) & (totals[:, 0] > K)
    adversary = responding & (high < chance)
    uninformative = ~_is_informative(counts, reported) & (totals[:, 0] > 5 * K)
    return Annotators(
        names=responses.annotators,
        classes=responses.classes,
        n_responses=responses.responses_per_annotator,
        accuracy=accuracy,
        low=low,
        high=high,
        worst_class=worst_class,
        confused_with=confused_with,
        bias=(reported - true) / totals,
        constant=constant,
        spammer=responding & ~constant & ~adversary & uninformative,
        adversary=adversary,
    )


def _intervals(accuracy: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Limits ``[annotator]`` of the interval around each accuracy."""
    z = ndtri(0.5 + INTERVAL_LEVEL / 2)
    inside = np.clip(accuracy, 1e-4, 1 - 1e-4)
    width = z * np.sqrt(variances) / (inside * (1 - inside))
    return expit(logit(inside) - width), expit(logit(inside) + width)


def _worst_confusions(confusions: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The class with the lowest recall, and the most frequent wrong report of it."""
    annotators = np.arange(len(confusions))
    worst = np.einsum("mkk->mk", confusions).argmin(axis=1)
    columns = confusions[annotators, :, worst].copy()
    columns[annotators, worst] = -1.0
    return worst, columns.argmax(axis=1)


def _variances(model: Model, products: Floats, n_items: int) -> Floats:
    """Variance of each accuracy, ``[annotator]``.

    With posterior w, an item's score for the logits of Γ_m is s(a, k) = w_k (1[f = a] − Γ_m(a, k)).
    The observed information of Γ_m is Σ_n s sᵀ, which accounts for the unknown class of the item
    (Louis 1982). The gradient of the accuracy is π_k Γ(k, k) (1[a = k] − Γ(a, k)). The class prior
    adds Σ_k π_k (Γ(k, k) − accuracy)²/N.
    """
    K = len(model.prior)
    step = max(1, MAX_INFORMATION_ENTRIES // K**4)
    blocks = [slice(begin, begin + step) for begin in range(0, len(products), step)]
    by_confusions = [
        _confusion_variances(model.confusions[b], model.prior, products[b]) for b in blocks
    ]
    recalls = np.einsum("mkk->mk", model.confusions)
    by_prior = (recalls - model.accuracies[:, None]) ** 2 @ model.prior / n_items
    return np.asarray(np.concatenate(by_confusions) + by_prior)


def _confusion_variances(confusions: Floats, prior: Floats, products: Floats) -> Floats:
    """The part of the variance that is due to the confusion matrices, ``[annotator]``."""
    M, K = confusions.shape[:2]
    identity = np.eye(K)
    residual = identity[:, :, None] - confusions[:, None]  # [annotator, reported, a, k]
    scores = np.einsum("mfkl,mfak->mfakl", products, residual)
    information = np.einsum("mfakl,mfbl->makbl", scores, residual, optimize=True)
    multinomial = np.einsum("ab,mak->makb", identity, confusions)
    multinomial -= np.einsum("mak,mbk->makb", confusions, confusions)
    for k in range(K):
        information[:, :, k, :, k] += PSEUDO_COUNT * multinomial[:, :, k]
    recalls = np.einsum("mkk->mk", confusions)
    gradient = ((prior * recalls)[:, None] * (identity - confusions)).reshape(M, K * K)
    inverse = np.linalg.pinv(information.reshape(M, K * K, K * K), rcond=1e-10, hermitian=True)
    return np.asarray(np.einsum("mx,mxy,my->m", gradient, inverse, gradient))


def _is_informative(counts: Floats, reported: Floats) -> NDArray[np.bool_]:
    """Whether responses depend on the class, by a χ² test of independence, ``[annotator]``."""
    total = np.maximum(reported.sum(axis=1)[:, None, None], 1e-9)
    expected = reported[:, :, None] * counts.sum(axis=1)[:, None, :] / total
    terms = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0
    )
    rows = np.count_nonzero(reported > 0, axis=1) - 1
    columns = np.count_nonzero(counts.sum(axis=1) > 1e-9, axis=1) - 1
    freedom = np.maximum(rows * columns, 1)
    return np.asarray(terms.sum(axis=(1, 2)) > chdtri(freedom, INDEPENDENCE_LEVEL))
