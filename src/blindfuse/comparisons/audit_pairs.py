"""`audit_pairs`: how right a ranking and its judges are, by pairs whose better item is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from blindfuse.comparisons.ranking import Ranking, places
from blindfuse.comparisons.table import as_comparisons
from blindfuse.errors import BadParameter
from blindfuse.metrics.accuracy import wilson_interval
from blindfuse.metrics.interval import Interval


@dataclass(frozen=True, eq=False)
class PairAudit:
    """Shares of right orders, with 95 % intervals that need no model.

    Attributes
    ----------
    n_checked
        number of different pairs of items that were checked.
    accuracy
        share of these pairs that the ranking puts in the right order.
    expected
        the share that the ranking expects: the mean probability of the order it gives.
    judges
        share of right comparisons of the checked pairs by each judge who made any; a tie is half
        right.
    """

    n_checked: int
    accuracy: Interval
    expected: float
    judges: dict[Any, Interval]

    def summary(self) -> str:
        """The accuracy of the ranking beside what was expected, and of the judges."""
        text = (
            f"{self.accuracy.percent()} of {self.n_checked:,} checked pairs are ranked in the "
            f"right order; {100 * self.expected:.1f} % were expected."
        )
        judges = (f"{name}: {share.percent()}" for name, share in self.judges.items())
        return "\n".join([text, *judges])


def audit_pairs(ranking: Ranking, left: Any, right: Any = None, winner: Any = None) -> PairAudit:
    """Compare a ranking and its judges with pairs whose better item was checked.

    The checked pairs are passed as to :func:`fuse_pairs`; pairs that are equally good do not count.
    """
    checked, table = as_comparisons(left, right, winner), ranking.comparisons
    at = places(checked.items, ranking.items, "item")
    lead = checked.rows.counts[:, 0] - checked.rows.counts[:, 2]
    shape = table.n_items, table.n_items
    better = csr_array((lead, (at[checked.rows.left], at[checked.rows.right])), shape=shape)
    better = (better - better.T).sign()
    i, j = (better > 0).nonzero()
    if not len(i):
        raise BadParameter("The checked pairs are all equally good. Check pairs that differ.")
    order = np.sign(ranking.strengths[i] - ranking.strengths[j])
    mean, error = ranking.posterior.difference(i, j)
    is_right = better[table.rows.left, table.rows.right]
    lefts, ties, rights = table.rows.counts.T
    right_ones = np.where(is_right > 0, lefts, rights) + ties / 2
    known = is_right != 0
    judge, n = table.rows.judge[known], table.n_annotators
    hits = np.bincount(judge, right_ones[known], n)
    totals = np.bincount(judge, table.rows.counts.sum(axis=1)[known], n)
    names = table.annotators.tolist()
    judges = {names[k]: _share(hits[k], totals[k]) for k in np.flatnonzero(totals)}
    expected = ndtr(np.abs(mean) / np.maximum(error, 1e-12))
    return PairAudit(
        len(i), _share(((order + 1) / 2).sum(), len(i)), float(expected.mean()), judges
    )


def _share(hits: float, total: float) -> Interval:
    share = float(hits / total)
    return Interval(share, *wilson_interval(share, round(total)))
