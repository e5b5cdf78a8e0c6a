"""What a selection rule is given (`FuseContext`) and what it returns (`Choice`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.fusion.held_out import sample_items
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
PosteriorsOf = Callable[[Responses], Floats]


@dataclass(frozen=True, eq=False)
class FuseContext:
    """The responses to fuse, and everything else that the caller of ``fuse`` gave.

    Attributes
    ----------
    rng
        random numbers for folds and samples.
    gold
        gold labels of some items, ``{item: label}``, which are held fixed.
    prior_model, prior_count
        a Model of annotators from earlier work, and the pseudo-counts per class it is worth.
    """

    responses: Responses
    rng: np.random.Generator
    gold: Mapping[Any, Any] | None = None
    prior_model: Model | None = None
    prior_count: float = 20.0
    threads: int | None = None

    def spawn(self) -> "FuseContext":
        """The same context with random numbers of its own."""
        return replace(self, rng=self.rng.spawn(1)[0])

    def fit_dawid_skene(self, **parameters: Any) -> DawidSkene:
        """Fit Dawid–Skene with these parameters, the gold labels and the prior model."""
        method = DawidSkene(
            prior_model=self.prior_model,
            prior_count=self.prior_count,
            threads=self.threads,
            **parameters,
        )
        return method.fit(self.responses, gold=self.gold)

    @cached_property
    def mixed_membership(self) -> MixedMembership:
        """Posteriors that stay calibrated where errors are correlated, fitted to a sample.

        Models of conditionally independent annotators are far too confident there.
        """
        return MixedMembership(threads=self.threads).fit(sample_items(self.responses, self.rng))


@dataclass(frozen=True, eq=False)
class Choice:
    """The method that a selection rule chose, why, and its results.

    Attributes
    ----------
    method, why
        the method's name, and the reasons in sentences.
    model
        the confusion matrices and prior that describe the result.
    posteriors ``[item, class]``
    history ``[iteration]``
        log-likelihoods; empty for methods that do not iterate.
    labels ``[item]``
        class codes, for methods whose label is not the class of the largest posterior.
    posteriors_of
        posteriors of new items by the same annotators; the model's if not given.
    groups
        positions of annotators whose errors are correlated and who were merged into one.
    """

    method: str
    why: str
    model: Model
    posteriors: Floats
    history: Floats
    labels: NDArray[np.intp] | None = None
    posteriors_of: PosteriorsOf | None = None
    groups: tuple[tuple[int, ...], ...] = ()


SelectionRule = Callable[[FuseContext], Choice]
"""Chooses a method without ground truth."""
