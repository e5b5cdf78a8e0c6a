"""Learning from batches: what was seen is remembered as counts that add up, and fitted again."""

import os
from abc import abstractmethod
from typing import Any, ClassVar, Protocol, Self

from numpy.typing import NDArray

from blindfuse.coding import as_names, given
from blindfuse.errors import BadLabels, BadParameter
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model import Model
from blindfuse.responses import Names, Responses, as_responses
from blindfuse.saving import damaged, load_arrays, save_arrays

Arrays = dict[str, NDArray[Any]]


class Remembered(Protocol):
    """What is kept of batches: :class:`blindfuse.counted.Counted` or `blindfuse.tally.Tally`."""

    @property
    def annotators(self) -> NDArray[Any]: ...

    @property
    def classes(self) -> NDArray[Any]: ...

    @property
    def n_labels(self) -> float: ...

    def __add__(self, other: Any, /) -> Any: ...

    def scaled(self, factor: float) -> Any: ...

    def arrays(self) -> Arrays: ...


class StreamEstimator(ModelEstimator):
    """A method that learns from one batch of items after another.

    Attributes
    ----------
    remembered_
        what is kept of all batches: counts, no items.
    batches_
        how many batches were learned from, which is the number of the next one.
    """

    remembered_: Any
    batches_: int
    _classes: NDArray[Any] | None

    _memory: ClassVar[Any]

    @abstractmethod
    def _refit(self, remembered: Any, last: Model | None) -> tuple[Model, Arrays]:
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
        remembered = self._memory.of(table, self.threads)
        if learned:
            fade = 1.0 if forget is None else 0.5 ** (table.n_items / forget)
            earlier = self.remembered_ if fade == 1.0 else self.remembered_.scaled(fade)
            remembered = earlier + remembered
        self._learn(remembered, learned + 1, fixed)
        return self._keep(self.model_, table)

    def merge(self, other: Self) -> Self:
        """Learn all that another has learned, from other batches than this one's."""
        self._check_learned()
        other._check_learned()
        remembered = self.remembered_ + other.remembered_
        return self._learn(remembered, self.batches_ + other.batches_, self._classes)

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write all that was learned, but no parameters, to a file: whole or not at all."""
        self._check_learned()
        header = {
            "annotators": self.remembered_.annotators.tolist(),
            "classes": self.remembered_.classes.tolist(),
            "fixed": self._classes is not None,
            "batches": self.batches_,
        }
        arrays = {
            **self.remembered_.arrays(),
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
            remembered = self._memory.from_arrays(*names, arrays)
            kept = remembered.arrays()
            extra = {name: array for name, array in arrays.items() if name not in kept}
            batches, fixed = int(header["batches"]), names[1] if header["fixed"] else None
        except (KeyError, TypeError, AttributeError) as why:
            raise damaged(path, self._format(), why) from why
        self.remembered_, self.batches_, self._classes = remembered, batches, fixed
        self.model_, self._extra = model, extra
        return self

    def _learn(self, remembered: Any, batches: int, classes: NDArray[Any] | None) -> Self:
        """Fit all that is remembered; nothing changes unless that succeeds."""
        last = self.model_ if hasattr(self, "batches_") else None
        model, extra = self._refit(remembered, last)
        self.remembered_, self.batches_, self._classes = remembered, batches, classes
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
    if table.n_labels == 0:
        raise BadLabels("The batch holds no label: there is nothing to learn from it.")
    return table
