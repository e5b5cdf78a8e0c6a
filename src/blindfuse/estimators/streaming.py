"""Learning from batches: what was seen is remembered as counts that add up, and fitted again."""

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from blindfuse.errors import BadLabels, BadParameter
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.model import Model
from blindfuse.model.saving import damaged, load_arrays, save_arrays
from blindfuse.responses.coding import as_names, given
from blindfuse.responses.responses import Names, Responses, as_responses

Arrays = dict[str, NDArray[Any]]


class StreamEstimator(ModelEstimator):
    """A method that learns from one batch of items after another.

    Attributes
    ----------
    statistics_
        what is kept of all batches: counts, no items.
    batches_
        how many batches were learned from, which is the number of the next one.
    """

    statistics_: Any
    batches_: int
    _classes: NDArray[Any] | None

    _memory: ClassVar[Any]

    @abstractmethod
    def _refit(self, statistics: Any, last: Model | None) -> tuple[Model, Arrays]:
        """The model of all that is remembered, starting at the last one; and what else to keep."""

    def partial_fit(
        self,
        batch: Any,
        *,
        classes: Names | None = None,
        forget: float | None = None,
        number: int | None = None,
    ) -> Self:
        """Learn from a batch of new items, after all that came before.

        An item's answers belong into one batch. New annotators may appear, and new classes, unless
        the first batch came with ``classes``. ``labels_`` and ``posteriors_`` are the batch's. If a
        batch is refused, everything stays as it was before it.

        Parameters
        ----------
        batch
            Responses, a matrix ``[item, annotator]`` or a frame.
        classes
            all classes there will ever be; others are refused from then on.
        forget
            the half-life in items: after so many new ones, older answers count half.
        number
            of this batch, from 0. If given it must be ``batches_``: none is lost, none comes twice.
        """
        learned = getattr(self, "batches_", 0)
        if number is not None and number != learned:
            raise BadParameter(
                f"Batch {number} is out of order: {learned} were learned from, so batch {learned} "
                "is next."
            )
        if forget is not None and not forget > 0:
            raise BadParameter(f"forget={forget!r} must be a positive number of items.")
        fixed = given(classes) if classes is not None else getattr(self, "_classes", None)
        table = _as_batch(batch, fixed)
        statistics = self._memory.of(table, self.threads)
        if learned:
            fade = 1.0 if forget is None else 0.5 ** (table.n_items / forget)
            earlier = self.statistics_ if fade == 1.0 else self.statistics_.scaled(fade)
            statistics = earlier + statistics
        self._learn(statistics, learned + 1, fixed)
        return self._keep(self.model_, table)

    def merge(self, other: Self) -> Self:
        """Learn all that another has learned, from other batches than this one's."""
        self._check_learned()
        other._check_learned()
        statistics = self.statistics_ + other.statistics_
        return self._learn(statistics, self.batches_ + other.batches_, self._classes)

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write all that was learned, but no parameters, to a file: whole or not at all."""
        self._check_learned()
        header = {
            "annotators": self.statistics_.annotators.tolist(),
            "classes": self.statistics_.classes.tolist(),
            "fixed": self._classes is not None,
            "batches": self.batches_,
        }
        arrays = {
            **self.statistics_.arrays(),
            "confusions": self.model_.confusions,
            "prior": self.model_.prior,
            **self._extra,
        }
        save_arrays(path, self._format(), header, arrays)

    def load_state(self, path: str | os.PathLike[str]) -> Self:
        """Go on from what :meth:`save_state` wrote."""
        header, arrays = load_arrays(path, self._format())
        try:
            names = as_names(header["annotators"]), as_names(header["classes"])
            model = Model(arrays.pop("confusions"), arrays.pop("prior"), *names)
            statistics = self._memory.from_arrays(*names, arrays)
            kept = statistics.arrays()
            extra = {name: array for name, array in arrays.items() if name not in kept}
            batches, fixed = int(header["batches"]), names[1] if header["fixed"] else None
        except (KeyError, TypeError, AttributeError) as why:
            raise damaged(path, self._format(), why) from why
        self.statistics_, self.batches_, self._classes = statistics, batches, fixed
        self.model_, self._extra = model, extra
        return self

    def _learn(self, statistics: Any, batches: int, classes: NDArray[Any] | None) -> Self:
        """Fit all that is remembered; nothing changes unless that succeeds."""
        last = self.model_ if hasattr(self, "batches_") else None
        model, extra = self._refit(statistics, last)
        self.statistics_, self.batches_, self._classes = statistics, batches, classes
        self.model_, self._extra = model, extra
        return self

    def _check_learned(self) -> None:
        if not hasattr(self, "batches_"):
            raise BadParameter(
                f"This {type(self).__name__} has learned from no batch yet. Call partial_fit first."
            )

    @classmethod
    def _format(cls) -> str:
        return f"blindfuse state of {cls.__name__}"


def _as_batch(batch: Any, classes: NDArray[Any] | None) -> Responses:
    table = as_responses(batch, classes=classes)
    if classes is not None:
        table = table.recoded(table.annotators, classes)
    if table.n_responses == 0:
        raise BadLabels("The batch holds no label: there is nothing to learn from it.")
    return table
