"""Dawid–Skene with latent subtypes: several groups of items per class, as in EBCC."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from blindfuse.estimators.base import Estimator, Iterations, NonNegative, Threads
from blindfuse.estimators.em import EMParameters, make_e_step, plain_parameters, run_em
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    compute_posteriors,
    count_posteriors,
    vote_posteriors,
    weighted_votes,
)
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT, column_sums
from blindfuse.parameters import integer_at_least
from blindfuse.responses.canonical import group_identical_items
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats


@dataclass(kw_only=True, eq=False, repr=False)
class LatentSubtypes(Estimator):
    """Dawid–Skene with several latent subtypes of items per class, such as clear and ambiguous.

    Dawid–Skene takes annotators as conditionally independent given the class. Where some items are
    harder than others, errors are correlated, and EM takes the ambiguous items of one class for
    another class. Here annotators are independent given the subtype:
    P(responses) = Σ_l π_l Π_m Γ_m(f_m, l) over K · ``subtypes`` subtypes l. A subtype belongs to
    the class that is reported most often for it. EM starts from the majority vote, with the items
    of each class divided into subtypes of equal size by the winner's vote share.

    Latent subtypes per class model correlated annotators as in enhanced Bayesian classifier
    combination (EBCC): Li, Rubinstein and Cohn (2019), "Exploiting Worker Correlation for Label
    Aggregation in Crowdsourcing". EBCC is fitted by variational Bayes; this method by EM with
    pseudo-counts.

    Parameters
    ----------
    subtypes
        number of subtypes per class.
    shrinkage
        pseudo-counts with which each column is shrunk towards the mean of all annotators.
    max_iter, tolerance
        maximum number of iterations, and the rise of the log-likelihood per response at which EM
        stops.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    subtype_confusions_ ``[annotator, reported, subtype]``, subtype_prior_ ``[subtype]``
        Γ and π.
    class_of_subtype_ ``[subtype]``
        the code of the class that each subtype belongs to.
    model_
        a :class:`Model` in which the subtypes of each class are averaged with their prior.
    log_likelihoods_ ``[iteration]``, stopped_
        log-likelihood before each M-step, and ``"converged"`` or ``"max_iter"``.
    """

    subtypes: Annotated[int, integer_at_least(1)] = 2
    shrinkage: NonNegative = DEFAULT_PSEUDO_COUNT
    max_iter: Iterations = 1000
    tolerance: NonNegative = 1e-6
    threads: Threads = None

    def _fit(self, table: Responses) -> None:
        start = _initial_posteriors(table, self.subtypes, self.threads)
        distinct, pattern_of = group_identical_items(table)
        result = run_em(
            make_e_step(distinct, self.threads, sizes=np.bincount(pattern_of).astype(float)),
            self._m_step,
            count_posteriors(table, start, self.threads),
            table.n_responses,
            self.max_iter,
            self.tolerance,
        )
        self.log_likelihoods_, self.stopped_ = result.log_likelihoods, result.stopped
        self.subtype_confusions_, self.subtype_prior_, *_ = result.parameters
        pooled = np.tensordot(table.responses_per_annotator, self.subtype_confusions_, axes=1)
        self.class_of_subtype_ = pooled.argmax(axis=0)
        if not table.is_plain:
            self.class_of_subtype_ = self._anchored_classes(table, start)
        self._remember_names(table)
        self.model_ = self._average_subtypes()
        self._store_posteriors(self._posteriors(distinct)[pattern_of])

    def _m_step(self, expected: ExpectedCounts) -> EMParameters:
        """Γ_m(a, l) ∝ expected counts plus pseudo-counts in proportion to the pooled counts."""
        R = expected.counts.shape[1]
        pooled = np.einsum("mal->al", expected.counts) + 1 / R
        counts = expected.counts + max(self.shrinkage, 1e-9) * pooled / pooled.sum(axis=0)
        counts /= column_sums(counts)[:, None]  # in place: a third of the time
        return plain_parameters(counts, expected.totals / expected.totals.sum())

    def _anchored_classes(self, table: Responses, start: Floats) -> Codes:
        """The class of each subtype: that of most of its items by the anchor's votes."""
        model = self.subtype_confusions_, self.subtype_prior_
        posteriors, _ = compute_posteriors(table, *model, self.threads)
        by_class = start.reshape(table.n_items, table.n_classes, -1).sum(axis=2)
        return np.asarray((posteriors.T @ by_class).argmax(axis=1))

    def subtype_posteriors(self, responses: Responses) -> Floats:
        """Return posteriors ``[item, subtype]`` of items, from annotators that ``fit`` has seen."""
        recoded = responses.recoded(self.annotators_, self.classes_, self.symbols_)
        return compute_posteriors(
            recoded, self.subtype_confusions_, self.subtype_prior_, self.threads
        )[0]

    def _posteriors(self, responses: Responses) -> Floats:
        one_hot = np.eye(len(self.classes_))[self.class_of_subtype_]
        return np.asarray(self.subtype_posteriors(responses) @ one_hot)

    def _average_subtypes(self) -> Model:
        """Return the model of the classes; a class without subtypes keeps its initial ones."""
        K = len(self.classes_)
        prior_of_class = self.subtype_prior_[:, None] * np.eye(K)[self.class_of_subtype_]
        initial = np.repeat(np.eye(K), self.subtypes, axis=0)
        weights = np.where(prior_of_class.sum(axis=0) > 0, prior_of_class, initial)
        weights /= weights.sum(axis=0)
        prior = prior_of_class.sum(axis=0)
        confusions = self.subtype_confusions_ @ weights
        names = self.annotators_, self.classes_, None, self.symbols_
        return Model(confusions, prior / prior.sum(), *names)


def _initial_posteriors(responses: Responses, subtypes: int, threads: int | None) -> Floats:
    """Return posteriors ``[item, subtype]``: the majority vote, divided by the winner's share."""
    N, K = responses.n_items, responses.n_classes
    by_class = vote_posteriors(responses, threads)
    votes = weighted_votes(responses)
    winner_share = votes.max(axis=1) / np.maximum(votes.sum(axis=1), 1.0)
    subtype = np.zeros((N, K), dtype=np.intp)
    for k in range(K):
        items = np.flatnonzero(by_class[:, k] > 0)
        _, rank, ties = np.unique(-winner_share[items], return_inverse=True, return_counts=True)
        middles = (np.cumsum(ties) - ties / 2) / max(len(items), 1)
        subtype[items, k] = np.minimum(middles[rank] * subtypes, subtypes - 1)
    posteriors = np.zeros((N, K, subtypes))
    np.put_along_axis(posteriors, subtype[:, :, None], by_class[:, :, None], axis=2)
    return posteriors.reshape(N, K * subtypes)
