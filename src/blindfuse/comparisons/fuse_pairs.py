"""`fuse_pairs`: rank items by pairwise comparisons, and say how and why."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from blindfuse.comparisons.judges import rate_judges
from blindfuse.comparisons.model import MAX_DENSE, SMALL_RIDGE, fit
from blindfuse.comparisons.ranking import Ranking
from blindfuse.comparisons.rule import gather_evidence
from blindfuse.comparisons.table import as_comparisons
from blindfuse.comparisons.uncertainty import (
    Posterior,
    Z,
    centred,
    covariance_root,
    ranks_of,
    tiers_of,
)
from blindfuse.kernels.threads import single_threaded_blas


def fuse_pairs(
    left: Any,
    right: Any = None,
    winner: Any = None,
    annotators: Any = None,
    *,
    weights: Any = None,
    prompts: Any = None,
) -> Ranking:
    """Rank items by comparisons of pairs, and rate the judges.

    Plain Bradley–Terry with Davidson's ties is the baseline. A slope, a position bias and a tie
    rate per judge, shrunk towards the common judge by learned spreads, replace it where they
    predict held-out comparisons better. Intervals are clustered by prompt, or else by judge. The
    result depends neither on names nor on the order of rows.

    Parameters
    ----------
    left, right, winner
        columns with one row per comparison; the winner is a name, ``"left"``, ``"right"`` or
        ``"tie"``, or the share of the win that goes to the left item (see
        :meth:`Comparisons.from_columns`). Or, as the first argument alone, a frame, rows of
        (left, right, winner[, annotator]), or :class:`Comparisons`.
    annotators
        who compared.
    weights
        how many comparisons a row stands for.
    prompts
        what the items were compared on: comparisons on the same prompt may have errors in common.

    Examples
    --------
    >>> from blindfuse import fuse_pairs
    >>> ranking = fuse_pairs(["a", "b", "c", "a"], ["b", "c", "a", "b"], ["a", "b", "a", "b"])
    >>> dict(zip(ranking.items.tolist(), ranking.ranks.tolist()))
    {'a': 1, 'b': 1, 'c': 3}
    """
    others = {"annotators": annotators, "weights": weights, "prompts": prompts}
    table = as_comparisons(left, right, winner, **others)
    groups, is_ranked = table.groups, table.comparisons_per_item > 0
    with single_threaded_blas():
        evidence = gather_evidence(table.cells, table.has_sides)
        chosen = evidence.chosen
        root = covariance_root(chosen, table)
        posterior = Posterior(centred(chosen.strengths, groups), root, groups)
        reported = chosen
        if table.n_items <= MAX_DENSE:  # else few comparisons per item need the learned spread
            start = replace(chosen, ridge=SMALL_RIDGE)
            reported = fit(table.cells, start, has_fixed_judges=True, tolerance=1e-9)
            root = covariance_root(reported, table)
        errors = np.sqrt((root**2).sum(axis=1))
        judges = rate_judges(chosen, table)
        drawn = posterior.rank_draws()
    strengths = centred(reported.strengths, groups)
    ranks = ranks_of(strengths, groups)
    place = (rankdata(drawn, axis=0) - 0.5) / len(drawn)  # of equal ranks, half count as below
    rank_low = np.where(place < 0.025, len(ranks), drawn).min(axis=0)
    rank_high = np.where(place > 0.975, 1, drawn).max(axis=0)
    strengths, errors = (np.where(is_ranked, x, np.nan) for x in (strengths, errors))
    return Ranking(
        comparisons=table,
        strengths=strengths,
        low=strengths - Z * errors,
        high=strengths + Z * errors,
        ranks=np.where(is_ranked, ranks, 0),
        rank_low=np.where(is_ranked, np.minimum(rank_low, ranks), 0),
        rank_high=np.where(is_ranked, np.maximum(rank_high, ranks), 0),
        probability_best=np.where(is_ranked, (drawn == 1).mean(axis=0), np.nan),
        tiers=np.where(is_ranked, tiers_of(posterior, ranks), 0),
        judges=judges,
        evidence=evidence,
        posterior=posterior,
    )
