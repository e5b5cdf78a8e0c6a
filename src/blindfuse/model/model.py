"""Model: what was learned about annotators and classes, and all that prediction needs."""

import os
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadModel, BadParameter, naming
from blindfuse.model.posteriors import (
    ExpectedCounts,
    compute_posteriors,
    expected_counts,
    most_likely,
)
from blindfuse.model.saving import damaged, load_arrays, save_arrays
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Rule = Literal["map", "ml"]

FORMAT = "blindfuse model"


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Confusion matrices and class prior, with the names that they belong to.

    Attributes
    ----------
    confusions ``[annotator, reported, true]``
        Γ_m(k', k) = P(annotator m reports k' | the class is k), (8); columns sum to one.
    prior ``[true]``
        π, the share of each class.
    annotators, classes
        names, in the order of the axes.
    weights ``[annotator]``
        how much an answer counts, the power that its probability is raised to: below one for
        annotators who repeat others. None is one for all.
    """

    confusions: Floats
    prior: Floats
    annotators: NDArray[Any]
    classes: NDArray[Any]
    weights: Floats | None = None

    def __post_init__(self) -> None:
        M, K = len(self.annotators), len(self.classes)
        _check_probabilities(self.confusions, (M, K, K), axis=1, name="confusions")
        _check_probabilities(self.prior, (K,), axis=0, name="prior")
        if self.weights is not None and (
            self.weights.shape != (M,) or not np.all(self.weights >= 0)
        ):
            raise BadModel(f"weights must be {M} numbers that are not negative.")

    @property
    def evidence(self) -> Floats:
        """What an answer of each annotator is worth, Γ_m(a, k) to the power of its weight."""
        if self.weights is None:
            return self.confusions
        return np.asarray(self.confusions ** self.weights[:, None, None])

    def posteriors(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> Floats:
        """Posteriors ``[item, class]`` of new or old items of these annotators, by (20) and (26).

        ``rule="ml"`` takes all classes as equally likely beforehand. An item without answers has
        the prior as its posterior, whatever the rule.
        """
        if rule not in get_args(Rule):
            raise BadParameter(f"rule={rule!r} is none of {naming(get_args(Rule))}.")
        known = responses.recoded(self.annotators, self.classes)
        prior = self.prior if rule == "map" else np.full_like(self.prior, 1 / len(self.prior))
        found, _ = compute_posteriors(known, self.evidence, prior, threads)
        found[known.responses_per_item == 0] = self.prior
        return found

    def labels(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> NDArray[Any]:
        """The most probable class of each item, by name; of equals, the first in order."""
        return self.name_labels(self.posteriors(responses, rule, threads))

    def name_labels(self, posteriors: Floats) -> NDArray[Any]:
        """The names of the most probable classes."""
        return np.asarray(self.classes[most_likely(posteriors)])

    def sums(self, responses: Responses, threads: int | None = None) -> ExpectedCounts:
        """The posteriors (by MAP) of these items added up, without storing them."""
        known = responses.recoded(self.annotators, self.classes)
        return expected_counts(known, self.evidence, self.prior, threads)

    def log_likelihood(self, responses: Responses, threads: int | None = None) -> float:
        """Σ_n log Σ_k π_k Π_m Γ_m(f_m(n), k) over all items."""
        return self.sums(responses, threads).likelihood

    @property
    def accuracies(self) -> Floats:
        """How often each annotator is right, Σ_k π_k Γ_m(k, k), ``[annotator]``."""
        return np.asarray(np.einsum("mkk,k->m", self.confusions, self.prior))

    def for_annotators(self, annotators: NDArray[Any], classes: NDArray[Any]) -> "Model":
        """This model for these annotators and classes; an unknown one gets the mean matrix."""
        order, annotator_at = (
            positions(classes, self.classes),
            positions(annotators, self.annotators),
        )
        if len(classes) != len(self.classes) or np.any(order < 0):
            raise BadModel(
                f"The model has the classes {naming(self.classes)}, the answers have "
                f"{naming(classes)}. They must be the same: pass classes= to both."
            )
        confusions = self.confusions[annotator_at]
        confusions[annotator_at < 0] = self.confusions.mean(axis=0)
        confusions = confusions[:, order][:, :, order]
        weights = self.weights
        if weights is not None:
            weights = np.where(annotator_at < 0, 1.0, weights[annotator_at])
        return Model(confusions, self.prior[order], annotators, classes, weights)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file without pickle, beside and then renamed: whole or not at all."""
        names = {"annotators": self.annotators.tolist(), "classes": self.classes.tolist()}
        weights = np.ones(len(self.annotators)) if self.weights is None else self.weights
        arrays = {"confusions": self.confusions, "prior": self.prior, "weights": weights}
        save_arrays(path, FORMAT, names, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read what :meth:`save` wrote; anything else is refused."""
        header, arrays = load_arrays(path, FORMAT)
        try:
            weights = arrays["weights"]
            return cls(
                confusions=arrays["confusions"],
                prior=arrays["prior"],
                annotators=as_names(header["annotators"]),
                classes=as_names(header["classes"]),
                weights=None if np.all(weights == 1) else weights,
            )
        except (KeyError, TypeError, AttributeError) as why:
            raise damaged(path, FORMAT, why) from why

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{name} {share:.3g}" for name, share in zip(self.classes[:5], self.prior, strict=False)
        )
        more = ", …" if len(self.classes) > 5 else ""
        accuracies = self.accuracies
        return (
            f"Model: {len(self.annotators):,} annotators, {len(self.classes):,} classes "
            f"({shares}{more}); accuracies {accuracies.min():.3g} to {accuracies.max():.3g}"
        )


def _check_probabilities(array: Floats, shape: tuple[int, ...], axis: int, name: str) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
        found = (
            f"{array.dtype} {array.shape}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise BadModel(f"{name} must be float64 of shape {shape}, not {found}.")
    if not np.all(array >= 0) or not np.allclose(array.sum(axis=axis), 1.0, atol=1e-6):
        raise BadModel(f"{name} must be probabilities that sum to one over axis {axis}.")
