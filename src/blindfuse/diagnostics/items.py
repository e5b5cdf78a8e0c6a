"""Which items are sure, and which want another label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from blindfuse.model.posteriors import most_likely, vote_shares
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

DOUBT = 0.1
"""A label that is wrong with a larger chance wants another answer: at even cost of a label and a
tenth of an error, asking again pays from here on."""


BLOCK = 200_000
"""Items that are looked at together."""


@dataclass(frozen=True, eq=False)
class Items:
    """Per item: the ``posterior`` of its label, the ``margin`` to the next class, the ``entropy``
    in nats, whether it ``needs`` another label, and whether it was ``outvoted``: another class has
    more votes than its label.
    """

    posterior: Floats
    margin: Floats
    entropy: Floats
    needs: NDArray[np.bool_]
    outvoted: NDArray[np.bool_]

    def summary(self) -> str:
        """In words."""
        count = int(np.count_nonzero(self.needs))
        share = 100 * count / max(len(self.needs), 1)
        return (
            f"{count:,} of {len(self.needs):,} items ({share:.0f} %) need another label: theirs is "
            f"wrong with a chance above {100 * DOUBT:.0f} %."
        )


def rate_items(responses: Responses, posteriors: Floats) -> Items:
    """From posteriors ``[item, class]``, beside the votes; in blocks, to need little memory."""
    blocks = [
        _look(responses.select_items(block), posteriors[block])
        for block in np.array_split(np.arange(responses.n_items), -(-responses.n_items // BLOCK))
    ]
    return Items(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _look(responses: Responses, posteriors: Floats) -> tuple[NDArray[Any], ...]:
    shares = vote_shares(responses)
    chosen = shares[np.arange(len(shares)), most_likely(posteriors)]
    *_, second, first = np.sort(posteriors, axis=1).T
    outvoted = (chosen == 0) & (responses.responses_per_item > 0)
    return first, first - second, entr(posteriors).sum(axis=1), first < 1 - DOUBT, outvoted
