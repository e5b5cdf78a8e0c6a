"""``OneFactor``: the one-factor model as an estimator that learns from one batch after another."""

from typing import Any, Self

import numpy as np

from blindfuse.errors import BadParameter
from blindfuse.numbers.annotator_fit import AnnotatorFit
from blindfuse.numbers.canonical import canonicalize
from blindfuse.numbers.factor_em import (
    FactorStatistics,
    crowd_scale,
    e_step,
    fit_factor,
    maximize,
    posteriors,
)
from blindfuse.numbers.table import Numbers, check_numbers
from blindfuse.parameters import optional, positive
from blindfuse.responses.coding import positions, union
from blindfuse.typing import Array, Floats


class OneFactor:
    """The model x_im = b_m + a_m z_i + e_im, fitted by EM with shrinkage towards the crowd.

    z_i is the standardised truth of item i; b_m, a_m and the variance s_m² of e are bias, scale and
    noise of annotator m. Priors of b, a and s² are learned from all annotators. Two moments of
    three annotators determine the scales: Cov(x_m, x_l) = a_m a_l, so
    a_m² = Cov(x_m, x_l) Cov(x_m, x_k) / Cov(x_l, x_k). This is the idea of the paper, cross moments
    of conditionally independent annotators, for a continuous truth. EM starts from the mean of
    standardised ratings and uses all moments at once.

    ``partial_fit`` keeps sufficient statistics only, whose size is the number of annotators.

    Attributes
    ----------
    annotators_, bias_, scale_, noise_ ``[annotator]``
        names, b and a in units of the ratings, and the standard deviation s.
    values_ ``[item]``
        estimates of the items of the last batch, on the scale that the annotators share.
    statistics_
        :class:`~blindfuse.numbers.factor_em.FactorStatistics` of all batches.
    batches_
        number of batches learned from.

    Examples
    --------
    >>> from blindfuse import OneFactor, simulate_numbers
    >>> batch = simulate_numbers(1000, 10, seed=1)
    >>> model = OneFactor().fit(batch.numbers)
    >>> round(float(abs(model.scale_ - batch.scale).max()), 1)
    0.1
    """

    statistics_: FactorStatistics
    batches_: int
    values_: Floats
    _fit: AnnotatorFit
    _origin: float
    _unit: float

    def fit(self, numbers: Any) -> Self:
        """Estimate the annotators and the items; forget earlier batches."""
        table = check_numbers(numbers)
        canonical = canonicalize(table)
        self._origin = float(canonical.numbers.values.mean())
        self._unit = float(canonical.numbers.values.std()) or 1.0
        fitted = fit_factor(self._scaled(canonical.numbers)).annotators
        self._fit = fitted.at(np.argsort(canonical.annotators))
        self.statistics_ = e_step(self._scaled(table), self._fit)[2].normalized()
        self.batches_ = 1
        self.values_ = self.predict(table)
        return self

    def partial_fit(self, numbers: Any, *, forget: float | None = None) -> Self:
        """Learn from a batch of new items, in addition to all earlier batches.

        All ratings of an item must be in the same batch; new annotators may appear. With
        ``forget``, a half-life in items, older ratings count half after this many new items.
        """
        optional(positive()).check("forget", forget)
        if not hasattr(self, "batches_"):
            return self.fit(numbers)
        table = check_numbers(numbers)
        working, fit = self._aligned(table)
        factor = 1.0 if forget is None else 0.5 ** (table.n_items / forget)
        earlier = self.statistics_.discounted(factor)
        for _ in range(3):
            statistics = earlier + e_step(working, fit)[2]
            fit = maximize(statistics, fit)
        self.statistics_, self._fit = statistics.normalized(), fit
        self.batches_ += 1
        self.values_ = self.predict(table)
        return self

    def merge(self, other: "OneFactor") -> Self:
        """Add everything that another estimator has learned from other batches."""
        for model in (self, other):
            if not hasattr(model, "batches_"):
                raise BadParameter("An estimator has learned from no batch yet. Call fit first.")
        factor = other._unit / self._unit
        shift = (other._origin - self._origin) / self._unit
        earlier = self.annotators_
        self.statistics_ = self.statistics_ + other.statistics_.rescaled(factor, shift)
        self._fit = self._fit.at(positions(self.annotators_, earlier))
        for _ in range(3):
            self._fit = maximize(self.statistics_, self._fit)
        self.batches_ += other.batches_
        return self

    def predict(self, numbers: Any) -> Floats:
        """Return the estimates ``[item]`` of items; unknown annotators are like the crowd."""
        z, _ = posteriors(*self._aligned(check_numbers(numbers)))
        location, scale = crowd_scale(self._fit, self.statistics_.sums[:, 0])
        return self._origin + self._unit * (location + scale * z)

    @property
    def annotators_(self) -> Array:
        return self.statistics_.annotators

    @property
    def bias_(self) -> Floats:
        return self._origin + self._unit * self._fit.bias

    @property
    def scale_(self) -> Floats:
        return self._unit * self._fit.scale

    @property
    def noise_(self) -> Floats:
        return np.asarray(self._unit * np.sqrt(self._fit.noise))

    def _aligned(self, table: Numbers) -> tuple[Numbers, AnnotatorFit]:
        """Scaled ratings by known and new annotators, and the fit of all of them."""
        names = union(self.annotators_, table.annotators, "annotators")
        places = positions(table.annotators, names)
        aligned = table.rearranged(table.items, np.arange(table.n_items), names, places)
        return self._scaled(aligned), self._fit.at(positions(names, self.annotators_))

    def _scaled(self, table: Numbers) -> Numbers:
        return table.with_values((table.values - self._origin) / self._unit)
