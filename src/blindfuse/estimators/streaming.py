"""Learning from batches: additive statistics are kept, and the model is refitted to their sum."""

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError
from blindfuse.estimators.base import ModelEstimator, require_two_classes
from blindfuse.model.arrays import damaged_file_error, load_arrays, save_arrays
from blindfuse.model.model import Model
from blindfuse.parameters import optional, positive
from blindfuse.responses.alphabet import Alphabet, Anchor, ScoreScale, check_alphabet
from blindfuse.responses.coding import as_names, check_classes
from blindfuse.responses.inputs import Names
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.typing import Array


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

    _statistics_class: ClassVar[Any]

    @abstractmethod
    def _refit(self, statistics: Any) -> Model:
        """Fit the statistics of all batches; the model depends on nothing else."""

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
        self._store(self.model_, table)
        self._warn_unless_converged()
        return self

    def merge(self, other: Self) -> Self:
        """Add everything that another estimator has learned from other batches."""
        if other is self or not isinstance(other, type(self)):
            raise BadParameter(
                f"Pass another {type(self).__name__}, which learned from other batches. Merged "
                "with itself, an estimator would count its batches twice."
            )
        self._check_parameters()
        self._check_has_batches()
        other._check_has_batches()
        statistics = self.statistics_ + other.statistics_
        self._update(statistics, self.batches_ + other.batches_, self._classes)
        self._warn_unless_converged()
        return self

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
        model = {"confusions": self.model_.confusions, "prior": self.model_.prior}
        arrays = {**self.statistics_.arrays(), **anchor.arrays(), **model}
        save_arrays(path, self._format(), header, arrays)

    def load_state(self, path: str | os.PathLike[str]) -> Self:
        """Resume from a file that :meth:`save_state` wrote."""
        header, arrays = load_arrays(path, self._format())
        try:
            annotators, alphabet = as_names(header["annotators"]), _saved_alphabet(header, arrays)
            classes, symbols, anchor = alphabet
            parameters = arrays["confusions"], arrays["prior"]
            model = Model(*parameters, annotators, classes, None, symbols, anchor.scale)
            statistics = self._statistics_class.from_arrays(annotators, alphabet, arrays)
            batches, fixed = int(header["batches"]), classes if header["fixed"] else None
            if batches < 1:
                raise damaged_file_error(path, self._format())
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as reason:
            if isinstance(reason, BlindfuseError):
                raise
            raise damaged_file_error(path, self._format()) from reason
        self.statistics_, self.batches_, self._classes = statistics, batches, fixed
        self._set_model(model)
        return self

    def _update(self, statistics: Any, batches: int, classes: Array | None) -> None:
        """Refit the model to these statistics; nothing changes unless that succeeds."""
        require_two_classes(statistics.alphabet.classes)
        model = self._refit(statistics)
        self.statistics_, self.batches_, self._classes = statistics, batches, classes
        self._set_model(model.with_scale(statistics.alphabet.anchor.scale))

    def _check_has_batches(self) -> None:
        if not hasattr(self, "batches_"):
            raise BadParameter(
                f"This {type(self).__name__} has learned from no batch yet. Call partial_fit first."
            )

    @classmethod
    def _format(cls) -> str:
        return f"blindfuse state of {cls.__name__}"


def _saved_alphabet(header: dict[str, Any], arrays: dict[str, Array]) -> Alphabet:
    """Return the alphabet of a saved state."""
    classes, kind = as_names(header["classes"]), header.get("anchor", "identity")
    if kind == "identity":
        return Alphabet.plain(classes)
    symbols, scale = as_names(header["symbols"]), ScoreScale.from_saved(header, arrays)
    anchor = Anchor(kind, arrays.get("anchor_matrix"), arrays.get("anchor_values"), scale)
    check_alphabet(Alphabet(classes, symbols, anchor))
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
