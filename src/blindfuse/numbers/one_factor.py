"""``OneFactor``: the one-factor model as an estimator that learns from one batch after another."""

from typing import Any, Self

import numpy as np

from blindfuse.numbers.factor_model import (
    AnnotatorFit,
    crowd_scale,
    fit_factor,
    item_sums,
    m_step,
    posteriors,
    rating_sums,
    standardize,
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

    annotators_: Array
    batches_: int
    values_: Floats
    _fit: AnnotatorFit
    _sums: Floats  # of z with mean 0 and variance 1 over _n_items
    _n_items: float
    _origin: float
    _unit: float

    def fit(self, numbers: Any) -> Self:
        """Estimate the annotators and the items; forget earlier batches."""
        table = check_numbers(numbers)
        self._origin = float(table.values.mean())
        self._unit = float(table.values.std()) or 1.0
        self.annotators_, self.batches_ = table.annotators, 0
        working = self._scaled(table)
        self._fit, z, v = fit_factor(working)
        return self._learn(table, rating_sums(working, z, v), item_sums(z, v))

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
        earlier = np.zeros((working.n_annotators, 6))
        earlier[: len(self.annotators_)] = factor * self._sums
        earlier_items = factor * self._n_items * np.array([1.0, 0.0, 1.0])
        for _ in range(3):
            z, v = posteriors(working, fit)
            sums = earlier + rating_sums(working, z, v)
            of_items = earlier_items + item_sums(z, v)
            fit = m_step(standardize(sums, of_items), fit)
        self.annotators_, self._fit = working.annotators, fit
        return self._learn(table, sums, of_items)

    def _learn(self, table: Numbers, sums: Floats, of_items: Floats) -> Self:
        """Keep the statistics of all batches, and estimate the items of the last one."""
        self._sums, self._n_items = standardize(sums, of_items), float(of_items[0])
        self.batches_ += 1
        self.values_ = self.predict(table)
        return self

    def predict(self, numbers: Any) -> Floats:
        """Return the estimates ``[item]`` of items; unknown annotators are like the crowd."""
        z, _ = posteriors(*self._aligned(check_numbers(numbers)))
        location, scale = crowd_scale(self._fit, self._sums[:, 0])
        return self._origin + self._unit * (location + scale * z)

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
        """Scaled ratings by known annotators, followed by new ones, and the fit of all of them."""
        names = union(self.annotators_, table.annotators, "annotators")
        places = positions(table.annotators, names)
        aligned = table.rearranged(table.items, np.arange(table.n_items), names, places)
        return self._scaled(aligned), self._fit.at(positions(names, self.annotators_))

    def _scaled(self, table: Numbers) -> Numbers:
        return table.with_values((table.values - self._origin) / self._unit)
