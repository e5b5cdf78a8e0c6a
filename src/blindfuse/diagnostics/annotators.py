"""Who is how good, with an interval; who spams, errs on purpose, or says one thing only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, expit, logit, ndtri

from blindfuse.errors import naming
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, posterior_products
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
MOST_INFORMATION = 4_000_000
"""Entries of information matrices that are inverted together."""
PRIOR_LABELS = 1.0
"""Labels a class that an interval credits everybody with, so that an empty column has a width."""


@dataclass(frozen=True, eq=False)
class Annotators:
    """Per annotator, in the order of ``names``.

    ``accuracy`` is Σ_k π_k Γ_m(k, k), between ``low`` and ``high`` with 95 % confidence; ``worst``
    the code of the class that it reports least often where true, and ``taken_for`` what it reports
    there most; ``bias[annotator, class]`` the share of its labels less what an annotator without
    errors would give to the same items. Flags: ``constant`` reports one class only, ``spammer``
    tells no classes apart beyond doubt, ``adversary`` is beyond doubt worse than chance.
    """

    names: NDArray[Any]
    classes: NDArray[Any]
    labels: NDArray[np.integer[Any]]
    accuracy: Floats
    low: Floats
    high: Floats
    worst: NDArray[np.intp]
    taken_for: NDArray[np.intp]
    bias: Floats
    constant: NDArray[np.bool_]
    spammer: NDArray[np.bool_]
    adversary: NDArray[np.bool_]

    def summary(self) -> str:
        """In words."""
        answering = self.labels > 0
        low, high = np.quantile(self.accuracy[answering], [0.1, 0.9])
        says = [f"Most annotators are right in {100 * low:.0f} to {100 * high:.0f} % of cases."]
        for flags, what in (
            (self.adversary, "worse than chance"),
            (self.spammer, "no better than chance"),
            (self.constant, "always the same answer"),
        ):
            if np.any(flags):
                says.append(f"{what.capitalize()}: {naming(self.names[flags])}.")
        return " ".join(says)


def rate_annotators(responses: Responses, model: Model, posteriors: Floats) -> Annotators:
    """Accuracies with intervals by the delta method from each annotator's observed information."""
    K = responses.n_classes
    counts = count_posteriors(responses, posteriors).counts
    squares = posterior_products(responses, posteriors)
    accuracy = model.accuracies
    errors = np.sqrt(_variances(model, squares, responses.n_items))
    z = ndtri(0.5 + CONFIDENCE / 2)
    inside = np.clip(accuracy, 1e-4, 1 - 1e-4)
    width = z * errors / (inside * (1 - inside))
    low, high = expit(logit(inside) - width), expit(logit(inside) + width)
    recalls = np.einsum("mkk->mk", model.confusions)
    worst = recalls.argmin(axis=1)
    columns = model.confusions[np.arange(len(worst)), :, worst].copy()
    columns[np.arange(len(worst)), worst] = -1.0
    said = counts.sum(axis=2)
    labels = np.maximum(said.sum(axis=1, keepdims=True), 1.0)
    informed = _information(counts, said)
    chance = np.sum(said / labels * (counts.sum(axis=1) / labels), axis=1)
    answering = responses.responses_per_annotator > 0
    constant = answering & (np.count_nonzero(said, axis=1) == 1) & (labels[:, 0] > K)
    adversary = answering & (high < chance)
    return Annotators(
        names=responses.annotators,
        classes=responses.classes,
        labels=responses.responses_per_annotator,
        accuracy=accuracy,
        low=low,
        high=high,
        worst=worst,
        taken_for=columns.argmax(axis=1),
        bias=(said - counts.sum(axis=1)) / labels,
        constant=constant,
        spammer=answering & ~constant & ~adversary & ~informed & (labels[:, 0] > 5 * K),
        adversary=adversary,
    )


def _variances(model: Model, squares: Floats, n_items: int) -> Floats:
    """Variance of each accuracy ``[annotator]``.

    An item's score for the logits of Γ_m is s(a, k) = w_k (1[f = a] − Γ_m(a, k)), w its posterior:
    the information of Γ_m is Σ_n s sᵀ, which leaves out what is not known of the item's class
    (Louis 1982). The accuracy's gradient is π_k Γ(k, k) (1[a = k] − Γ(a, k)). Class shares add
    Σ_k π_k (Γ(k, k) − accuracy)²/N.
    """
    K = len(model.prior)
    step = max(1, MOST_INFORMATION // K**4)
    blocks = [slice(begin, begin + step) for begin in range(0, len(squares), step)]
    own = [_own_variances(model.confusions[b], model.prior, squares[b]) for b in blocks]
    right = np.einsum("mkk->mk", model.confusions)
    shares = (right - model.accuracies[:, None]) ** 2 @ model.prior / n_items
    return np.asarray(np.concatenate(own) + shares)


def _own_variances(confusions: Floats, prior: Floats, squares: Floats) -> Floats:
    """What these confusion matrices add to it."""
    M, K = confusions.shape[:2]
    same = np.eye(K)
    residual = same[:, :, None] - confusions[:, None]  # [annotator, reported, a, k]
    scores = np.einsum("mfkl,mfak->mfakl", squares, residual)
    information = np.einsum("mfakl,mfbl->makbl", scores, residual, optimize=True)
    known = np.einsum("ab,mak->makb", same, confusions)
    known -= np.einsum("mak,mbk->makb", confusions, confusions)
    for k in range(K):
        information[:, :, k, :, k] += PRIOR_LABELS * known[:, :, k]
    right = np.einsum("mkk->mk", confusions)
    slope = ((prior * right)[:, None] * (same - confusions)).reshape(M, K * K)
    inverse = np.linalg.pinv(information.reshape(M, K * K, K * K), rcond=1e-10, hermitian=True)
    return np.asarray(np.einsum("mx,mxy,my->m", slope, inverse, slope))


def _information(counts: Floats, said: Floats) -> NDArray[np.bool_]:
    """Whether answers and classes go together beyond doubt: a χ² test of independence, at 5 %."""
    total = np.maximum(said.sum(axis=1)[:, None, None], 1e-9)
    expected = said[:, :, None] * counts.sum(axis=1)[:, None, :] / total
    terms = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0
    )
    rows = np.count_nonzero(said > 0, axis=1) - 1
    columns = np.count_nonzero(counts.sum(axis=1) > 1e-9, axis=1) - 1
    freedom = np.maximum(rows * columns, 1)
    return np.asarray(terms.sum(axis=(1, 2)) > chdtri(freedom, 0.05))
