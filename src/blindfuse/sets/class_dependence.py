"""Classes that occur together: one low-rank correction of the prior of each class.

The responses about class k of item n have the likelihood ratio exp(e_nk). Without dependence, the
prior of the class is one number π_k. With it, the prior follows from what was reported about the
other classes of the item:

    logit P(y_nk = 1 | responses about j ≠ k) = b_k + Σ_r u_kr Σ_{j≠k} v_jr (q_nj − q̄_j),

where q_nj = P(y_nj = 1) by the responses about class j alone, and v are the leading principal
components of q. Class k itself is left out, so that no response counts twice. b and u maximise
the likelihood of the responses about class k given those about the others, with a standard normal
prior on u.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from blindfuse.diagnostics.pairs import evenly_spaced
from blindfuse.estimators.held_out import Gain
from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.model.posteriors import safe_log
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.typing import Codes, Floats

EPSILON = 1e-9
"""Probabilities are kept this far from 0 and 1, so that log odds are finite."""
MAX_RANK = 16
"""Principal components; more would add parameters to classes that have few positive items."""
FOLDS = 5


class PriorCorrection(NamedTuple):
    """Log odds of each class given what was reported about the others.

    ``weights[class, other]`` are Σ_r u_kr v_jr of the formula above, zero for the class itself, and
    ``intercepts[class]`` are b_k − Σ_j weights_kj q̄_j.
    """

    intercepts: Floats
    weights: Floats

    def log_odds(self, posteriors: Floats) -> Floats:
        """Prior log odds ``[item, class]`` from posteriors by each class's responses alone."""
        return np.asarray(self.intercepts + posteriors @ self.weights.T)


@dataclass(frozen=True, eq=False)
class ClassDependence:
    """Whether classes that occur together predict held-out responses, and what was learned.

    ``gain`` is None if it could not be tested; ``correction`` is None if it was not used.
    ``active`` are the positions of the classes that it concerns.
    """

    gain: Gain | None
    correction: PriorCorrection | None
    active: Codes

    def summary(self) -> str:
        """Whether the other classes of an item are used, and why."""
        if self.gain is None:
            return "Too few responses per item show whether classes occur together."
        if self.correction is None:
            return (
                f"Classes that occur together predict held-out responses no better ({self.gain})."
            )
        return (
            "Each class is corrected by the other classes of the item, because that predicts "
            f"held-out responses better ({self.gain})."
        )


class LeaveOneOut:
    """Prediction of each response from the other responses to the same item.

    ``named[response, class]``, ``rates[response, class, true]`` are the probabilities of "yes" by
    its annotator, ``evidence[item, class]`` the log likelihood ratios of all responses, and
    ``rest[response, class]`` those of the others.
    """

    def __init__(self, table: ResponseSets, rates: Floats) -> None:
        self.item, self.named = table.item_of_response(), table.indicators()
        self.rates = rates[table.codes].clip(EPSILON, 1 - EPSILON)
        chances = np.where(self.named[:, :, None], self.rates, 1 - self.rates)
        ratios = np.log(chances[:, :, 1]) - np.log(chances[:, :, 0])
        sums = [np.bincount(self.item, column, table.n_items) for column in ratios.T]
        self.evidence: Floats = np.stack(sums, axis=1).astype(np.float64)
        self.rest = self.evidence[self.item] - ratios

    def scores(self, log_odds: Floats, rows: Any) -> Floats:
        """Log-probabilities of responses ``[response]``, given prior log odds of the classes."""
        applies = expit(self.rest[rows] + log_odds)
        yes = applies * self.rates[rows, :, 1] + (1 - applies) * self.rates[rows, :, 0]
        return np.asarray(safe_log(np.where(self.named[rows], yes, 1 - yes)).sum(axis=1))


def measure_class_dependence(
    table: ResponseSets, active: Codes, prior: Floats, rates: Floats
) -> ClassDependence:
    """How much better responses are predicted if a class depends on the others of the item.

    Items are divided into folds. A correction fitted to the others predicts each response to an
    item of a fold from the remaining responses to that item.
    """
    table = table.sample_items(5_000_000)  # responses times classes
    n_responses = table.responses_per_item
    if len(active) < 2 or np.count_nonzero(n_responses >= 2) < 2:
        return ClassDependence(None, None, active)
    base = logit(prior.clip(EPSILON, 1 - EPSILON))
    held = LeaveOneOut(table.select_classes(active), rates)
    item, evidence = held.item, held.evidence
    order = content_order(evidence)
    fold_of_item = np.empty(table.n_items, dtype=np.intp)
    fold_of_item[order] = np.arange(table.n_items) % FOLDS
    rank_of_item = np.argsort(order)
    step = 1 + table.n_responses // 50_000  # holds out about 50,000 responses
    gains = np.zeros(table.n_items)
    is_tested = (n_responses >= 2) & (rank_of_item // FOLDS % step == 0)
    for fold in range(FOLDS):
        correction = fit_correction(evidence[order[fold_of_item[order] != fold]], prior)
        rows = np.flatnonzero((is_tested & (fold_of_item == fold))[item])
        related = correction.log_odds(expit(held.rest[rows] + base))
        differences = held.scores(related, rows) - held.scores(base, rows)
        gains += np.bincount(item[rows], differences, table.n_items)
    tested = np.flatnonzero(is_tested)
    n = int(n_responses[tested].sum())
    deviations = gains[tested] - gains[tested].mean()
    gain = Gain(float(gains[tested].sum() / n), float(np.sqrt(np.sum(deviations**2)) / n))
    return ClassDependence(gain, correction if gain.z > SIGNIFICANT_Z else None, active)


def fit_correction(evidence: Floats, prior: Floats) -> PriorCorrection:
    """Fit the correction to log likelihood ratios ``[item, class]`` and the ``prior[class]``."""
    sample = evidence[evenly_spaced(len(evidence))]
    base = logit(prior.clip(EPSILON, 1 - EPSILON))
    posteriors = expit(sample + base)
    means = posteriors.mean(axis=0)
    centred = posteriors - means
    components = _principal_components(centred)
    intercepts, weights = base.copy(), np.zeros((len(base), len(base)))
    for k in range(len(base)):
        others = components.copy()
        others[k] = 0.0
        intercepts[k], u = _fit_class(centred @ others, sample[:, k], base[k])
        weights[k] = others @ u
    return PriorCorrection(intercepts - weights @ means, weights)


def _principal_components(centred: Floats) -> Floats:
    """Components ``[class, component]`` of posteriors less their means, of unit variance."""
    values, vectors = np.linalg.eigh(centred.T @ centred / max(len(centred), 1))
    rank = min(MAX_RANK, len(values), int(np.count_nonzero(values > 1e-8)))
    leading = slice(len(values) - rank, None)
    return np.asarray(vectors[:, leading] / np.sqrt(values[leading]))


def _fit_class(features: Floats, evidence: Floats, base: float) -> tuple[float, Floats]:
    """Maximise Σ_n log(1 + σ(η_n)(exp(e_n) − 1)) − ½ Σ_r u_r²; return b and u."""
    design = np.column_stack([np.ones(len(features)), features])
    penalty = np.append(1e-6, np.ones(features.shape[1]))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        eta = design @ parameters
        likelihoods = np.logaddexp(log_expit(eta) + evidence, log_expit(-eta))
        gradient = penalty * parameters - design.T @ (expit(eta + evidence) - expit(eta))
        return float(penalty @ parameters**2 / 2 - likelihoods.sum()), gradient

    start = np.append(base, np.zeros(features.shape[1]))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-12}).x
    return float(found[0]), found[1:]


def content_order(evidence: Floats) -> Codes:
    """An order of the items that depends on their evidence ``[item, class]`` only.

    Sums over classes in any order agree but for rounding, which is cut off.
    """
    key = np.sort(expit(evidence), axis=1).sum(axis=1).round(9)
    return np.lexsort((np.abs(evidence).max(axis=1).round(6), key))
