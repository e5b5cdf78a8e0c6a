"""Comparison with crowd-kit: which labels differ, why, and the cost of a fit."""

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from crowdkit import aggregation as crowdkit
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp

from blindfuse import GLAD, KOS, MACE, DawidSkene, MajorityVote, OneCoin, Responses
from blindfuse.datasets import Crowd, load
from blindfuse.estimators.base import Estimator
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import expected_counts
from blindfuse.responses.responses import as_responses
from children import additional_memory, in_child
from experiments.settings import FIGURE_3
from report import Check, Section, public_data
from speed import seconds

CROWDS = ["bird", "rte", "dog", "web", "trec", "adult"]
SKIPPED = {"KOS": ["dog", "web", "adult", "synthetic"], "GLAD": ["trec", "adult"]}
"""crowd-kit's KOS supports two classes only, and its GLAD takes many minutes."""

Floats = NDArray[np.float64]
Labels = NDArray[Any]

TITLE = f"Compared with crowd-kit {version('crowd-kit')}"


class Fits(NamedTuple):
    """One method fitted to the same responses by both libraries; ``peer`` is None if it failed."""

    responses: Responses
    own: Any
    peer: Any


class Pair(NamedTuple):
    """One method in both libraries, with the closest settings that they share.

    ``explained`` is the share of equal labels after removing the known causes of differences;
    ``likelihoods`` are the log-likelihoods of both fits under the same model.
    """

    own: Callable[[], Estimator]
    peer: Callable[[], Any]
    explained: Callable[[Fits], float]
    likelihoods: Callable[[Fits], tuple[float, float]] | None = None


def frame(responses: Responses) -> Any:
    """Return the responses in crowd-kit's format."""
    return pd.DataFrame(
        {
            "task": np.repeat(responses.items, responses.responses_per_item),
            "worker": responses.annotators[responses.by_item.codes],
            "label": responses.classes[responses.by_item.symbols],
        }
    )


def labels_of(peer: Any, responses: Responses) -> Labels:
    """Return crowd-kit's labels in the order of the items."""
    return np.asarray(peer.labels_[responses.items])


def agreement(labels: Labels, other: Labels) -> float:
    """Return the share of equal labels."""
    return float(np.mean(labels == other))


def without_ties(fits: Fits) -> float:
    """Return the agreement on items without a tie."""
    clear = ~fits.own.ties_
    return agreement(fits.own.labels_[clear], labels_of(fits.peer, fits.responses)[clear])


def same_steps(fits: Fits) -> float:
    """Return the agreement with crowd-kit's number of E-steps; the final labels count as one."""
    steps = len(fits.peer.loss_history_) - 1
    own = type(fits.own)(**fits.own.get_params() | {"max_iter": steps, "tolerance": 0})
    return agreement(own.fit(fits.responses).labels_, labels_of(fits.peer, fits.responses))


def with_sorted_names(fits: Fits) -> float:
    """Return the agreement with EM to convergence, equal smoothing, and sorted names."""
    table = frame(fits.responses)
    table["worker"], _ = pd.factorize(table["worker"])
    table["label"], names = pd.factorize(table["label"])
    peer = crowdkit.MACE(n_restarts=1, n_iter=150, method="em").fit(table)
    own = MACE(start="shares", smoothing=peer.smoothing_).fit(fits.responses)
    return agreement(own.labels_, np.asarray(names)[labels_of(peer, fits.responses)])


def without_zero_scores(fits: Fits) -> float:
    """Return the agreement on items whose score is not zero."""
    scored = fits.own.posteriors_[:, 0] != fits.own.posteriors_[:, 1]
    responses = fits.responses.select_items(scored)
    peer = crowdkit.KOS().fit(frame(responses))
    return agreement(fits.own.labels_[scored], labels_of(peer, responses))


def same_model(fits: Fits) -> float:
    """Return the agreement with labels from crowd-kit's own skills and clarities."""
    classes = _glad_joint(fits.responses, *fits.peer.used).argmax(axis=1)
    return agreement(fits.responses.classes[classes], labels_of(fits.peer, fits.responses))


def confusion_likelihoods(fits: Fits) -> tuple[float, float]:
    """Return the log-likelihoods of Dawid–Skene.

    crowd-kit keeps only the rows of labels that an annotator has reported.
    """
    responses, K = fits.responses, fits.responses.n_classes
    rows = pd.MultiIndex.from_product([responses.annotators, responses.classes])
    errors = fits.peer.errors_[responses.classes].reindex(rows, fill_value=0.0)
    prior = fits.peer.priors_[responses.classes].to_numpy()
    return _likelihoods(fits, errors.to_numpy().reshape(-1, K, K), prior)


def mace_likelihoods(fits: Fits) -> tuple[float, float]:
    """Return the log-likelihoods of MACE.

    crowd-kit's parameters are read as its E-step does, in the order of appearance.
    """
    table, K = frame(fits.responses), fits.responses.n_classes
    annotators = pd.Index(table["worker"].unique()).get_indexer(fits.responses.annotators)
    classes = pd.Index(table["label"].unique()).get_indexer(fits.responses.classes)
    spams, knows = _normalized(fits.peer.spamming_[annotators]).T[:, :, None, None]
    strategies = _normalized(fits.peer.thetas_[annotators][:, classes])[:, :, None]
    return _likelihoods(fits, knows * np.eye(K) + spams * strategies, np.full(K, 1 / K))


def _normalized(rows: Floats) -> Floats:
    """Return rows that sum to one; those of variational Bayes do not."""
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _likelihoods(fits: Fits, confusions: Floats, prior: Floats) -> tuple[float, float]:
    peer = expected_counts(fits.responses, confusions, prior).log_likelihood
    return fits.own.model_.log_likelihood(fits.responses), peer


class RecordedGLAD(crowdkit.GLAD):  # type: ignore[misc]
    """crowd-kit's GLAD, with the parameters of its labels; it updates them after labelling."""

    def _e_step(self, data: Any) -> Any:
        self.used = self.alphas_, self.betas_
        return super()._e_step(data)


def glad_posteriors(fits: Fits) -> tuple[float, float]:
    """Return the log posteriors of GLAD's skills and clarities, up to a constant."""
    responses, own, peer = fits
    return (
        _glad_posterior(responses, own.skills_, -np.log(own.difficulties_)),
        _glad_posterior(responses, peer.alphas_, peer.betas_),
    )


def _glad_posterior(responses: Responses, skills: Any, clarities: Any) -> float:
    joint = _glad_joint(responses, skills, clarities)
    penalty = np.sum((skills - 1) ** 2) + np.sum((clarities - 1) ** 2)
    return float(logsumexp(joint, axis=1).sum() - penalty / 2)


def _glad_joint(responses: Responses, skills: Any, clarities: Any) -> Floats:
    """Return log-probabilities ``[item, class]`` of a class and all responses to the item."""
    N, K = responses.n_items, responses.n_classes
    items = np.repeat(np.arange(N), responses.responses_per_item)
    skill = np.asarray(pd.Series(skills, responses.annotators))[responses.by_item.codes]
    clarity = np.exp(np.asarray(pd.Series(clarities, responses.items))[items])
    wrong = log_expit(-skill * clarity) - np.log(K - 1)
    joint = np.tile(np.bincount(items, wrong, minlength=N)[:, None], K) - np.log(K)
    np.add.at(joint, (items, responses.by_item.symbols), log_expit(skill * clarity) - wrong)
    return np.asarray(joint)


PAIRS = {
    "MajorityVote": Pair(MajorityVote, crowdkit.MajorityVote, without_ties),
    "DawidSkene": Pair(
        partial(DawidSkene, start="shares", shrinkage=None),
        crowdkit.DawidSkene,
        same_steps,
        confusion_likelihoods,
    ),
    "OneCoin": Pair(
        partial(OneCoin, start="shares"),
        crowdkit.OneCoinDawidSkene,
        same_steps,
        confusion_likelihoods,
    ),
    "MACE": Pair(
        partial(MACE, start="shares"),
        partial(crowdkit.MACE, n_restarts=1),
        with_sorted_names,
        mace_likelihoods,
    ),
    "GLAD": Pair(GLAD, RecordedGLAD, same_model, glad_posteriors),
    "KOS": Pair(partial(KOS, n_iter=100), crowdkit.KOS, without_zero_scores),
}

REASONS = """\
Both libraries use the closest settings that they share; GLAD's likelihood includes its priors. \
“Explained” is the agreement after removing these causes, found in crowd-kit's source:

- MajorityVote: ties. blindfuse gives them to the class that is reported more often, crowd-kit to \
the first. “Explained” excludes them.
- DawidSkene, OneCoin: crowd-kit stops when its bound rises by less than 1e-5 per label. That \
bound counts the prior once per label instead of once per item, so it can fall while the \
likelihood rises, and EM then stops after two or three iterations. “Explained” stops blindfuse \
after the same number of iterations.
- MACE: crowd-kit numbers annotators and labels by their first appearance but sorts the rows and \
columns of its spamming distributions, so that these belong to other annotators and labels. It \
also defaults to variational Bayes, smooths by 0.01/K whatever `smoothing` is, stops after 50 \
iterations, and starts each of its ten restarts with the same seed (here it runs one). “Explained” \
renames so that both orders are equal, and runs EM with that smoothing for 150 iterations.
- GLAD: crowd-kit stops when the expected log-likelihood of responses and classes no longer rises; \
without the entropy of the posteriors it can also fall, and did so after two iterations on the \
synthetic data. There its steps also lead to another, lower maximum. “Explained” applies \
blindfuse's formula for the labels to crowd-kit's skills and difficulties, so only these differ.
- KOS: crowd-kit fails with a KeyError if the score of an item is zero, for example if its \
annotators share no item with any other annotator. “Explained” excludes such items.\
"""


def labels() -> Section:
    """The same methods in both libraries on public crowds and on synthetic data."""
    public_data()
    simulation = FIGURE_3.draw(1000, 0)
    crowds = [load(name) for name in CROWDS]
    crowds.append(Crowd("synthetic", simulation.responses, simulation.truth))
    section = Section(
        f"{TITLE}: the same methods on the same responses",
        [
            *("method", "dataset", "blindfuse %", "crowd-kit %", "agreement %", "explained %"),
            *("log-likelihood per label", "crowd-kit's", "time of crowd-kit / blindfuse"),
        ],
        note=REASONS,
    )
    explained = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, pair in PAIRS.items():
            for crowd in crowds:
                if crowd.name in SKIPPED.get(method, []):
                    continue
                fits, time_ratio = _fit_both(pair, crowd.responses)
                explained.append(100 * pair.explained(fits))
                cells = [*_errors_and_agreement(fits, crowd), f"{explained[-1]:.2f}"]
                cells += [*_likelihoods_per_label(pair, fits), f"{time_ratio:.0f} ×"]
                section.rows.append([method, crowd.name, *cells])
    section.checks.append(
        Check("smallest explained agreement, %", min(explained), 99.9, at_most=False)
    )
    return section


def _fit_both(pair: Pair, responses: Responses) -> tuple[Fits, float]:
    """Return both fits, and crowd-kit's time divided by that of blindfuse."""
    own, table = pair.own().fit(responses), frame(responses)
    own_seconds = seconds(lambda: pair.own().fit(responses), repeats=3)
    started = time.perf_counter()
    try:
        other = pair.peer().fit(table)
    except KeyError:
        other = None
    return Fits(responses, own, other), (time.perf_counter() - started) / own_seconds


def _errors_and_agreement(fits: Fits, crowd: Crowd) -> list[str]:
    """Return the errors of both libraries and their agreement, in percent."""
    own = f"{_error(fits.own.labels_, crowd):.2f}"
    if fits.peer is None:
        return [own, "fails", "-"]
    labels = labels_of(fits.peer, fits.responses)
    equal = 100 * agreement(fits.own.labels_, labels)
    return [own, f"{_error(labels, crowd):.2f}", f"{equal:.2f}"]


def _likelihoods_per_label(pair: Pair, fits: Fits) -> list[str]:
    if pair.likelihoods is None:
        return ["-", "-"]
    return [f"{total / fits.responses.n_responses:.5f}" for total in pair.likelihoods(fits)]


def _error(labels: Labels, crowd: Crowd) -> float:
    return 100 * error_rate(labels[:, None] == crowd.responses.classes, crowd.truth)


def peak_memory(fit: Callable[[Any], None], table: Callable[[Responses], Any]) -> float:
    """Return the peak memory in MiB of a fit to Figure 3's setting with N = 100,000."""
    few, many = (table(FIGURE_3.draw(n_items, 0).responses) for n_items in (3000, 10**5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(few)  # import and compile
        return additional_memory(lambda: fit(many))


def ten_iterations(responses: Any) -> None:
    DawidSkene(start="shares", shrinkage=None, max_iter=10, tolerance=0).fit(responses)


def ten_iterations_of_crowd_kit(table: Any) -> None:
    crowdkit.DawidSkene(n_iter=10, tol=-np.inf).fit(table)


def cost() -> Section:
    """Dawid–Skene on complete responses: times within one run, memory in separate processes."""
    section = Section(
        f"{TITLE}: cost of Dawid–Skene, K = 5, N = 100,000, M = 10",
        ["measured", "crowd-kit / blindfuse"],
    )
    responses = FIGURE_3.draw(10**5, 0).responses
    table = frame(responses)
    renamed = table.rename(columns={"task": "item", "worker": "annotator"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crowd_kit_seconds = seconds(lambda: ten_iterations_of_crowd_kit(table), repeats=2)
        from_responses = crowd_kit_seconds / seconds(lambda: ten_iterations(responses))
        from_frame = crowd_kit_seconds / seconds(lambda: ten_iterations(renamed))
        default = seconds(lambda: crowdkit.DawidSkene().fit(table), repeats=1)
        with_defaults = default / seconds(lambda: DawidSkene().fit(responses))
        frame_with_defaults = default / seconds(lambda: DawidSkene().fit(renamed))
    own = in_child(peak_memory, ten_iterations, as_responses)
    peer = in_child(peak_memory, ten_iterations_of_crowd_kit, frame)
    section.rows = [
        ["time of ten iterations", f"{from_responses:.1f}"],
        ["time of ten iterations, both from a pandas table", f"{from_frame:.1f}"],
        ["time of a fit with default options", f"{with_defaults:.1f}"],
        [
            "time of a fit with default options, both from a pandas table",
            f"{frame_with_defaults:.1f}",
        ],
        [f"peak memory of ten iterations, {peer:.0f} / {own:.0f} MiB", f"{peer / own:.1f}"],
    ]
    section.checks = [
        Check("ten iterations: speedup", from_responses, 100, at_most=False),
        Check("fit with default options: speedup", with_defaults, 100, at_most=False),
        Check(
            "fit with default options, both from a pandas table: speedup",
            frame_with_defaults,
            100,
            at_most=False,
        ),
        Check("peak memory of blindfuse / crowd-kit's", own / peer, 0.2),
    ]
    return section
