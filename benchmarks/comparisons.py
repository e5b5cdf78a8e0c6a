"""Rankings by pairwise comparisons: agreement with other libraries, public sets, simulations."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import choix
import evalica
import numpy as np
import pandas as pd
import polars as pl
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
from crowdkit.aggregation import NoisyBradleyTerry
from numpy.typing import NDArray
from scipy.stats import kendalltau

from blindfuse import Ranking, fuse_pairs
from report import Check, Section, public_data

Floats = NDArray[np.float64]
DRAWS, FOLDS = 200, 5
MORE_JUDGES = ("dots", "wmt13_fren")
"""Sets on which judge effects must predict better."""


class Pairs(NamedTuple):
    """Comparisons in columns: ``winner`` is the share of the win of the left item."""

    left: NDArray[Any]
    right: NDArray[Any]
    winner: Floats
    judge: NDArray[Any]

    @property
    def swapped(self) -> "Pairs":
        """The same comparisons with the other item on the left."""
        return Pairs(self.right, self.left, 1 - self.winner, self.judge)

    def where(self, mask: NDArray[np.bool_]) -> "Pairs":
        """The comparisons in this mask."""
        return Pairs(*(column[mask] for column in self))


def draw(
    rng: np.random.Generator,
    slopes: Floats,
    positions: Floats | float = 0.0,
    n_items: int = 30,
    n: int = 900,
    tie: float = -np.inf,
) -> tuple[Pairs, Floats]:
    """Draw comparisons of random pairs by judges with these slopes and position biases."""
    strengths = rng.normal(0, 1.2, n_items)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    judge = rng.integers(0, len(slopes), n)
    eta = slopes[judge] * (strengths[left] - strengths[right])
    eta = eta + np.broadcast_to(positions, len(slopes))[judge]
    odds = np.stack([np.exp(eta / 2), np.full(n, np.exp(tie)), np.exp(-eta / 2)], axis=1)
    bounds = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :2]
    outcome = (rng.random(n)[:, None] > bounds).sum(axis=1)
    return Pairs(left, right, 1 - outcome / 2, judge), strengths - strengths.mean()


def equal(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, np.ones(9))


def random_judges(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, np.repeat([1.0, 0.0], [6, 3]))


def reversed_judges(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, np.repeat([1.0, -1.0], [7, 2]))


def position_bias(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, np.ones(9), rng.normal(0, 1, 9))


def ties(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, np.ones(9), tie=-0.5)


def differing_judges(rng: np.random.Generator) -> tuple[Pairs, Floats]:
    return draw(rng, rng.uniform(0.5, 1.5, 100), rng.normal(0, 0.5, 100), n=4_000)


FAMILIES = {
    "equal judges": equal,
    "3 of 9 at random": random_judges,
    "2 of 9 reversed": reversed_judges,
    "position biases": position_bias,
    "ties": ties,
    "100 different judges": differing_judges,
}
LIMITS = {"equal judges": -0.002, "ties": -0.002, "3 of 9 at random": 0.05}
"""Smallest gain of Kendall's τ; that of the others is 0."""


def tau(values: Floats, truth: Floats) -> float:
    """Kendall's τ."""
    return float(kendalltau(values, truth).statistic)


def simulated() -> Section:
    """Judges of unequal reliability: Kendall's τ beside Bradley–Terry, and coverage."""
    section = Section(
        f"Comparisons: simulated judges, {DRAWS} draws each",
        [
            *("judges", "Kendall's τ", "Bradley–Terry's", "judge effects used"),
            *("strengths covered", "ranks covered", "P(best) stated", "true"),
        ],
        note=(
            "30 items, 900 comparisons (4,000 of 100 judges). Covered is the share of 95 % "
            "intervals with the truth. P(best) is that of the item ranked first, stated and by "
            "the truth."
        ),
    )
    stated: list[Floats] = []
    for name, family in FAMILIES.items():
        rows = np.array([_one_draw(family, seed) for seed in range(DRAWS)])
        mean, gain = rows.mean(axis=0), float((rows[:, 0] - rows[:, 1]).mean())
        section.rows.append(
            [
                *(name, f"{mean[0]:.3f}", f"{mean[1]:.3f}"),
                *(f"{100 * value:.1f} %" for value in mean[2:]),
            ]
        )
        section.checks += [
            Check(f"{name}: gain of τ", gain, LIMITS.get(name, 0.0), at_most=False),
            *(
                Check(f"{name}: {which} covered, distance from 95 %", abs(share - 0.95), 0.03)
                for which, share in zip(("strengths", "ranks"), mean[3:5], strict=True)
            ),
        ]
        stated.append(mean[5:])
    off = float(np.abs(np.diff(np.mean(stated, axis=0)))[0])
    section.checks.append(Check("mean P(best) of all families off by", off, 0.03))
    return section


def _one_draw(family: Callable[[np.random.Generator], tuple[Pairs, Floats]], seed: int) -> Floats:
    pairs, strengths = family(np.random.default_rng(seed))
    ranking, plain = fuse_pairs(*pairs), fuse_pairs(*pairs[:3])
    truth = strengths[ranking.items]
    ranks = 1 + (truth > truth[:, None]).sum(axis=1)
    first = int(np.argmax(ranking.probability_best))
    return np.array(
        [
            tau(ranking.strengths, truth),
            tau(plain.strengths, strengths[plain.items]),
            ranking.evidence.uses_judges,
            np.mean((ranking.low <= truth) & (truth <= ranking.high)),
            np.mean((ranking.rank_low <= ranks) & (ranks <= ranking.rank_high)),
            ranking.probability_best[first],
            ranks[first] == 1,
        ]
    )


def centred(values: Floats) -> Floats:
    """Log odds relative to their mean."""
    return np.asarray(values - values.mean())


def agreement() -> Section:
    """The same comparisons without differing judges: strengths beside evalica and choix."""
    section = Section(
        f"Comparisons: largest difference of strengths, {FOLDS} seeds",
        ["model", "judges", "compared with", "largest difference"],
        note=(
            "30 items, 20,000 comparisons, each with sides in both orders; equal judges made the "
            "same ones. The prior of choix has the variance 10,000, as here."
        ),
    )
    n, largest = 20_000, dict[tuple[str, ...], float]()
    judges = {"none": None, "one": np.zeros(n), "four, equal": np.repeat(np.arange(4), n // 4)}
    for seed in range(FOLDS):
        for model, tie in (("Bradley–Terry", -np.inf), ("Davidson's ties", -0.5)):
            pairs, _ = draw(np.random.default_rng(seed), np.ones(1), n=n // 8, tie=tie)
            pairs = Pairs(*map(np.concatenate, zip(pairs, pairs.swapped, strict=True)))
            pairs = Pairs(*(np.tile(column, 4) for column in pairs))
            for peer, strengths in peer_strengths(pairs).items():
                for name, column in judges.items():
                    ranking = fuse_pairs(*pairs[:3], column)
                    key, off = (model, name, peer), ranking.strengths - centred(strengths)
                    largest[key] = max(float(np.abs(off).max()), largest.get(key, 0.0))
    section.rows = [[*key, f"{value:.1e}"] for key, value in largest.items()]
    section.checks = [Check("largest difference", max(largest.values()), 1e-4)]
    return section


def peer_strengths(pairs: Pairs) -> dict[str, Floats]:
    """Log odds of the items by other libraries that model these outcomes."""
    winners = [evalica.Winner(1 if w == 1 else 2 if w == 0 else 0) for w in pairs.winner]
    has_ties = bool((pairs.winner == 0.5).any())
    method = evalica.newman if has_ties else evalica.bradley_terry
    options: dict[str, Any] = {"tolerance": 1e-12, "limit": 10_000}
    scores = method(pairs.left, pairs.right, winners, **options).scores.sort_index()
    found = {"evalica": np.log(scores.to_numpy())}
    if not has_ties:
        sides = np.stack([pairs.left, pairs.right], axis=1)
        ordered = np.where(pairs.winner[:, None] == 1, sides, sides[:, ::-1]).tolist()
        found["choix"] = choix.opt_pairwise(len(scores), ordered, alpha=1e-4, tol=1e-9)
    return found


def public() -> Section:
    """Held-out comparisons and Kendall's τ on sets of which a true order is known."""
    section = Section(
        f"Comparisons: public sets, −log P of held-out comparisons, {FOLDS} folds",
        [
            *("set", "comparisons", "items", "judges", "loss", "Bradley–Terry's"),
            *("loss, judge not named", "Kendall's τ", "Bradley–Terry's τ", "method"),
        ],
        note="Bradley–Terry has Davidson's ties and a learned prior; outcomes are win, tie, loss.",
    )
    for folder in sorted((public_data() / "pairs").iterdir()):
        text = dict.fromkeys(("left", "right", "annotator", "winner", "item"), pl.String)
        table, truth = (
            pl.read_csv(folder / f"{name}.csv.gz", schema_overrides=text)
            for name in ("pairs", "truth")
        )
        left, right, judge, winner = (table[name].to_numpy() for name in table.columns)
        share = np.where(winner == left, 1.0, np.where(winner == right, 0.0, 0.5))
        pairs = Pairs(left, right, share, judge)
        fold = np.random.default_rng(0).permutation(len(left)) % FOLDS
        losses = np.mean([_losses(pairs, fold == one) for one in range(FOLDS)], axis=0)
        ranking, plain = fuse_pairs(*pairs), fuse_pairs(*pairs[:3])
        taus = [_public_tau(one, dict(truth.iter_rows())) for one in (ranking, plain)]
        sizes = len(left), len(ranking.items), ranking.comparisons.n_annotators
        section.rows.append(
            [
                *(folder.name, *(f"{size:,}" for size in sizes)),
                *(f"{loss:.4f}" for loss in losses),
                *(f"{value:.3f}" for value in taus),
                ranking.method,
            ]
        )
        limit = -1e-4 if folder.name in MORE_JUDGES else 0.002
        for which, loss in (("loss", losses[0]), ("loss, judge not named", losses[2])):
            limit = limit if which == "loss" else 0.002
            section.checks.append(
                Check(f"{folder.name}: {which} above Bradley–Terry's", loss - losses[1], limit)
            )
        section.checks.append(
            Check(f"{folder.name}: gain of τ", taus[0] - taus[1], -0.02, at_most=False)
        )
    return section


def _losses(pairs: Pairs, held_out: NDArray[np.bool_]) -> list[float]:
    """Mean −log P with judges, without them, and with judges who are not named."""
    kept, asked = pairs.where(~held_out), pairs.where(held_out)
    ranking, plain = fuse_pairs(*kept), fuse_pairs(*kept[:3])
    is_new = ~np.isin(asked.judge, ranking.comparisons.annotators)
    outcome = np.round(2 - 2 * asked.winner).astype(int)

    def loss(ranking: Ranking, judges: NDArray[Any] | None) -> Floats:
        p = ranking.outcome_probabilities(asked.left, asked.right, judges)
        return np.asarray(-np.log(p[np.arange(len(p)), outcome]))

    common = loss(ranking, None)
    known = np.where(is_new, ranking.comparisons.annotators[0], asked.judge)
    named = np.where(is_new, common, loss(ranking, known))
    return [float(values.mean()) for values in (named, loss(plain, None), common)]


def _public_tau(ranking: Ranking, truth: dict[str, float]) -> float:
    rows = [at for at, item in enumerate(ranking.items.tolist()) if item in truth]
    return tau(ranking.strengths[rows], np.array([truth[ranking.items[at]] for at in rows]))


def speed() -> Section:
    """1.8 million comparisons of names, beside libraries that have no judges, in turns."""
    pairs, _ = draw(
        np.random.default_rng(0), np.linspace(0.5, 1.5, 8), n_items=130, n=1_800_000, tie=-0.7
    )
    items, judges = (np.array([f"{kind} {n}" for n in range(130)]) for kind in ("model", "judge"))
    left, right, judge = items[pairs.left], items[pairs.right], judges[pairs.judge]
    words = np.array(["model_b", "tie", "model_a"])[np.round(2 * pairs.winner).astype(int)]
    columns = {"model_a": left, "model_b": right, "winner": words, "judge": judge}
    columns = {name: column.astype(object) for name, column in columns.items()}
    frame = pd.DataFrame(columns)
    xs, ys = left.tolist(), right.tolist()
    winners = [evalica.Winner(1 if w == 1 else 2 if w == 0 else 0) for w in pairs.winner]

    def with_intervals(ranking: Ranking) -> object:
        return ranking.low, ranking.rank_low, ranking.judges

    def arena_rank() -> None:
        BradleyTerry(130).compute_ratings_and_cis(PairDataset.from_pandas(frame))

    small, _ = draw(np.random.default_rng(1), np.linspace(0.5, 1.5, 8), 0.0, 20, 20_000)
    chosen = np.where(small.winner == 1, small.left, small.right)
    crowd = pd.DataFrame(dict(zip(("worker", "left", "right"), small[3:] + small[:2], strict=True)))
    crowd["label"] = chosen
    calls: dict[str, Callable[[], object]] = {
        "fuse_pairs without judges": lambda: fuse_pairs(*list(columns.values())[:3]).strengths,
        "evalica, no intervals": lambda: evalica.bradley_terry(xs, ys, winners),
        "fuse_pairs": lambda: with_intervals(fuse_pairs(*columns.values())),
        "arena-rank, no judges": arena_rank,
        "fuse_pairs, 20,000": lambda: fuse_pairs(*small).strengths,
        "crowd-kit NoisyBradleyTerry, 20,000": lambda: NoisyBradleyTerry().fit(crowd),
    }
    times = {name: list[float]() for name in calls}
    for _ in range(3):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - started)
    best = {name: min(measured) for name, measured in times.items()}
    rows, checks = [], []
    for (own, peer), limit in zip(zip(*[iter(calls)] * 2, strict=True), (1, 1, 50), strict=True):
        ratio = best[peer] / best[own]
        rows.append([own, peer, f"{ratio:.1f}"])
        checks.append(Check(f"{own}: speedup", ratio, limit, at_most=False))
    return Section(
        "Comparisons: 1.8 million by 8 judges of 130 items, time beside others, shortest of 3",
        ["here", "there", "time there / here"],
        rows,
        checks,
        "Names and winners are text in memory here and for arena-rank, which writes intervals "
        "too; evalica gets lists of text and of its own winners. The 20,000 are of 20 items.",
    )
