"""Learning from batches: additive statistics are kept, and the model is refitted to their sum."""

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError
from blindfuse.estimators.base import ModelEstimator
from blindfuse.model.checks import check_numbers
from blindfuse.model.model import Model
from blindfuse.model.saving import damaged_file_error, load_arrays, save_arrays
from blindfuse.parameters import optional, positive
from blindfuse.responses.anchor import Alphabet, Anchor, check_alphabet
from blindfuse.responses.coding import as_names, check_classes
from blindfuse.responses.inputs import Names
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.responses.score_scale import ScoreScale
from blindfuse.typing import Array

Arrays = dict[str, Array]


class StreamEstimator(ModelEstimator):
    """A method that can learn from one batch of items after another.

    Attributes
    ----------
    statistics_
        the statistics of all batches: counts, without the names of items.
    batches_
        the number of batches learned from, which is also the number of the next batch.
    """

    statistics_: Any
    batches_: int
    _classes: Array | None
    _solver_state: Arrays

    _statistics_class: ClassVar[Any]
    _solver_state_axes: ClassVar[dict[str, str]] = {}
    """Arrays that the next warm start needs, with their axes: ``m`` annotators, ``r`` symbols and
    ``k`` classes."""

    @abstractmethod
    def _refit(self, statistics: Any, last: Model | None) -> tuple[Model, Arrays]:
        """Fit the statistics, starting at the last model.

        Return the model and the arrays that the next warm start needs.
        """

    def partial_fit(
        self,
        batch: Any,
        *,
        classes: Names | None = None,
        forget: float | None = None,
        number: int | None = None,
    ) -> Self:
        """Learn from a batch of new items, in addition to all earlier batches.

        All responses to an item must be in the same batch. New annotators may appear, and so may
        new classes, unless the first batch came with ``classes``. ``labels_`` and ``posteriors_``
        are those of the batch. If a batch is refused, the estimator does not change.

        Parameters
        ----------
        batch
            Responses, a matrix ``[item, annotator]`` or a frame.
        classes
            all classes that can occur; others are refused from then on.
        forget
            the half-life in items: after this many new items, older responses count half.
        number
            the number of this batch, counted from 0. If given, it must equal ``batches_``, so that
            no batch is lost or repeated.
        """
        self._check_parameters()
        n_batches = getattr(self, "batches_", 0)
        if number is not None and number != n_batches:
            raise BadParameter(
                f"Batch {number} is out of order: {n_batches} were learned from. "
                f"Pass batch {n_batches} next."
            )
        optional(positive()).check("forget", forget)
        fixed = check_classes(classes) if classes is not None else getattr(self, "_classes", None)
        table = _as_batch(batch, fixed)
        statistics = self._statistics_class.from_responses(table, self.threads)
        if n_batches:
            discount = 1.0 if forget is None else 0.5 ** (table.n_items / forget)
            earlier = self.statistics_ if discount == 1.0 else self.statistics_.discounted(discount)
            statistics = earlier + statistics
        self._update(statistics, n_batches + 1, fixed)
        return self._store(self.model_, table)

    def merge(self, other: Self) -> Self:
        """Add everything that another estimator has learned from other batches."""
        self._check_parameters()
        self._check_has_batches()
        other._check_has_batches()
        statistics = self.statistics_ + other.statistics_
        return self._update(statistics, self.batches_ + other.batches_, self._classes)

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write everything learned, without the parameters; an existing file is replaced whole."""
        self._check_has_batches()
        classes, symbols, anchor = self.statistics_.alphabet
        header = {
            "annotators": self.statistics_.annotators.tolist(),
            "classes": classes.tolist(),
            "symbols": symbols.tolist(),
            "anchor": anchor.kind,
            "fixed": self._classes is not None,
            "batches": self.batches_,
            **({} if anchor.scale is None else anchor.scale.header()),
        }
        arrays = {
            **self.statistics_.arrays(),
            **anchor.arrays(),
            "confusions": self.model_.confusions,
            "prior": self.model_.prior,
            **self._solver_state,
        }
        save_arrays(path, self._format(), header, arrays)

    def load_state(self, path: str | os.PathLike[str]) -> Self:
        """Resume from a file that :meth:`save_state` wrote."""
        header, arrays = load_arrays(path, self._format())
        try:
            annotators, alphabet = as_names(header["annotators"]), _saved_alphabet(header, arrays)
            classes, symbols, _ = alphabet
            parameters = arrays.pop("confusions"), arrays.pop("prior")
            scale = alphabet.anchor.scale
            model = Model(*parameters, annotators, classes, None, symbols, scale)
            statistics = self._statistics_class.from_arrays(annotators, alphabet, arrays)
            solver_state = self._check_solver_state(arrays, *model.confusions.shape)
            batches, fixed = int(header["batches"]), classes if header["fixed"] else None
            if batches < 1:
                raise damaged_file_error(path, self._format())
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as reason:
            if isinstance(reason, BlindfuseError):
                raise
            raise damaged_file_error(path, self._format()) from reason
        self.statistics_, self.batches_, self._classes = statistics, batches, fixed
        self.model_, self._solver_state = model, solver_state
        return self

    @classmethod
    def _check_solver_state(
        cls, arrays: Arrays, n_annotators: int, n_symbols: int, n_classes: int
    ) -> Arrays:
        """Return the arrays that the next warm start needs, after checking them."""
        sizes = {"m": n_annotators, "r": n_symbols, "k": n_classes}
        return {
            name: check_numbers(arrays[name], name, tuple(sizes[axis] for axis in axes))
            for name, axes in cls._solver_state_axes.items()
        }

    def _update(self, statistics: Any, batches: int, classes: Array | None) -> Self:
        """Refit the model to these statistics; nothing changes unless that succeeds."""
        last = self.model_ if hasattr(self, "batches_") else None
        model, solver_state = self._refit(statistics, last)
        self.statistics_, self.batches_, self._classes = statistics, batches, classes
        self.model_ = model.with_scale(statistics.alphabet.anchor.scale)
        self._solver_state = solver_state
        return self

    def _check_has_batches(self) -> None:
        if not hasattr(self, "batches_"):
            raise BadParameter(
                f"This {type(self).__name__} has learned from no batch yet. Call partial_fit first."
            )

    @classmethod
    def _format(cls) -> str:
        return f"blindfuse state of {cls.__name__}"


def _saved_alphabet(header: dict[str, Any], arrays: Arrays) -> Alphabet:
    """Return the alphabet of a saved state, and remove its arrays."""
    classes, kind = as_names(header["classes"]), header.get("anchor", "identity")
    matrix, values = arrays.pop("anchor_matrix", None), arrays.pop("anchor_values", None)
    if kind == "identity":
        return Alphabet.plain(classes)
    symbols = as_names(header["symbols"])
    anchor = Anchor(kind, matrix, values, ScoreScale.from_saved(header, arrays))
    arrays.pop("scale_edges", None)
    check_alphabet(Alphabet(classes, symbols, anchor), np.zeros(len(symbols)))
    return Alphabet(classes, symbols, anchor)


def _as_batch(batch: Any, classes: Array | None) -> Responses:
    table = as_responses(batch, classes=classes)
    if classes is not None and table.is_plain:
        table = table.recoded(table.annotators, classes)
    if table.n_responses == 0:
        raise BadLabels(
            "The batch contains no labels. Skip it, or check how missing responses are marked."
        )
    return table
