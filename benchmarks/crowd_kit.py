"""crowd-kit beside blindfuse: where labels differ, why, and what a fit costs."""

import os
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from crowdkit import aggregation as crowdkit
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

from blindfuse import GLAD, KOS, MACE, DawidSkene, MajorityVote, OneCoin, Responses
from blindfuse.datasets import Crowd, load
from blindfuse.model.posteriors import expected_counts
from blindfuse.responses.responses import as_responses
from experiments.settings import FIGURE_3
from peers import Fits, Labels, Pair, Peer, compared, equal, peak_memory
from report import Check, Section
from speed import seconds

CROWDS = ["bird", "rte", "dog", "web", "trec", "adult"]
SKIPPED = {"KOS": ["dog", "web", "adult", "synthetic"], "GLAD": ["trec", "adult"]}
"""crowd-kit's KOS knows two classes only, its GLAD takes many minutes."""

Floats = NDArray[np.float64]


def frame(responses: Responses) -> Any:
    """The answers as crowd-kit wants them."""
    return pd.DataFrame(
        {
            "task": np.repeat(responses.items, responses.responses_per_item),
            "worker": responses.annotators[responses.by_item.codes],
            "label": responses.classes[responses.by_item.labels],
        }
    )


def labels_of(theirs: Any, responses: Responses) -> Labels:
    """What crowd-kit says of the items, in our order."""
    return np.asarray(theirs.labels_[responses.items])


CROWD_KIT = Peer("crowd-kit", frame, labels_of)


def without_ties(fits: Fits) -> float:
    clear = ~fits.ours.ties_
    return equal(fits.ours.labels_[clear], labels_of(fits.theirs, fits.responses)[clear])


def same_steps(fits: Fits) -> float:
    """With crowd-kit's number of E-steps, of which our final labels are one."""
    steps = len(fits.theirs.loss_history_) - 1
    ours = type(fits.ours)(**fits.ours.get_params() | {"max_iter": steps, "tolerance": 0})
    return equal(ours.fit(fits.responses).labels_, labels_of(fits.theirs, fits.responses))


def in_order(fits: Fits) -> float:
    """With maximum likelihood to its end, one smoothing, and names that sort as they appear."""
    table = frame(fits.responses)
    table["worker"], _ = pd.factorize(table["worker"])
    table["label"], names = pd.factorize(table["label"])
    theirs = crowdkit.MACE(n_restarts=1, n_iter=150, method="em").fit(table)
    ours = MACE(start="shares", smoothing=theirs.smoothing_).fit(fits.responses)
    return equal(ours.labels_, np.asarray(names)[labels_of(theirs, fits.responses)])


def with_score(fits: Fits) -> float:
    scored = fits.ours.posteriors_[:, 0] != fits.ours.posteriors_[:, 1]
    responses = fits.responses.select_items(scored)
    theirs = crowdkit.KOS().fit(frame(responses))
    return equal(fits.ours.labels_[scored], labels_of(theirs, responses))


def same_model(fits: Fits) -> float:
    """Labels by GLAD's formula from the skills and clarities that crowd-kit's come from."""
    classes = _glad_joint(fits.responses, *fits.theirs.used).argmax(axis=1)
    return equal(fits.responses.classes[classes], labels_of(fits.theirs, fits.responses))


def table_likelihoods(fits: Fits) -> tuple[float, float]:
    """Dawid–Skene's; crowd-kit keeps only rows of labels that an annotator has reported."""
    responses, K = fits.responses, fits.responses.n_classes
    rows = pd.MultiIndex.from_product([responses.annotators, responses.classes])
    errors = fits.theirs.errors_[responses.classes].reindex(rows, fill_value=0.0)
    prior = fits.theirs.priors_[responses.classes].to_numpy()
    return _likelihoods(fits, errors.to_numpy().reshape(-1, K, K), prior)


def mace_likelihoods(fits: Fits) -> tuple[float, float]:
    """MACE's; competences and habits as crowd-kit's E-step reads them, by order of appearance."""
    table, K = frame(fits.responses), fits.responses.n_classes
    annotators = pd.Index(table["worker"].unique()).get_indexer(fits.responses.annotators)
    classes = pd.Index(table["label"].unique()).get_indexer(fits.responses.classes)
    spams, knows = _shares(fits.theirs.spamming_[annotators]).T[:, :, None, None]
    habits = _shares(fits.theirs.thetas_[annotators][:, classes])[:, :, None]
    return _likelihoods(fits, knows * np.eye(K) + spams * habits, np.full(K, 1 / K))


def _shares(rows: Floats) -> Floats:
    """Rows that sum to one, as those of variational Bayes do not."""
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _likelihoods(fits: Fits, confusions: Floats, prior: Floats) -> tuple[float, float]:
    theirs = expected_counts(fits.responses, confusions, prior).likelihood
    return fits.ours.model_.log_likelihood(fits.responses), theirs


class WatchedGLAD(crowdkit.GLAD):  # type: ignore[misc]
    """crowd-kit's GLAD, which moves its skills and clarities once more after labelling."""

    def _e_step(self, data: Any) -> Any:
        self.used = self.alphas_, self.betas_
        return super()._e_step(data)


def glad_posteriors(fits: Fits) -> tuple[float, float]:
    """GLAD's log-posteriors of answers, skills and clarities, but for a constant."""
    responses, ours, theirs = fits
    return (
        _glad_posterior(responses, ours.skills_, -np.log(ours.difficulties_)),
        _glad_posterior(responses, theirs.alphas_, theirs.betas_),
    )


def _glad_posterior(responses: Responses, skills: Any, clarities: Any) -> float:
    joint = _glad_joint(responses, skills, clarities)
    off = np.sum((skills - 1) ** 2) + np.sum((clarities - 1) ** 2)
    return float(logsumexp(joint, axis=1).sum() - off / 2)


def _glad_joint(responses: Responses, skills: Any, clarities: Any) -> Floats:
    """Log-probabilities ``[item, class]`` of a class and all answers to its item."""
    N, K = responses.n_items, responses.n_classes
    items = np.repeat(np.arange(N), responses.responses_per_item)
    skill = np.asarray(pd.Series(skills, responses.annotators))[responses.by_item.codes]
    clarity = np.exp(np.asarray(pd.Series(clarities, responses.items))[items])
    wrong = log_expit(-skill * clarity) - np.log(K - 1)
    joint = np.tile(np.bincount(items, wrong, minlength=N)[:, None], K) - np.log(K)
    np.add.at(joint, (items, responses.by_item.labels), log_expit(skill * clarity) - wrong)
    return np.asarray(joint)


PAIRS = {
    "MajorityVote": Pair(MajorityVote, crowdkit.MajorityVote, without_ties),
    "DawidSkene": Pair(
        partial(DawidSkene, start="shares", shrinkage=None),
        crowdkit.DawidSkene,
        same_steps,
        table_likelihoods,
    ),
    "OneCoin": Pair(
        partial(OneCoin, start="shares"), crowdkit.OneCoinDawidSkene, same_steps, table_likelihoods
    ),
    "MACE": Pair(
        partial(MACE, start="shares"),
        partial(crowdkit.MACE, n_restarts=1),
        in_order,
        mace_likelihoods,
    ),
    "GLAD": Pair(GLAD, WatchedGLAD, same_model, glad_posteriors),
    "KOS": Pair(partial(KOS, rounds=100), crowdkit.KOS, with_score),
}

REASONS = """\
Settings are the closest that both have; GLAD's likelihood includes its priors. *Explained* is the \
agreement once these reasons, found in crowd-kit's source, are taken away:

- MajorityVote: ties. blindfuse gives them to the class reported more often, crowd-kit to the \
first. *Explained* leaves them out.
- DawidSkene, OneCoin: crowd-kit stops when its bound rises by less than 1e-5 a label. That bound \
counts the prior once a label, not once an item, so it can fall while the likelihood rises, and EM \
then ends after two or three steps. *Explained* stops blindfuse after as many steps.
- MACE: crowd-kit numbers annotators and labels as they appear but sorts the rows and columns of \
its habits, so that they belong to others. It also defaults to variational Bayes, smooths by \
0.01/K whatever `smoothing` says, ends after 50 steps, and begins each of its ten restarts with \
the same seed (here it does one). *Explained* renames so that both orders are one, and runs EM \
with that smoothing for 150 steps.
- GLAD: crowd-kit stops when the expected log-likelihood of answers and classes no longer rises; \
without the entropy of its beliefs, that can fall too, and did after two steps on the synthetic \
set. There its steps also lead to another maximum, and a lower one. *Explained* labels by the \
same formula from crowd-kit's skills and difficulties: nothing but these differs.
- KOS: crowd-kit fails with a KeyError when an item's score is zero, as when its annotators share \
no item with anyone else. *Explained* leaves such items out.\
"""


def labels() -> Section:
    """The same methods in both libraries on public crowds and on a synthetic one."""
    if "BLINDFUSE_DATA" not in os.environ:
        note = "Left out: BLINDFUSE_DATA names no folder of crowd sets."
        return Section(CROWD_KIT.title, ["method", "set"], note=note)
    simulation = FIGURE_3.draw(1000, 0)
    sets = [load(name) for name in CROWDS]
    sets.append(Crowd("synthetic", simulation.responses, simulation.truth))
    runs = (
        (method, pair, crowd)
        for method, pair in PAIRS.items()
        for crowd in sets
        if crowd.name not in SKIPPED.get(method, [])
    )
    return compared(CROWD_KIT, runs, REASONS)


def ten_of_ours(responses: Any) -> None:
    DawidSkene(start="shares", shrinkage=None, max_iter=10, tolerance=0).fit(responses)


def ten_of_theirs(table: Any) -> None:
    crowdkit.DawidSkene(n_iter=10, tol=-np.inf).fit(table)


def cost() -> Section:
    """Dawid–Skene on complete answers: time within one run, memory in a process for each."""
    section = Section(
        f"{CROWD_KIT.title}: cost of Dawid–Skene, K = 5, N = 100,000, M = 10",
        ["measured", "crowd-kit / blindfuse"],
    )
    responses = FIGURE_3.draw(10**5, 0).responses
    table = frame(responses)
    renamed = table.rename(columns={"task": "item", "worker": "annotator"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ten = seconds(lambda: ten_of_theirs(table), repeats=2)
        same = ten / seconds(lambda: ten_of_ours(responses))
        framed = ten / seconds(lambda: ten_of_ours(renamed))
        default = seconds(lambda: crowdkit.DawidSkene().fit(table), repeats=1)
        own = default / seconds(lambda: DawidSkene().fit(responses))
    ours, theirs = peak_memory(ten_of_ours, as_responses), peak_memory(ten_of_theirs, frame)
    section.rows = [
        ["time of ten iterations", f"{same:.1f}"],
        ["time of ten iterations, both from a pandas table", f"{framed:.1f}"],
        ["time of a fit by its defaults", f"{own:.1f}"],
        [f"peak memory of ten iterations, {theirs:.0f} / {ours:.0f} MiB", f"{theirs / ours:.1f}"],
    ]
    section.checks = [
        Check("ten iterations, times faster", same, 100, at_most=False),
        Check("a fit by its defaults, times faster", own, 100, at_most=False),
        Check("peak memory in crowd-kit's", ours / theirs, 0.2),
    ]
    return section
