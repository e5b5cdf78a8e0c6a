"""All that is measured about a fusion, together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.annotators import Annotators, rate_annotators
from blindfuse.diagnostics.dependence import Dependence, find_dependence
from blindfuse.diagnostics.expected_error import ExpectedError, estimate_error
from blindfuse.diagnostics.fit import Fit, measure_fit
from blindfuse.diagnostics.identifiability import Identifiability, check_identifiability
from blindfuse.diagnostics.items import Items, rate_items
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Whether the answers determine a model, whether it fits, and what it says of everybody."""

    identifiability: Identifiability
    fit: Fit
    dependence: Dependence
    annotators: Annotators
    items: Items
    expected: ExpectedError

    def summary(self) -> str:
        """In words, a paragraph each."""
        parts = (
            self.expected,
            self.items,
            self.annotators,
            self.dependence,
            self.fit,
            self.identifiability,
        )
        return "\n".join(part.summary() for part in parts)


def diagnose(
    responses: Responses, model: Model, posteriors: Floats, groups: Sequence[Sequence[int]] = ()
) -> Diagnostics:
    """Measure everything about these answers under this model and these posteriors.

    ``groups`` are positions of annotators of whom the method knows that they err together: their
    agreement does not speak against its fit, but is shown as dependence all the same.
    """
    known = model.for_annotators(responses.annotators, responses.classes)
    pairs = count_pairs(responses).beside(known)
    return Diagnostics(
        check_identifiability(responses, known),
        measure_fit(pairs.without(groups), responses.n_annotators),
        find_dependence(pairs, responses.annotators),
        rate_annotators(responses, known, posteriors),
        rate_items(responses, posteriors),
        estimate_error(responses, known, posteriors),
    )
