"""Every reported number a second time, and the figures asked of intervals, fit and dependence."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control, median_abs_deviation, norm

from blindfuse import BadParameter, DawidSkene, Diagnostics, Model, Responses, diagnose, simulate
from blindfuse.diagnostics.correlated_errors import score_correlated_errors
from blindfuse.diagnostics.dependence import DISCOVERY, _stand_out
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2, Setting
from tests.conftest import Crowds

GROUPS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
PLANTED = {pair for group in GROUPS for pair in combinations(group, 2)}


def diagnosed(responses: Responses) -> tuple[Diagnostics, DawidSkene]:
    fitted = DawidSkene().fit(responses)
    return diagnose(responses, fitted.model_, fitted.posteriors_), fitted


def crowd(seed: int = 0, n: int = 400, m: int = 6, k: int = 3, missing: float = 0.3) -> Any:
    return simulate(n, m, k, np.random.default_rng(seed), skill=0.3, missing=missing)


class TestFit:
    def test_the_misfit_by_hand(self) -> None:
        responses = crowd().responses
        found, fitted = diagnosed(responses)
        matrix, K = responses.matrix(), 3
        confusions, prior = fitted.model_.confusions, fitted.model_.prior
        residuals, noises = np.zeros((6, 6)), np.zeros((6, 6))
        for i, j in combinations(range(6), 2):
            both = (matrix[:, i] >= 0) & (matrix[:, j] >= 0)
            table = np.zeros((K, K))
            for a, b in matrix[both][:, [i, j]].tolist():
                table[a, b] += 1
            expected = confusions[i] @ np.diag(prior) @ confusions[j].T
            residuals[i, j] = both.sum() * np.sum((table / both.sum() - expected) ** 2)
            labels = (matrix[:, [i, j]] >= 0).sum(axis=0)
            matched = (both.sum() / labels).sum() / (K + 1)
            noises[i, j] = (1 - matched) * (1 - np.sum(expected**2))
        assert found.fit.misfit == pytest.approx(residuals.sum() / noises.sum())
        own = residuals[2].sum() + residuals[:, 2].sum(), noises[2].sum() + noises[:, 2].sum()
        assert found.fit.by_annotator[2] == pytest.approx(own[0] / own[1])

    @pytest.mark.parametrize(
        "setting", [TABLE_1, TABLE_2, FIGURE_3, FIGURE_4], ids=lambda s: s.name
    )
    def test_a_model_that_holds_fits(self, setting: Setting) -> None:
        for n in (1_000, 10_000):
            found, _ = diagnosed(setting.draw(n, 0).responses)
            assert found.fit.misfit < 1
            assert "do not speak against" in found.fit.summary()

    @pytest.mark.parametrize("classes", [2, 3, 4])
    @pytest.mark.parametrize("seed", range(3))
    def test_noise_is_known_however_few_items_pairs_share(self, classes: int, seed: int) -> None:
        """One where pairs share few items; where they share all, a model fits some of the noise."""
        for annotators, missing, least in ((10, 0.0, 0.1), (40, 0.8, 0.9), (200, 0.97, 0.98)):
            rng = np.random.default_rng([seed, classes])
            drawn = simulate(3000, annotators, classes, rng, skill=0.3, missing=missing)
            found = DawidSkene(shrinkage=None).fit(drawn.responses)
            fit = diagnose(drawn.responses, found.model_, found.posteriors_).fit
            assert least < fit.misfit < 1.12

    @pytest.mark.parametrize("seed", range(12))
    def test_noise_is_known_where_only_some_items_are_looked_at(
        self, seed: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The model has matched the first moments of all items, not of these."""
        monkeypatch.setattr("blindfuse.diagnostics.pairs.MOST_ITEMS", 2_000)
        drawn = simulate(40_000, 10, 3, np.random.default_rng(seed), skill=0.3)
        found, _ = diagnosed(drawn.responses)
        assert 0.5 < found.fit.misfit < found.fit.by_chance == 1 + 3 * np.sqrt(2 / 20)
        assert found.fit.holds

    def test_a_wrong_model_does_not(self) -> None:
        simulation = crowd(1, n=5000)
        wrong = Model(np.tile(np.eye(3), (6, 1, 1)), np.full(3, 1 / 3), np.arange(6), np.arange(3))
        found = diagnose(simulation.responses, wrong, wrong.posteriors(simulation.responses))
        assert found.fit.misfit > 5


def contested(seed: int, share: float, n: int = 2000, m: int = 8) -> Responses:
    """Two classes; on a share of the items everybody is right in 60 %, on the others in 90 %."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    right = rng.random((n, m)) < np.where(rng.random(n) < share, 0.6, 0.9)[:, None]
    return Responses.from_matrix(np.where(right, truth[:, None], 1 - truth[:, None]))


class TestJointErrors:
    @pytest.mark.parametrize("threads", [1, 2])
    def test_the_score_by_hand(self, threads: int) -> None:
        responses = crowd(n=300).responses
        fitted = DawidSkene().fit(responses)
        matrix, confusions = responses.matrix(), fitted.model_.confusions
        scores = np.zeros(len(matrix))
        for n, row in enumerate(matrix):
            for k, belief in enumerate(fitted.posteriors_[n]):
                residuals = []
                for m in np.flatnonzero(row >= 0):
                    err = 1 - confusions[m, k, k]
                    residuals.append((float(row[m] != k) - err) / np.sqrt(err * (1 - err)))
                scores[n] += belief * sum(a * b for a, b in combinations(residuals, 2))
        found = score_correlated_errors(responses, fitted.model_, fitted.posteriors_, threads)
        assert found.z == pytest.approx(scores.sum() / np.sqrt(np.sum(scores**2)))

    @pytest.mark.parametrize("missing", [0.0, 0.5])
    @pytest.mark.parametrize("classes", [2, 3, 5])
    def test_independent_annotators_err_together_by_chance_only(
        self, classes: int, missing: float
    ) -> None:
        """Under the true model the score is a standard normal; fitting takes from it."""
        true, fitted = [], []
        for seed in range(40):
            drawn = simulate(
                2000, 8, classes, np.random.default_rng(seed), skill=0.3, missing=missing
            )
            responses, model = drawn.responses, drawn.model
            true.append(score_correlated_errors(responses, model, model.posteriors(responses)).z)
            own = DawidSkene().fit(responses)
            fitted.append(score_correlated_errors(responses, own.model_, own.posteriors_).z)
        assert abs(np.mean(true)) < 4 / np.sqrt(40)
        assert 0.6 < np.std(true) < 1.4
        assert np.mean(np.array(fitted) > 2) <= 0.1

    def test_contested_items_are_seen_the_better_the_more_there_are(self) -> None:
        medians = []
        for share in (0.0, 0.1, 0.3):
            found = []
            for seed in range(10):
                responses = contested(seed, share)
                own = DawidSkene().fit(responses)
                found.append(score_correlated_errors(responses, own.model_, own.posteriors_).z)
            medians.append(float(np.median(found)))
        assert abs(medians[0]) < 1.5
        assert medians[1] > 3
        assert medians[2] > medians[1]

    def test_an_item_of_one_answer_says_nothing(self) -> None:
        responses = Responses.from_matrix([[0, -1], [-1, 1], [1, -1]])
        model = Model(
            np.full((2, 2, 2), 0.5), np.array([0.5, 0.5]), responses.annotators, responses.classes
        )
        assert score_correlated_errors(responses, model, np.full((3, 2), 0.5)).z == 0


class TestDependence:
    @pytest.mark.parametrize("classes", [2, 3, 5])
    def test_planted_copiers_are_found(self, classes: int) -> None:
        recalls, false = [], []
        for copying in (0.3, 0.5):
            for seed in range(3):
                rng = np.random.default_rng(seed)
                simulation = simulate(10_000, 15, classes, rng, cliques=GROUPS, copying=copying)
                found, _ = diagnosed(simulation.responses)
                pairs = {tuple(sorted(pair)) for pair in found.dependence.pairs.tolist()}
                recalls.append(len(pairs & PLANTED) / len(PLANTED))
                false.append(len(pairs - PLANTED) / max(len(pairs), 1))
                assert found.dependence.votes < 14
        assert np.mean(recalls) >= 0.9
        assert np.mean(false) <= 0.1

    @pytest.mark.parametrize("seed", range(20))
    def test_who_stands_out_is_by_benjamini_and_hochberg(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        scores = np.concatenate([rng.normal(size=300), rng.normal(4, 1, size=seed), [50.0] * 2])
        spread = max(1.0, median_abs_deviation(scores, scale="normal"))
        chances = norm.sf((scores - np.median(scores)) / spread)
        expected = false_discovery_control(chances) <= DISCOVERY
        np.testing.assert_array_equal(_stand_out(scores), expected)
        assert expected.sum() >= 2

    def test_independent_annotators_do_not_stand_out(self) -> None:
        named = [len(diagnosed(crowd(seed, n=3000, m=10).responses)[0].dependence.pairs)
                 for seed in range(10)]  # fmt: skip
        assert np.mean(np.array(named) > 0) <= 0.2

    def test_the_excess_of_every_pair_by_hand(self) -> None:
        responses = crowd(4, n=60, m=5, missing=0.5).responses
        found, fitted = diagnosed(responses)
        matrix, model = responses.matrix(), fitted.model_
        assert found.dependence.looked_at.tolist() == list(range(5))
        few = 0
        for i, j in np.ndindex(5, 5):
            both = (matrix[:, i] >= 0) & (matrix[:, j] >= 0)
            if i == j or both.sum() < 20:
                few += i != j
                assert np.isnan(found.dependence.excesses[i, j])
                continue
            seen = np.mean(matrix[both, i] == matrix[both, j])
            expected = np.sum(model.confusions[i] * model.confusions[j] @ model.prior)
            by_hand = (seen - expected) / (1 - expected)
            assert found.dependence.excesses[i, j] == pytest.approx(by_hand)
        assert few

    @pytest.mark.parametrize("seed", range(3))
    def test_the_excess_of_pairs_that_stand_out_is_that_of_the_map(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        responses = simulate(3000, 15, 3, rng, cliques=GROUPS, copying=0.5).responses
        found = diagnosed(responses)[0].dependence
        assert len(found.pairs)
        np.testing.assert_array_equal(found.excesses[*found.pairs.T], found.excess)

    def test_copies_are_one_vote(self) -> None:
        """Ten exact copies, under a model that knows them as fair but not as copies."""
        column = np.random.default_rng(0).integers(2, size=2000)
        matrix = np.tile(column[:, None], (1, 10))
        model = Model(np.full((10, 2, 2), 0.5), np.full(2, 0.5), np.arange(10), np.arange(2))
        found = diagnose(Responses.from_matrix(matrix), model, np.full((2000, 2), 0.5))
        assert found.dependence.votes == pytest.approx(1.0)


class TestAnnotators:
    @pytest.mark.parametrize(
        ("k", "n", "m", "missing"),
        [(2, 500, 5, 0.0), (2, 2000, 8, 0.3), (3, 5000, 15, 0.7), (5, 2000, 10, 0.0)],
    )
    def test_intervals_cover_the_truth(self, k: int, n: int, m: int, missing: float) -> None:
        inside: list[bool] = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            simulation = simulate(n, m, k, rng, skill=0.2, missing=missing)
            found = diagnosed(simulation.responses)[0].annotators
            truth = simulation.model.accuracies
            inside += ((found.low <= truth) & (truth <= found.high)).tolist()
        assert 0.9 <= np.mean(inside) <= 0.98

    def test_with_a_known_truth_the_interval_is_that_of_a_proportion(self) -> None:
        """Posteriors of zero and one leave nothing missing: a binomial for each class."""
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1], 1000)
        right = rng.random(2000) < 0.8
        matrix = np.where(right, truth, 1 - truth)[:, None]
        shares = [right[:1000].mean(), right[1000:].mean()]
        confusion = np.array([[shares[0], 1 - shares[1]], [1 - shares[0], shares[1]]])
        model = Model(confusion[None], np.full(2, 0.5), np.arange(1), np.arange(2))
        found = diagnose(Responses.from_matrix(matrix), model, np.eye(2)[truth]).annotators
        variance = sum(s * (1 - s) / 1000 for s in shares) / 4
        variance += np.var(shares) / 2000
        assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 * variance**0.5, rel=0.02)

    def test_flags(self) -> None:
        rng = np.random.default_rng(1)
        good = simulate(3000, 6, 2, rng, skill=0.5)
        matrix = np.array(good.responses.matrix())
        spam = rng.integers(2, size=3000)
        against = np.where(rng.random(3000) < 0.85, 1 - good.truth, good.truth)
        constant = np.ones(3000, dtype=int)
        table = np.column_stack([matrix, spam, against, constant])
        found = diagnosed(Responses.from_matrix(table))[0].annotators
        assert found.spammer.tolist() == [False] * 6 + [True, False, False]
        assert found.adversary.tolist() == [False] * 7 + [True, False]
        assert found.constant.tolist() == [False] * 8 + [True]
        assert "Worse than chance: 7" in found.summary()

    def test_bias_and_worst_class_by_hand(self) -> None:
        responses = crowd(2).responses
        found, fitted = diagnosed(responses)
        matrix = responses.matrix()
        for m in range(6):
            answered = matrix[:, m] >= 0
            said = np.bincount(matrix[answered, m], minlength=3) / answered.sum()
            meant = fitted.posteriors_[answered].mean(axis=0)
            np.testing.assert_allclose(found.annotators.bias[m], said - meant)
            column = fitted.model_.confusions[m, :, found.annotators.worst[m]]
            recalls = np.diag(fitted.model_.confusions[m])
            assert recalls[found.annotators.worst[m]] == recalls.min()
            others = [a for a in range(3) if a != found.annotators.worst[m]]
            assert found.annotators.taken_for[m] == max(others, key=lambda a: column[a])


class TestItemsAndErrors:
    def test_items_by_hand(self) -> None:
        found, fitted = diagnosed(crowd(3).responses)
        for n, posterior in enumerate(fitted.posteriors_[:50]):
            best, second, _ = sorted(posterior, reverse=True)
            assert found.items.posterior[n] == best
            assert found.items.margin[n] == pytest.approx(best - second)
            entropy = -sum(p * np.log(p) for p in posterior if p > 0)
            assert found.items.entropy[n] == pytest.approx(entropy, abs=1e-12)
            assert found.items.needs[n] == (best < 0.9)

    @pytest.mark.parametrize("seed", range(5))
    def test_outvoted_items_by_hand(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        responses = simulate(1000, 7, 3, rng, missing=0.5).responses
        found, fitted = diagnosed(responses)
        labels = fitted.posteriors_.argmax(axis=1)
        for n, row in enumerate(responses.matrix().tolist()):
            votes = Counter(label for label in row if label >= 0)
            beaten = bool(votes) and votes[labels[n]] < max(votes.values())
            assert found.items.outvoted[n] == beaten
        assert found.items.outvoted.any()
        assert responses.responses_per_item.min() == 0

    @pytest.mark.parametrize("seed", range(5))
    def test_the_expected_error_is_about_the_error(self, seed: int) -> None:
        simulation = crowd(seed, n=5000)
        found, fitted = diagnosed(simulation.responses)
        error = np.mean(fitted.labels_ != simulation.truth)
        assert found.expected.error == pytest.approx(error, abs=0.015)

    @pytest.mark.parametrize("m", [3, 7, 15])
    def test_theorem_2_bounds_the_oracle(self, m: int) -> None:
        """All answers by enumeration-free simulation: the MAP error is below the bound."""
        simulation = simulate(20_000, m, 3, np.random.default_rng(m), skill=0.3)
        posteriors = simulation.model.posteriors(simulation.responses)
        found = diagnose(simulation.responses, simulation.model, posteriors).expected
        error = np.mean(posteriors.argmax(axis=1) != simulation.truth)
        assert error <= found.bound(m)
        total = 0.0
        for k, l in combinations(range(3), 2):
            product = np.sqrt(simulation.model.prior[k] * simulation.model.prior[l])
            for confusion in simulation.model.confusions:
                product *= np.sum(np.sqrt(confusion[:, k] * confusion[:, l]))
            total += product
        assert found.bound(m) == pytest.approx(min(1, total))
        target = found.bound(m) / 10
        more = found.more_annotators(target)
        assert more is not None
        assert found.bound(m + more) <= target < found.bound(m + more - 1)

    def test_targets_must_be_shares(self) -> None:
        with pytest.raises(BadParameter, match="target"):
            diagnosed(crowd().responses)[0].expected.more_annotators(0)


class TestIdentifiability:
    def test_parts_ranks_and_rare_classes(self) -> None:
        simulation = simulate(
            1000, 6, 3, np.random.default_rng(0), prior=[0.6, 0.39, 0.01], skill=0.4
        )
        matrix = np.array(simulation.responses.matrix())
        matrix[:500, :3] = -1
        matrix[500:, 3:] = -1
        responses = Responses.from_matrix(matrix, classes=[0, 1, 2])
        model = simulation.model
        found = diagnose(responses, model, model.posteriors(responses)).identifiability
        assert found.parts == 2
        assert found.rare.tolist() == [2]
        np.testing.assert_array_equal(found.ranks, 3)
        np.testing.assert_allclose(
            found.conditions, [np.linalg.cond(confusion) for confusion in model.confusions]
        )
        assert not found.holds
        assert "2 groups" in found.summary()

    def test_columns_that_are_alike_lower_the_rank(self) -> None:
        blind = np.array([[0.5, 0.5, 0.1], [0.4, 0.4, 0.1], [0.1, 0.1, 0.8]])
        sharp = 0.7 * np.eye(3) + 0.1
        model = Model(
            np.array([blind, sharp, sharp, sharp]), np.full(3, 1 / 3), np.arange(4), np.arange(3)
        )
        responses = simulate(100, 4, 3, np.random.default_rng(0)).responses
        found = diagnose(responses, model, model.posteriors(responses)).identifiability
        assert found.ranks.tolist() == [2, 3, 3, 3]
        assert (found.tell_all, found.parts, found.holds) == (3, 1, True)


@pytest.mark.parametrize(
    "table",
    [
        np.tile(np.arange(12)[:, None] % 3, (1, 4)),
        np.array([[0, 1], [1, 1], [0, 0]]),
        np.array([[0, 1, -1], [1, 1, -1], [0, 0, -1], [-1, -1, -1]]),
        np.array([[0, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    ],
    ids=["agreement", "two annotators", "silent ones", "no overlap"],
)
def test_odd_tables_are_diagnosed_without_warning(table: Any) -> None:
    found, _ = diagnosed(Responses.from_matrix(table))
    assert np.isfinite(found.fit.misfit)
    assert np.isfinite(found.annotators.low).all()
    assert np.isfinite(found.items.entropy).all()
    assert "nan" not in found.summary()


def test_one_class_of_several_is_diagnosed() -> None:
    found, _ = diagnosed(Responses.from_matrix(np.ones((10, 4), dtype=int), classes=[0, 1, 2]))
    assert "nan" not in found.summary()


@pytest.mark.parametrize("name", ["trec", "dog"])
def test_crowds_are_diagnosed(crowds: Crowds, name: str) -> None:
    found, _ = diagnosed(crowds[name].responses)
    assert np.isfinite(found.annotators.accuracy).all()
    assert found.summary().count("\n") == 5
