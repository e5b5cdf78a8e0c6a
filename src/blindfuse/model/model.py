"""Model: confusion matrices and class prior of conditionally independent annotators."""

import os
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from blindfuse.errors import BadModel, BadParameter, list_names
from blindfuse.model.arrays import check_numbers, damaged_file_error, load_arrays, save_arrays
from blindfuse.model.posteriors import (
    ExpectedCounts,
    compute_posteriors,
    expected_counts,
    most_likely,
    safe_log,
)
from blindfuse.responses.alphabet import ScoreScale
from blindfuse.responses.coding import as_column, as_names, positions
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Array, Codes, Floats

Rule = Literal["map", "ml"]

FORMAT = "blindfuse model"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Confusion matrices and class prior, with the names of annotators and classes.

    Its posteriors are those of conditionally independent annotators; :class:`FusedModel` extends it
    by votes, and is what a :class:`Fusion` saves.

    Attributes
    ----------
    confusions ``[annotator, reported, true]``
        Γ_m(k', k) = P(annotator m reports k' | the class is k), (8); columns sum to one. With R
        symbols and K classes, Γ_m is R × K.
    prior ``[true]``
        π_k = P(the class is k).
    annotators, classes
        names, in the order of the axes.
    weights ``[annotator]``
        exponent of the probability of each annotator's responses: below one for annotators whose
        errors are correlated with those of others. None means one for all annotators.
    symbols
        names of what annotators report; the classes if not given.
    scale
        where levels of scores begin, for new scores: ``Responses.from_scores(…,
        levels=model.scale)``. None if symbols are not levels of scores.
    """

    confusions: Floats
    prior: Floats
    annotators: Array
    classes: Array
    weights: Floats | None = None
    symbols: Array = None  # type: ignore[assignment]  # the classes, after construction
    scale: ScoreScale | None = None

    def __post_init__(self) -> None:
        for name in ("annotators", "classes"):
            object.__setattr__(self, name, as_column(getattr(self, name)))
        symbols = self.classes if self.symbols is None else as_column(self.symbols)
        is_plain = np.array_equal(positions(symbols, self.classes), np.arange(len(self.classes)))
        object.__setattr__(self, "symbols", self.classes if is_plain else symbols)
        M, R, K = len(self.annotators), len(self.symbols), len(self.classes)
        _check_probabilities(self.confusions, (M, R, K), axis=1, name="confusions")
        _check_probabilities(self.prior, (K,), axis=0, name="prior")
        if self.weights is not None:
            check_numbers(self.weights, "weights", (M,), minimum=0)
        if self.scale is not None and self.scale.n_levels != R:
            raise BadModel(
                f"The scale has {self.scale.n_levels:,} levels, but there are {R:,} symbols."
            )
        if not self.is_shared:  # kernels are compiled for contiguous arrays
            object.__setattr__(self, "confusions", np.ascontiguousarray(self.confusions))
        object.__setattr__(self, "prior", np.ascontiguousarray(self.prior))

    @property
    def is_shared(self) -> bool:
        """Whether ``confusions`` is a view of one matrix, which all annotators share."""
        return len(self.confusions) > 1 and self.confusions.strides[0] == 0

    @property
    def is_plain(self) -> bool:
        """Whether annotators report classes, so that confusion matrices have a diagonal."""
        return self.symbols is self.classes

    @property
    def weighted_confusions(self) -> Floats:
        """Γ_m(k', k) to the power of the annotator's weight, ``[annotator, reported, true]``."""
        if self.weights is None:
            return self.confusions
        return weigh_confusions(self.confusions, self.weights)

    def posteriors(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> Floats:
        """Return the posteriors ``[item, class]`` of these items, (20) and (26).

        The items need not be those the model was fitted to; their annotators must be known to the
        model. ``rule="ml"`` replaces the prior by equal class probabilities. The posterior of an
        item without responses is the prior under both rules.
        """
        if rule not in get_args(Rule):
            raise BadParameter(f"rule={rule!r} is none of {list_names(get_args(Rule))}.")
        known = responses.recoded(self.annotators, self.classes, self.symbols)
        prior = self.prior if rule == "map" else np.full_like(self.prior, 1 / len(self.prior))
        if self.is_shared:
            starts, _, symbols = known.by_item
            shape = known.n_items, known.n_symbols
            reported = csr_array((np.ones(len(symbols)), symbols, starts), shape=shape)
            logs = reported @ safe_log(self.confusions[0]) + safe_log(prior)
            posteriors: Floats = softmax(logs, axis=1)
        else:
            posteriors, _ = compute_posteriors(known, self.weighted_confusions, prior, threads)
        posteriors[known.responses_per_item == 0] = self.prior
        return posteriors

    def labels(self, responses: Responses, rule: Rule = "map", threads: int | None = None) -> Array:
        """Return the name of the most probable class of each item; ties go to the first class."""
        return self.name_labels(self.posteriors(responses, rule, threads))

    def name_labels(self, posteriors: Floats) -> Array:
        """Return the names of the most probable classes under these posteriors."""
        return np.asarray(self.classes[most_likely(posteriors)])

    def expected_counts(self, responses: Responses, threads: int | None = None) -> ExpectedCounts:
        """Return the MAP posteriors of these items, summed over items without storing them."""
        known = responses.recoded(self.annotators, self.classes, self.symbols)
        return expected_counts(known, self.weighted_confusions, self.prior, threads)

    def log_likelihood(self, responses: Responses, threads: int | None = None) -> float:
        """Return Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k), the sum over all items n."""
        return self.expected_counts(responses, threads).log_likelihood

    @property
    def accuracies(self) -> Floats:
        """The accuracy of each annotator, Σ_k π_k Γ_m(k, k), ``[annotator]``.

        Where symbols are not classes, it is that of the best use of the annotator's own symbols:
        Σ_r max_k π_k Γ_m(r, k).
        """
        if not self.is_plain:
            return np.asarray((self.confusions * self.prior).max(axis=2).sum(axis=1))
        return np.asarray(np.einsum("mkk,k->m", self.confusions, self.prior))

    @property
    def roc_areas(self) -> Floats:
        """Area under the ROC curve of each annotator alone, for two classes, ``[annotator]``.

        The probability that an item of the second class gets a symbol that speaks more for it, by
        the likelihood ratio Γ_m(r, 1) / Γ_m(r, 0), than an item of the first; ties count half.
        """
        if len(self.classes) != 2:
            raise BadParameter(
                f"The area under the ROC curve needs two classes, not {len(self.classes)}. "
                "Use accuracies."
            )
        return np.array([_roc_area(*confusion.T) for confusion in self.confusions])

    def for_annotators(
        self,
        annotators: Array,
        classes: Array,
        symbols: Array | None = None,
    ) -> "Model":
        """Return this model for these annotators, classes and symbols, in this order.

        An annotator that is new to the model gets the mean confusion matrix of all annotators.
        """
        order = positions(classes, self.classes)
        annotator_at = positions(annotators, self.annotators)
        if len(classes) != len(self.classes) or np.any(order < 0):
            raise BadModel(
                f"The model has the classes {list_names(self.classes)}, the responses have "
                f"{list_names(classes)}. They must be the same: pass the same classes= to both."
            )
        symbols = classes if symbols is None else symbols
        rows = positions(symbols, self.symbols)
        if len(symbols) != len(self.symbols) or np.any(rows < 0):
            raise BadModel(
                f"The model has the symbols {list_names(self.symbols)}, the responses have "
                f"{list_names(symbols)}. They must be the same: create both in the same way."
            )
        if self.is_shared:
            shared = self.confusions[0][rows][:, order]
            confusions = np.broadcast_to(shared, (len(annotators), *shared.shape))
        else:
            confusions = self.confusions[annotator_at]
            confusions[annotator_at < 0] = self.confusions.mean(axis=0)
            confusions = confusions[:, rows][:, :, order]
        weights = self.weights
        if weights is not None:
            weights = np.where(annotator_at < 0, 1.0, weights[annotator_at])
        prior = self.prior[order]
        return Model(confusions, prior, annotators, classes, weights, symbols, self.scale)

    def with_scale(self, scale: ScoreScale | None) -> "Model":
        """Return this model of scores that were divided into levels by ``scale``."""
        return self if scale is None else replace(self, scale=scale)

    def with_text_names(self) -> "Model":
        """Return this model with text for names, as names that are read from files are."""
        scale = self.scale
        if scale is not None and scale.annotators is not None:
            scale = replace(scale, annotators=scale.annotators.astype(str).astype(object))
        names = {
            name: getattr(self, name).astype(str).astype(object)
            for name in ("annotators", "classes", "symbols")
        }
        return replace(self, **names, scale=scale)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to an ``.npz`` file without pickle; the file is replaced atomically."""
        save_arrays(path, FORMAT, *self._saved())

    def _saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and the arrays of the file."""
        names = {"annotators": self.annotators.tolist(), "classes": self.classes.tolist()}
        if not self.is_plain:
            names["symbols"] = self.symbols.tolist()
        weights = np.ones(len(self.annotators)) if self.weights is None else self.weights
        confusions = self.confusions[:1] if self.is_shared else self.confusions
        arrays = {"confusions": confusions, "prior": self.prior, "weights": weights}
        if self.scale is not None:
            names |= self.scale.header()
            arrays |= self.scale.arrays()
        return names, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read a file that :meth:`save` wrote; raise :class:`BadModel` for any other file."""
        header, arrays = load_arrays(path, FORMAT)
        try:
            weights, confusions = arrays["weights"], arrays["confusions"]
            if len(confusions) == 1:
                confusions = np.broadcast_to(confusions, (len(weights), *confusions.shape[1:]))
            model = Model(
                confusions=confusions,
                prior=arrays["prior"],
                annotators=as_names(header["annotators"]),
                classes=as_names(header["classes"]),
                symbols=as_names(header.get("symbols", header["classes"])),
                weights=None if np.all(weights == 1) else weights,
                scale=ScoreScale.from_saved(header, arrays),
            )
            if "dependence" not in header:
                return model
            from blindfuse.model.fused_model import FusedModel  # a FusedModel is a Model

            return FusedModel.from_saved(model, header, arrays)
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged_file_error(path, FORMAT) from error

    def __repr__(self) -> str:
        prior = ", ".join(
            f"{name} {share:.3g}" for name, share in zip(self.classes[:5], self.prior, strict=False)
        )
        more = ", …" if len(self.classes) > 5 else ""
        accuracies = self.accuracies
        symbols = "" if self.is_plain else f"{len(self.symbols):,} symbols, "
        return (
            f"Model: {len(self.annotators):,} annotators, {symbols}{len(self.classes):,} classes "
            f"({prior}{more}); accuracies {accuracies.min():.3g} to {accuracies.max():.3g}"
        )


def decided_classes(model: Model) -> Codes:
    """Return the class argmax_k π_k Γ_m(r, k) that each symbol speaks for, ``[annotator, symbol]``.

    With a single annotator, this is the MAP rule (20).
    """
    return np.asarray((model.confusions * model.prior).argmax(axis=2))


def decide(responses: Responses, model: Model) -> tuple[Responses, Model]:
    """Return the responses and the model in classes, as if annotators had reported decisions.

    The accuracies of the returned model are those of the given one. Both must have the same
    annotators and symbols, in the same order.
    """
    decided = decided_classes(model)
    starts, annotators, symbols = responses.by_item
    rows = Rows(starts, annotators, decided[annotators, symbols])
    one_hot = np.eye(len(model.classes))[decided]
    confusions = np.einsum("mrc,mrk->mck", one_hot, model.confusions)
    annotators, classes = responses.annotators, responses.classes
    table = Responses(responses.items, annotators, rows, classes=classes)
    return table, Model(confusions, model.prior, annotators, classes)


def weigh_confusions(confusions: Floats, weights: Floats) -> Floats:
    """Γ_m(k', k) to the power of ``weights[annotator]``; most weights are usually one."""
    weighted, changed = confusions.copy(), np.flatnonzero(weights != 1)
    weighted[changed] **= weights[changed, None, None]
    return weighted


def _roc_area(negative: Floats, positive: Floats) -> float:
    """Area under the ROC curve of symbols with these probabilities ``[symbol]`` per class."""
    both = negative + positive
    score = np.round(np.divide(positive, both, out=np.zeros_like(both), where=both > 0), 12)
    order = np.argsort(score, kind="stable")
    _, group = np.unique(score[order], return_inverse=True)
    low, high = np.bincount(group, negative[order]), np.bincount(group, positive[order])
    return float(high @ (np.cumsum(low) - low / 2))


def _check_probabilities(array: Floats, shape: tuple[int, ...], axis: int, name: str) -> None:
    """Raise BadModel unless the array has this shape and sums to one over this axis."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
        found = (
            f"{array.dtype} {array.shape}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise BadModel(f"{name} must be float64 of shape {shape}, not {found}.")
    if array.ndim == 3 and array.strides[0] == 0:  # one matrix, which all annotators share
        array = array[:1]
    sums = np.einsum("mrk->mk", array) if array.ndim == 3 else array.sum(axis=axis)
    if not array.min(initial=0) >= 0 or not np.all(np.abs(sums - 1) <= 1e-5):
        raise BadModel(f"{name} must be probabilities: nonnegative, with sum one over axis {axis}.")
