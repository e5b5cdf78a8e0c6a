"""`FusedModel`: the votes of an item and models of its annotators, combined into one posterior.

With v_k votes for class k of n responses, whose errors have the correlation ρ:

    n' = n / (1 + (n − 1) ρ)                      effective number of votes
    t_k = v_k / √n' + 0.6 q_k                     votes in standard deviations of a lead, and models
    b_k ∝ exp(1.7 t_k)                            if errors are correlated
    p_k ∝ ((1 − w) e_k + w b_k)^γ                 the posterior

e is the posterior of the paper's MAP combiner (20), which holds if annotators are conditionally
independent, q the mean of the posteriors of all models, and w the probability that errors are
correlated. If they are, models move a label by at most 0.6 standard deviations of the vote. The
power γ keeps the label and makes the mean error of the posteriors the expected one.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from blindfuse.kernels.threads import map_threads
from blindfuse.model.anchored_votes import ScoreRule
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import baseline_votes, most_likely, vote_posteriors
from blindfuse.model.shrinkage import implied_model
from blindfuse.responses.coding import positions
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Flags, Floats

MIN_POSTERIOR = 1e-12
"""Posteriors below this are raised to it before they are recalibrated."""
BLOCK_ITEMS = 10_000
"""Items that are recalibrated at once, so that they stay in the cache."""
REACH = 0.6
"""How far models may move a label, in standard deviations of the lead of a class."""
STEEPNESS = 1.7
"""Log odds per standard deviation of a lead: σ(1.7 t) is within 0.01 of the normal Φ(t)."""
TIE_BREAK = 1e-9
"""What the preference between classes adds to the votes: enough to break ties, nothing else."""


class Recalibration(NamedTuple):
    """Posteriors q = (1 − mixed) ((1 − certain) p^power/Σ p^power + certain · label) + mixed/K.

    They keep the most probable class. ``power`` below one and ``mixed`` above zero lower the
    confidence, ``power`` above one and ``certain`` above zero raise it.
    """

    power: float = 1.0
    certain: float = 0.0
    mixed: float = 0.0

    def __call__(self, posteriors: Floats, in_place: bool = False) -> Floats:
        """Return recalibrated posteriors ``[item, class]``."""
        corrected = posteriors if in_place else np.empty(posteriors.shape)

        def correct(begin: int, end: int) -> None:
            for start in range(begin, end, BLOCK_ITEMS):
                block = slice(start, min(start + BLOCK_ITEMS, end))
                corrected[block] = self._corrected(posteriors[block])

        map_threads(correct, len(posteriors), None, BLOCK_ITEMS)
        return corrected

    def undone(self, posteriors: Floats) -> Floats:
        """Return the posteriors before a power; those after checked labels are returned as are."""
        if self.certain or self.mixed or self.power == 1:
            return posteriors
        return Recalibration(1 / self.power)(posteriors)

    def _corrected(self, posteriors: Floats) -> Floats:
        corrected = np.log(np.maximum(posteriors, MIN_POSTERIOR))
        corrected *= self.power
        corrected -= corrected.max(axis=1, keepdims=True)
        np.exp(corrected, out=corrected)
        corrected /= corrected.sum(axis=1, keepdims=True)
        if self.certain:
            corrected *= 1 - self.certain
            corrected[np.arange(len(corrected)), most_likely(posteriors)] += self.certain
        return np.asarray((1 - self.mixed) * corrected + self.mixed / corrected.shape[1])


UNCHANGED = Recalibration()
"""Posteriors as they are."""


def power_for_error(posteriors: Floats, error: float) -> Recalibration:
    """The power after which the mean of 1 − confidence is ``error``, as far as a power can.

    The mean falls with the power, so 30 halvings of the range of log power, from 0.001 to 100, find
    it. With the logarithms d_k ≤ 0 relative to the largest posterior, the confidence is
    1/Σ_k exp(power · d_k).
    """
    logs = np.log(np.maximum(posteriors, MIN_POSTERIOR))
    logs -= logs.max(axis=1, keepdims=True)
    low, high = np.log([1e-3, 1e2])
    for _ in range(30):
        middle = (low + high) / 2
        if np.mean(1 - 1 / np.exp(np.exp(middle) * logs).sum(axis=1)) > error:
            low = middle
        else:
            high = middle
    return Recalibration(float(np.exp((low + high) / 2)))


def mean_error(posteriors: Floats) -> float:
    """The mean over items of 1 − confidence; zero without items."""
    return float(1 - posteriors.max(axis=1).mean()) if len(posteriors) else 0.0


@dataclass(frozen=True, eq=False)
class FusedModel(Model):
    """A model of the annotators, and how far it may overrule their votes.

    Attributes
    ----------
    others
        further models of the same annotators, which are averaged with this one. With w = 1 they are
        all models of q, and this one only describes the annotators.
    dependence
        w, the probability that errors are correlated. With zero, posteriors are the model's.
    correlation
        ρ, the mean excess agreement of pairs of annotators.
    reach
        what models may add to the votes if errors are correlated; zero leaves the votes alone.
    recalibration
        the last step, which keeps the label: the power γ, and what checked labels add to it.
    preference ``[class]``
        breaks ties; larger for classes that are reported more often.
    score_rule
        how scores are read as votes; None if annotators do not report scores.
    vote_weights ``[annotator]``
        what the vote of each annotator counts; None for one each.
    """

    others: tuple[Model, ...] = ()
    dependence: float = 0.0
    correlation: float = 0.0
    reach: float = REACH
    recalibration: Recalibration = UNCHANGED
    preference: Floats | None = None
    score_rule: ScoreRule | None = None
    vote_weights: Floats | None = None

    @classmethod
    def of(cls, model: Model, **parameters: Any) -> "FusedModel":
        """Return this model with further ``parameters``."""
        names = model.annotators, model.classes, model.weights, model.symbols, model.scale
        return cls(model.confusions, model.prior, *names, **parameters)

    def described_by(self, model: Model) -> "FusedModel":
        """Return the same combination with another description of the annotators."""
        return replace(self, confusions=model.confusions, prior=model.prior)

    @property
    def independent(self) -> Model:
        """The confusion matrices and the prior alone: the model of independent annotators."""
        names = self.annotators, self.classes, self.weights, self.symbols, self.scale
        return Model(self.confusions, self.prior, *names)

    def posteriors(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> Floats:
        """Return the posteriors ``[item, class]``; without responses, they are the prior."""
        known = responses.recoded(self.annotators, self.classes, self.symbols)
        return self.recalibrate(self.combined(known, rule, threads), known.responses_per_item > 0)

    def combined(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> Floats:
        """Return the posteriors before recalibration, of annotators in the order of the model."""
        return self.combine(responses, *self.parts(responses, rule, threads))

    def parts(
        self, responses: Responses, rule: Rule = "map", threads: int | None = None
    ) -> tuple[Floats | None, Floats | None]:
        """Return e and q ``[item, class]``, or None for what does not count."""
        e = super().posteriors(responses, rule, threads) if self.dependence < 1 else None
        if self.dependence == 0 or self.reach == 0:
            return e, None
        found = [other.posteriors(responses, rule, threads) for other in self.others]
        found += [] if e is None else [e]
        return e, np.asarray(sum(found) / len(found))

    def combine(self, responses: Responses, by_model: Floats | None, mean: Floats | None) -> Floats:
        """Return (1 − w) e + w b ``[item, class]``, given e and q."""
        if by_model is not None and self.dependence == 0:
            return by_model
        combined = self.near_votes(*self.votes(responses), mean)
        if by_model is not None:
            combined = (1 - self.dependence) * by_model + self.dependence * combined
        combined[responses.responses_per_item == 0] = self.prior
        return combined

    def votes(self, responses: Responses) -> tuple[Floats, Floats]:
        """Return the votes ``[item, class]`` and their number ``[item]``."""
        return baseline_votes(responses, self.score_rule, self.vote_weights)

    def near_votes(self, votes: Floats, number: Floats, mean: Floats | None) -> Floats:
        """Return b ``[item, class]``, given the votes, their number ``[item]`` and q."""
        n = np.maximum(number, 1.0)[:, None]
        effective = n / (1 + (n - 1) * self.correlation)
        preferred = votes if self.preference is None else votes + TIE_BREAK * self.preference
        leads = preferred / np.sqrt(effective)
        if mean is not None:
            leads = leads + self.reach * mean
        return np.asarray(softmax(STEEPNESS * leads, axis=1))

    def recalibrate(self, combined: Floats, responded: Flags) -> Floats:
        """Give the posteriors their final confidence, in place, where an item has responses."""
        if self.recalibration != UNCHANGED:
            unknown = combined[~responded]
            self.recalibration(combined, in_place=True)
            combined[~responded] = unknown
        return combined

    def for_annotators(
        self,
        annotators: Array,
        classes: Array,
        symbols: Array | None = None,
    ) -> "FusedModel":
        names = annotators, classes, symbols
        order, at = positions(classes, self.classes), positions(annotators, self.annotators)
        weights = self.vote_weights
        return FusedModel.of(
            super().for_annotators(*names),
            others=tuple(other.for_annotators(*names) for other in self.others),
            preference=None if self.preference is None else self.preference[order],
            score_rule=self._score_rule_of(at),
            vote_weights=None if weights is None else np.where(at < 0, 1.0, weights[at]),
            **self._numbers(),
            recalibration=self.recalibration,
        )

    def with_text_names(self) -> "FusedModel":
        named = super().with_text_names()
        assert isinstance(named, FusedModel)
        return replace(named, others=tuple(other.with_text_names() for other in self.others))

    def _score_rule_of(self, at: Codes) -> ScoreRule | None:
        """How the scores of annotators at these positions are read; new ones (−1) like the mean."""
        if self.score_rule is None:
            return None
        values = self.score_rule.values[at]
        values[at < 0] = self.score_rule.values.mean(axis=0)
        return ScoreRule(values, self.score_rule.cuts)

    def _numbers(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in ("dependence", "correlation", "reach")}

    def _saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        header, arrays = super()._saved()
        header |= self._numbers() | {"recalibration": list(self.recalibration)}
        for number, other in enumerate(self.others):
            arrays |= {f"confusions_{number}": other.confusions, f"prior_{number}": other.prior}
        for name in ("preference", "vote_weights"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        if self.score_rule is not None:
            arrays |= {"score_values": self.score_rule.values, "score_cuts": self.score_rule.cuts}
        return header, arrays

    @classmethod
    def from_saved(
        cls, model: Model, header: dict[str, Any], arrays: dict[str, Any]
    ) -> "FusedModel":
        """Return the fused model of a file, given the model that it extends."""
        others: list[Model] = []
        while f"confusions_{len(others)}" in arrays:
            number = len(others)
            parameters = arrays[f"confusions_{number}"], arrays[f"prior_{number}"]
            others.append(replace(model, confusions=parameters[0], prior=parameters[1]))
        rule = None
        if "score_values" in arrays:
            rule = ScoreRule(arrays["score_values"], arrays["score_cuts"])
        return cls.of(
            model,
            others=tuple(others),
            preference=arrays.get("preference"),
            vote_weights=arrays.get("vote_weights"),
            score_rule=rule,
            recalibration=Recalibration(*header["recalibration"]),
            **{name: float(header[name]) for name in ("dependence", "correlation", "reach")},
        )


def majority_vote(
    responses: Responses, votes: Floats, threads: int | None = None, **parameters: Any
) -> FusedModel:
    """Return the ``votes[item, class]`` alone, with the confusion matrices that they imply.

    Ties go to the class that is reported more often.
    """
    shares = vote_posteriors(responses, threads)
    shares[shares.sum(axis=1) == 0] = 1 / shares.shape[1]
    model = implied_model(responses, shares, threads)
    if responses.anchor.kind == "order":
        parameters["score_rule"] = ScoreRule.of(responses)
    preference = vote_preference(votes)
    return FusedModel.of(model, dependence=1.0, reach=0.0, preference=preference, **parameters)


def vote_preference(votes: Floats) -> Floats:
    """Return the shares of all votes ``[class]``; of equal ones, the first is preferred."""
    totals = votes.sum(axis=0)
    return np.asarray(totals / max(totals.sum(), 1.0) - 1e-6 * np.arange(len(totals)))
