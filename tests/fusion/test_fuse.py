"""fuse: the right depth without labels, said in words."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    BadLabels,
    BadParameter,
    DawidSkene,
    Fusion,
    LatentSubtypes,
    MixedMembership,
    Responses,
    Simulation,
    Wawa,
    fuse,
    next_labels,
    simulate,
)
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.held_out import FOLDS, Gain, HeldOut, LatentFit
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.fusion.selection import select_by_prediction, select_method
from blindfuse.fusion.tempering import keep_labels
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_shares
from experiments.settings import FIGURE_3, TABLE_1, TABLE_2, Setting
from tests.conftest import Crowds

GROUPS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
EVERY_CROWD = (
    *("adult", "barzan", "bird", "cf_amt_weather", "dog", "fact_eval", "judges_toxicity"),
    *("labelme", "product", "rte", "sp", "temp", "trec", "web", "zc_in", "zc_us"),
)


def copiers(seed: int, classes: int = 3, copying: float = 0.5) -> Simulation:
    rng = np.random.default_rng(seed)
    return simulate(10_000, 15, classes, rng, cliques=GROUPS, copying=copying)


class TestFuse:
    @pytest.mark.parametrize("setting", [TABLE_1, TABLE_2, FIGURE_3], ids=lambda s: s.name)
    def test_independent_annotators_are_fused_like_by_an_oracle(self, setting: Setting) -> None:
        errors = []
        for seed in range(10):
            simulation = setting.draw(10_000, seed)
            fusion = fuse(simulation.responses)
            assert fusion.method == "BlindEnsemble + EM"
            assert "independent" in fusion.why
            reached = fusion.model.log_likelihood(simulation.responses)
            np.testing.assert_allclose(fusion.history[-1], reached, rtol=1e-4)
            assert calibration_error(fusion.posteriors, simulation.truth) <= 0.03
            oracle = simulation.model.posteriors(simulation.responses)
            errors.append(
                [error_rate(found, simulation.truth) for found in (fusion.posteriors, oracle)]
            )
        fused, best = np.mean(errors, axis=0)
        assert fused <= 1.02 * best

    @pytest.mark.parametrize("missing", [0.96, 0.985])
    @pytest.mark.parametrize("seed", range(5))
    def test_nothing_is_held_out_where_errors_do_not_go_together(
        self, seed: int, missing: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A sparse crowd of independent annotators is taken for what it is, by EM from the vote.

        With three labels an item, two kinds of items predict better by what they learn of the rest.
        """
        drawn = simulate(3000, 200, 3, np.random.default_rng(seed), missing=missing, skill=0.2)
        monkeypatch.setattr("blindfuse.fusion.selection.HeldOut", None)
        fusion = fuse(drawn.responses)
        assert fusion.method == "DawidSkene"
        assert "go together no more than by chance" in fusion.why
        plain = DawidSkene().fit(drawn.responses)
        np.testing.assert_array_equal(fusion.posteriors, plain.posteriors_)

    def test_answers_are_held_out_where_errors_go_together(self, crowds: Crowds) -> None:
        assert "held-out answers" in fuse(crowds["dog"].responses).why
        assert "held-out answers" in fuse(crowds["rte"].responses).why

    def test_a_small_jury_does_not_follow_a_judge_and_its_twin(self) -> None:
        """Two that repeat each other look nearly perfect to EM; they answer as one here."""
        errors = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            truth = rng.random(600) < 0.6
            good = rng.random((600, 4)) < [0.9, 0.75, 0.75, 0.65]
            fair = np.where(good, truth[:, None], ~truth[:, None])
            lenient, strict = truth | (rng.random(600) < 0.8), truth & (rng.random(600) < 0.6)
            twin = np.where(rng.random(600) < 0.95, fair[:, 0], ~fair[:, 0])
            jury = np.column_stack([fair, lenient, strict])
            responses = Responses.from_matrix(np.column_stack([jury, twin]))
            fusion = fuse(responses)
            plain = DawidSkene().fit(responses)
            found = fusion.posteriors, plain.posteriors_, vote_shares(responses)
            errors.append([error_rate(beliefs, truth.astype(int)) for beliefs in found])
        fused, plain_error, vote = np.mean(errors, axis=0)
        assert fused < 0.75 * plain_error
        assert fused < 0.95 * vote

    @pytest.mark.parametrize(
        ("choose", "method"),
        [(None, "BlindEnsemble + EM"), (select_method("Wawa", Wawa), "Wawa")],
    )
    def test_new_items_are_labelled_by_the_same_rule(self, choose: Any, method: str) -> None:
        simulation = simulate(2000, 8, 3, np.random.default_rng(0), skill=0.3, missing=0.3)
        fusion = fuse(simulation.responses, selection=choose)
        assert fusion.method == method
        again = fusion.predict_proba(simulation.responses)
        np.testing.assert_allclose(again, fusion.posteriors, atol=1e-6)
        matrix = simulation.responses.matrix()[:50, ::-1]  # annotators in another order
        new = Responses.from_matrix(matrix, annotators=list(range(8))[::-1], classes=[0, 1, 2])
        np.testing.assert_allclose(fusion.predict_proba(new), again[:50], atol=1e-9)
        np.testing.assert_array_equal(fusion.predict(new), again[:50].argmax(axis=1))

    def test_labels_are_less_sure_where_pairs_speak_against_the_model(self, crowds: Crowds) -> None:
        """EM keeps its labels, and is believed less, on crowds that it does not fit."""
        for name in ("adult", "rte", "temp", "trec"):
            crowd = crowds[name]
            fusion = fuse(crowd.responses)
            assert fusion.method in ("BlindEnsemble + EM", MERGED_GROUPS)
            assert "less sure than the model says" in fusion.why
            plain = fusion.model.posteriors(crowd.responses)
            ours = calibration_error(fusion.posteriors, crowd.truth)
            assert ours < 0.75 * calibration_error(plain, crowd.truth)
            same = plain.argmax(axis=1) == fusion.posteriors.argmax(axis=1)
            assert same.mean() > 0.97
        for name in ("bird", "web"):
            assert "less sure" not in fuse(crowds[name].responses).why

    @pytest.mark.parametrize("seed", range(3))
    def test_groups_that_are_known_do_not_speak_against_the_model(self, seed: int) -> None:
        simulation = copiers(seed)
        fusion = fuse(simulation.responses)
        assert fusion.method == MERGED_GROUPS
        assert fusion.diagnostics.fit.misfit < 2.0  # those who copy do not speak against it
        assert "less sure" not in fusion.why
        assert calibration_error(fusion.posteriors, simulation.truth) <= 0.03

    def test_new_items_are_voted_on_where_the_vote_was_chosen(self, crowds: Crowds) -> None:
        for name in ("fact_eval", "sp"):
            fusion = fuse(crowds[name].responses)
            assert fusion.method == {"fact_eval": "MajorityVote", "sp": "LatentSubtypes"}[name]
            again = fusion.predict_proba(crowds[name].responses)
            np.testing.assert_allclose(again, fusion.posteriors, atol=1e-9)

    @pytest.mark.parametrize("seed", range(3))
    def test_labels_that_are_kept_stay_ahead_and_nothing_is_lost(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        beliefs, posteriors = rng.dirichlet(np.ones(4), size=(2, 500))
        kept = keep_labels(beliefs, posteriors)
        np.testing.assert_array_equal(kept.argmax(axis=1), beliefs.argmax(axis=1))
        np.testing.assert_allclose(kept.sum(axis=1), 1)
        same = beliefs.argmax(axis=1) == posteriors.argmax(axis=1)
        np.testing.assert_allclose(kept[same], posteriors[same], rtol=1e-12)
        differ = posteriors[~same].max(axis=1)
        assert np.all(kept[~same].max(axis=1) < differ)  # where two methods differ, less is sure

    def test_the_vote_keeps_its_labels_and_knows_its_doubts(self, crowds: Crowds) -> None:
        crowd = crowds["fact_eval"]
        fusion = fuse(crowd.responses)
        assert fusion.method == "MajorityVote"
        shares = vote_shares(crowd.responses)
        clear = shares.max(axis=1) == 1
        assert np.all(fusion.posteriors[clear].argmax(axis=1) == shares[clear].argmax(axis=1))
        mixed = MixedMembership().fit(crowd.responses).posteriors_
        agree = mixed.argmax(axis=1) == fusion.posteriors.argmax(axis=1)
        np.testing.assert_allclose(fusion.posteriors[agree], mixed[agree], atol=1e-12)

    def test_contested_items_of_real_crowds_are_not_believed_sure(self, crowds: Crowds) -> None:
        for name in ("cf_amt_weather", "dog", "sp", "zc_in", "zc_us"):
            crowd = crowds[name]
            fusion, kinds = fuse(crowd.responses), LatentSubtypes().fit(crowd.responses)
            assert fusion.method == "LatentSubtypes"
            np.testing.assert_array_equal(fusion.labels, kinds.labels_)
            ours = calibration_error(fusion.posteriors, crowd.truth)
            assert ours < 0.06
            assert ours < 0.7 * calibration_error(kinds.posteriors_, crowd.truth)

    def test_never_worse_than_the_vote_and_far_below_on_average(self, crowds: Crowds) -> None:
        gains, worse = [], []
        for name in EVERY_CROWD:
            crowd = crowds[name]
            found = vote_shares(crowd.responses), fuse(crowd.responses).posteriors
            vote, fused = (error_rate(beliefs, crowd.truth) for beliefs in found)
            gains.append(vote - fused)
            if fused > vote + max(0.003, 2 / np.count_nonzero(crowd.truth >= 0)):
                worse.append(name)
        assert worse == []
        assert np.mean(gains) >= 0.025

    @pytest.mark.parametrize("seed", range(3))
    def test_copiers_count_less(self, seed: int) -> None:
        simulation = copiers(seed)
        fusion = fuse(simulation.responses)
        plain = DawidSkene().fit(simulation.responses)
        assert fusion.method == MERGED_GROUPS
        assert fusion.model.weights is not None
        assert np.all(fusion.model.weights[:9] < 0.8)
        assert np.all(fusion.model.weights[9:] > 0.9)
        errors = [error_rate(p, simulation.truth) for p in (fusion.posteriors, plain.posteriors_)]
        assert errors[0] < errors[1]

    def test_what_no_model_explains_is_left_to_the_vote(self) -> None:
        """Answers follow one of several hidden questions that have nothing to do with the class."""
        rng = np.random.default_rng(0)
        n, m = 20_000, 15
        truth = rng.integers(2, size=n)
        hidden = rng.normal(size=(n, 4))
        tastes = rng.normal(size=(4, m)) * 0.8
        matrix = (
            (2 * truth - 1)[:, None] * 0.6 + hidden @ tastes + rng.normal(size=(n, m)) > 0
        ) * 1
        fusion = fuse(matrix)
        assert fusion.method == "MajorityVote"
        vote = error_rate(vote_shares(fusion.responses), truth)
        assert error_rate(fusion.posteriors, truth) <= vote + 1e-9

    @pytest.mark.parametrize("table", [[[0, 1], [1, 1], [0, 0]], [[0, -1, -1], [1, 1, -1]]])
    def test_too_little_to_go_by_is_left_to_the_vote(self, table: Any) -> None:
        fusion = fuse(table)
        assert fusion.method == "MajorityVote"
        assert "annotator" in fusion.why
        assert np.isfinite(fusion.posteriors).all()
        assert fusion.summary()

    def test_order_is_used_where_it_fits(self, crowds: Crowds) -> None:
        crowd = crowds["web"]
        fusion = fuse(crowd.responses, ordered=True)
        assert fusion.method == "KOS by thresholds"
        assert error_rate(fusion.posteriors, crowd.truth) < 0.1

    def test_order_is_not_used_where_it_does_not(self, crowds: Crowds) -> None:
        crowd = crowds["adult"]
        fusion = fuse(crowd.responses, ordered=True)
        assert "order of classes was not used" in fusion.why
        np.testing.assert_array_equal(fusion.labels, fuse(crowd.responses).labels)

    def test_gold_is_held(self) -> None:
        simulation = simulate(500, 5, 3, np.random.default_rng(1))
        gold = {n: int(simulation.truth[n]) for n in range(50)}
        fusion = fuse(simulation.responses, gold=gold)
        np.testing.assert_array_equal(fusion.labels[:50], simulation.truth[:50])
        np.testing.assert_array_equal(fusion.posteriors[:50].max(axis=1), 1)

    def test_another_rule_can_replace_this_one(self) -> None:
        def trust_nobody(context: FuseContext) -> Choice:
            table, found = context.responses, context.fit_dawid_skene()
            even = np.full((table.n_items, table.n_classes), 1 / table.n_classes)
            return Choice("nothing", "I trust nobody.", found.model_, even, np.empty(0))

        fusion = fuse(
            simulate(50, 4, 2, np.random.default_rng(0)).responses, selection=trust_nobody
        )
        assert (fusion.method, fusion.why) == ("nothing", "I trust nobody.")
        assert fusion.diagnostics.expected.error == pytest.approx(0.5)

    def test_the_same_seed_gives_the_same(self) -> None:
        responses = copiers(0).responses
        one, other = fuse(responses), fuse(responses, threads=1)
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.why == other.why

    def test_bad_input_is_refused(self) -> None:
        with pytest.raises(BadLabels, match="no label at all"):
            fuse(np.full((3, 3), -1))
        with pytest.raises(BadLabels, match="Gold items"):
            fuse([[0, 1, 0], [1, 1, 0]], gold={7: 1})


class TestHeldOut:
    def test_predictions_by_hand(self) -> None:
        """Two constant models, whose log-probabilities can be looked up."""
        responses = simulate(200, 5, 2, np.random.default_rng(0), missing=0.2).responses

        def constant(yes: float) -> Any:
            def fit(train: Responses) -> LatentFit:
                assert train.n_items == 200
                assert train.n_responses < responses.n_responses
                return LatentFit(np.ones((200, 1)), np.tile([[1 - yes], [yes]], (5, 1, 1)))

            return fit

        held = HeldOut(responses, np.random.default_rng(1))
        half, most = held.predict(constant(0.5)), held.predict(constant(0.8))
        ones = np.mean(responses.by_item.labels == 1)
        expected = np.log(0.5) - ones * np.log(0.8) - (1 - ones) * np.log(0.2)
        gain = held.gain(half, over=most)
        assert gain.mean == pytest.approx(expected)
        items = np.concatenate([cells[0] for _, cells in half.folds])
        differences = np.concatenate(half.known) - np.concatenate(most.known)
        assert len(differences) == responses.n_responses
        per_item = np.bincount(items, differences)
        error = np.sqrt(np.sum((per_item - per_item.mean()) ** 2)) / responses.n_responses
        assert gain.error == pytest.approx(error)
        assert held.gain(half, over=half).z == 0

    def test_the_true_model_predicts_best(self) -> None:
        simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
        flat = np.full((6, 3, 3), 1 / 3)

        def truth(train: Responses) -> LatentFit:
            return LatentFit(simulation.model.posteriors(train), simulation.model.confusions)

        def guess(train: Responses) -> LatentFit:
            return LatentFit(np.ones((train.n_items, 3)) / 3, flat)

        held = HeldOut(simulation.responses, np.random.default_rng(0))
        knows, guesses = held.predict(truth), held.predict(guess)
        assert held.gain(knows, over=guesses).z > 10
        assert len(knows.known) == FOLDS

    @pytest.mark.parametrize("seed", range(10))
    def test_no_fold_is_empty_however_few_answers_there_are(self, seed: int) -> None:
        responses = Responses.from_matrix(np.array([[0, 1, 1]]))
        held = HeldOut(responses, np.random.default_rng(seed))
        even = held.predict(lambda train: LatentFit(np.ones((1, 1)), np.full((3, 2, 1), 0.5)))
        assert held.gain(even, over=even) == Gain(0.0, 0.0)
        assert sum(map(len, even.known)) == 3

    def test_a_model_without_hope_is_fitted_once(self) -> None:
        simulation = simulate(3000, 6, 3, np.random.default_rng(2), missing=0.2)
        held = HeldOut(simulation.responses, np.random.default_rng(0))

        def fit(quality: float) -> Any:
            mixed = quality * simulation.model.confusions + (1 - quality) / 3
            return lambda train: LatentFit(simulation.model.posteriors(train), mixed)

        good, bad = held.predict(fit(1.0)), held.predict(fit(0.3))
        assert held.gain(bad, over=good).z < -5
        assert len(bad.known) == len(good.known) == 1
        assert held.gain(good, over=bad).z > 5
        assert len(bad.known) == len(good.known) == FOLDS


class TestNextLabels:
    @staticmethod
    def fusion() -> Fusion:
        return fuse(simulate(400, 12, 3, np.random.default_rng(0), missing=0.7).responses)

    def test_gains_are_mutual_information_by_hand(self) -> None:
        fusion = self.fusion()
        found = next_labels(fusion, 30)
        for item, annotator, gain in zip(found.items, found.annotators, found.gains, strict=True):
            belief, confusion = fusion.posteriors[item], fusion.model.confusions[annotator]
            expected = -np.sum(belief * np.log(np.maximum(belief, 1e-300)))
            for a in range(3):
                chance = confusion[a] @ belief
                after = confusion[a] * belief / chance
                expected += chance * np.sum(after * np.log(np.maximum(after, 1e-300)))
            assert gain == pytest.approx(expected, abs=1e-9)
        assert np.all(np.diff(found.gains) <= 1e-12)

    def test_nobody_is_asked_twice_or_too_often(self) -> None:
        fusion = self.fusion()
        found = next_labels(fusion, 100, most_per_annotator=20)
        asked = fusion.responses.matrix()[found.items, found.annotators]
        assert np.all(asked == -1)
        assert len(found) == len(set(found.items.tolist())) == 100
        assert np.bincount(found.annotators).max() <= 20

    def test_fewer_requests_where_nothing_is_left_to_ask(self) -> None:
        complete = fuse(simulate(30, 4, 2, np.random.default_rng(0)).responses)
        assert len(next_labels(complete, 10)) == 0

    def test_wrong_budgets_are_refused(self) -> None:
        fusion = self.fusion()
        with pytest.raises(BadParameter, match="budget"):
            next_labels(fusion, 0)
        with pytest.raises(BadParameter, match="most_per_annotator"):
            next_labels(fusion, 5, most_per_annotator=0)


def test_the_default_rule_is_public() -> None:
    simulation = TABLE_2.draw(1000, 0)
    one, other = (
        fuse(simulation.responses),
        fuse(simulation.responses, selection=select_by_prediction),
    )
    np.testing.assert_array_equal(one.posteriors, other.posteriors)
