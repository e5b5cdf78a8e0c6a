"""One battery of checks over every method, and what is particular to some."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import blindfuse
from blindfuse import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    BadLabels,
    BadParameter,
    BayesianDawidSkene,
    BlindEnsemble,
    DawidSkene,
    EigenRatio,
    LatentSubtypes,
    MajorityVote,
    MixedMembership,
    NotConverged,
    NotIdentifiable,
    OneCoin,
    Oracle,
    RankTooLow,
    Responses,
    SingleBest,
    Spectral,
    SpectralMetaLearner,
    TriangularEstimation,
    Wawa,
    ZeroBasedSkill,
    simulate,
)
from blindfuse.estimators.base import Estimator, NotFitted
from blindfuse.estimators.em import EMEstimator, EMStart, make_e_step
from blindfuse.estimators.signs import products_of
from blindfuse.kernels.posteriors import LEAST
from blindfuse.metrics import confusion_error, error_rate
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import learned_pseudo_counts
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2, Setting
from tests.conftest import Crowds

BINARY: list[type[Estimator]] = [EigenRatio, SpectralMetaLearner, TriangularEstimation]
METHODS: list[type[Estimator]] = [
    MajorityVote,
    Wawa,
    ZeroBasedSkill,
    DawidSkene,
    OneCoin,
    BayesianDawidSkene,
    BlindEnsemble,
    Spectral,
    LatentSubtypes,
    MixedMembership,
    KOS,
    GLAD,
    MACE,
    MMSR,
    *BINARY,
]
NEED_OVERLAP: list[type[Estimator]] = [BlindEnsemble, Spectral, MMSR, *BINARY]
EM_METHODS: list[type[EMEstimator]] = [DawidSkene, OneCoin, BayesianDawidSkene, MACE]

every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(autouse=True)
def _patience() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        yield


def classes_of(method: type[Estimator]) -> int:
    return 2 if method in BINARY else 3


def crowd(seed: int = 0, n: int = 1500, k: int = 3, missing: float = 0.3) -> Any:
    return simulate(n, 7, k, np.random.default_rng(seed), skill=0.3, missing=missing)


@pytest.mark.parametrize("filled", [0.01, 0.3, 1.0])
def test_products_of_tables_are_the_same_dense_and_sparse(filled: float) -> None:
    rng = np.random.default_rng(0)
    dense = rng.choice([-1.0, 1.0], size=(45_000, 12)) * (rng.random((45_000, 12)) < filled)
    np.testing.assert_array_equal(products_of(csr_array(dense)), dense.T @ dense)


class TestBattery:
    def test_every_public_method_is_covered(self) -> None:
        public = {getattr(blindfuse, name) for name in blindfuse.__all__}
        methods = {one for one in public if isinstance(one, type) and issubclass(one, Estimator)}
        assert methods == set(METHODS) | {Oracle, SingleBest}

    @every_method
    @pytest.mark.parametrize("missing", [0.0, 0.5])
    def test_posteriors_are_probabilities_and_labels_their_largest(
        self, method: type[Estimator], missing: float
    ) -> None:
        simulation = crowd(missing=missing, k=classes_of(method))
        fitted = method().fit(simulation.responses)
        assert fitted.posteriors_.shape == (1500, classes_of(method))
        np.testing.assert_allclose(fitted.posteriors_.sum(axis=1), 1)
        chosen = fitted.posteriors_[np.arange(1500), fitted.labels_]
        np.testing.assert_array_equal(chosen, fitted.posteriors_.max(axis=1))
        assert error_rate(fitted.posteriors_, simulation.truth) < 0.25

    @every_method
    def test_predicting_what_was_fitted_gives_the_same(self, method: type[Estimator]) -> None:
        responses = crowd(1, k=classes_of(method)).responses
        fitted = method().fit(responses)
        np.testing.assert_array_equal(method().fit_predict(responses), fitted.labels_)
        if method is KOS:  # its messages leave the item itself out, which new items cannot
            assert np.mean(fitted.predict(responses) == fitted.labels_) > 0.98
            return
        np.testing.assert_array_equal(fitted.predict(responses), fitted.labels_)
        np.testing.assert_allclose(fitted.predict_proba(responses), fitted.posteriors_)

    @every_method
    def test_permuting_the_table_permutes_the_result(self, method: type[Estimator]) -> None:
        K = classes_of(method)
        responses = crowd(2, k=K, missing=0.0).responses
        rng = np.random.default_rng(0)
        items, annotators, classes = (rng.permutation(size) for size in (1500, 7, K))
        moved = responses.select_items(items).select_annotators(annotators)
        moved = moved.recoded(moved.annotators, responses.classes[classes])
        one, other = method().fit(responses), method().fit(moved)
        np.testing.assert_allclose(other.posteriors_, one.posteriors_[items][:, classes], atol=1e-6)
        np.testing.assert_array_equal(other.labels_, one.labels_[items])

    @every_method
    def test_odd_tables_give_a_label_for_every_item(self, method: type[Estimator]) -> None:
        truth = np.arange(12) % classes_of(method)
        agree = np.tile(truth[:, None], (1, 4))
        lonely = np.full((12, 5), -1)
        lonely[:, :4] = agree
        lonely[0, 4] = 1
        single = agree.copy()
        single[5, 1:] = -1
        silent = np.vstack([agree, np.full((1, 4), -1)])
        for table in (agree, lonely, single, silent):
            fitted = method().fit(table)
            assert np.isfinite(fitted.posteriors_).all()
            np.testing.assert_array_equal(fitted.labels_[:12], truth)

    @every_method
    def test_one_class_reported_of_several(self, method: type[Estimator]) -> None:
        classes = list(range(classes_of(method)))
        fitted = method().fit(Responses.from_matrix(np.ones((12, 5), dtype=int), classes=classes))
        assert np.isfinite(fitted.posteriors_).all()
        np.testing.assert_array_equal(fitted.labels_, 1)

    @every_method
    def test_a_million_items_with_one_label_each(self, method: type[Estimator]) -> None:
        """Their label is the one that was given, unless the method says who can."""
        rng = np.random.default_rng(0)
        annotators, labels = rng.integers(7, size=(2, 10**6))
        responses = Responses.from_codes(
            np.arange(10**6),
            annotators,
            labels % classes_of(method),
            items=np.arange(10**6),
            annotators=np.arange(7),
            classes=np.arange(classes_of(method)),
        )
        if method in NEED_OVERLAP:
            with pytest.raises(NotIdentifiable, match=r"MajorityVote|majority vote"):
                method().fit(responses)
            return
        fitted = method().fit(responses)
        assert np.isfinite(fitted.posteriors_).all()
        np.testing.assert_array_equal(fitted.labels_, labels % classes_of(method))

    @every_method
    def test_bad_input_is_refused(self, method: type[Estimator]) -> None:
        for data, words in (
            (np.zeros((4, 3), dtype=int), "at least two classes"),
            (np.full((4, 3), -1), "no label at all"),
            ([[0, 1, 2.5]], "not a whole number"),
        ):
            with pytest.raises(BadLabels, match=words):
                method().fit(data)
        with pytest.raises(NotFitted, match="Call fit first"):
            method().predict([[0, 1, 0]])
        with pytest.raises(BadParameter, match="no parameter 'colour'"):
            method().set_params(colour="red")

    @every_method
    def test_parameters_round_trip(self, method: type[Estimator]) -> None:
        one = method()
        assert method(**one.get_params()).get_params() == one.get_params()
        assert repr(one) == f"{method.__name__}()"


class TestTwoClasses:
    @pytest.mark.parametrize("method", BINARY)
    def test_more_classes_are_refused_with_the_name_of_a_method_that_can(self, method: Any) -> None:
        with pytest.raises(BadLabels, match=r"two classes, not 3.*BlindEnsemble"):
            method().fit(crowd(k=3).responses)

    @pytest.mark.parametrize("method", NEED_OVERLAP)
    def test_too_little_overlap_is_refused(self, method: Any) -> None:
        for table in (
            [[0, 1, -1, -1], [1, 1, -1, -1], [-1, -1, 0, 0], [-1, -1, 1, 0]],
            [[0, 1], [1, 1], [0, 0]],
        ):
            with pytest.raises(NotIdentifiable, match=r"MajorityVote|majority vote"):
                method().fit(table)

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("missing", [0.0, 0.4])
    def test_skills_are_found(self, seed: int, missing: float) -> None:
        """θ = E[answer × truth] where annotators are equally good in both classes."""
        rng = np.random.default_rng(seed)
        accuracy = rng.uniform(0.55, 0.95, size=7)
        truth = rng.integers(2, size=100_000)
        right = rng.random((100_000, 7)) < accuracy
        matrix = np.where(right, truth[:, None], 1 - truth[:, None])
        matrix[rng.random(matrix.shape) < missing] = -1
        found = TriangularEstimation().fit(matrix).skills_
        np.testing.assert_allclose(found, 2 * accuracy - 1, atol=0.03)
        learner = SpectralMetaLearner().fit(matrix)
        np.testing.assert_allclose(learner.model_.accuracies, accuracy, atol=0.02)
        weights = EigenRatio().fit(matrix).weights_
        np.testing.assert_array_equal(np.argsort(weights), np.argsort(accuracy))

    @pytest.mark.parametrize("seed", range(4))
    def test_the_meta_learner_finds_imbalance_and_both_accuracies(self, seed: int) -> None:
        simulation = simulate(
            300_000, 6, 2, np.random.default_rng(seed), prior=[0.8, 0.2], missing=0.2, skill=0.2
        )
        fitted = SpectralMetaLearner().fit(simulation.responses)
        np.testing.assert_allclose(fitted.model_.prior, [0.8, 0.2], atol=0.03)
        np.testing.assert_allclose(fitted.model_.confusions, simulation.model.confusions, atol=0.05)

    def test_an_adversary_weighs_against(self) -> None:
        simulation = simulate(5000, 7, 2, np.random.default_rng(0), skill=0.4, adversaries=0.29)
        for method in (TriangularEstimation, EigenRatio):
            fitted = method().fit(simulation.responses)
            assert np.all(fitted.weights_[:5] > 0)
            assert np.all(fitted.weights_[5:] < 0)
            assert error_rate(fitted.posteriors_, simulation.truth) < 0.05


class TestWithTheTruth:
    """Methods for evaluation only, which the battery leaves out because they need the truth."""

    def test_the_oracle_of_a_simulation_is_its_model(self) -> None:
        simulation = crowd(1)
        for rule in ("map", "ml"):
            fitted = Oracle(model=simulation.model, rule=rule).fit(simulation.responses)
            expected = simulation.model.posteriors(simulation.responses, rule)
            np.testing.assert_allclose(fitted.posteriors_, expected)

    def test_the_scored_oracle_counts_answers_against_the_truth(self) -> None:
        simulation = crowd(2)
        truth = dict(enumerate(simulation.truth.tolist()))
        model = Oracle(truth=truth).fit(simulation.responses).model_
        matrix = simulation.responses.matrix()
        for m in range(7):
            for k in range(3):
                said = matrix[(simulation.truth == k) & (matrix[:, m] >= 0), m]
                shares = np.bincount(said, minlength=3) / len(said)
                np.testing.assert_allclose(model.confusions[m, :, k], shares)
        np.testing.assert_allclose(model.prior, np.bincount(simulation.truth) / 1500)

    def test_the_single_best_answers_where_it_can(self) -> None:
        simulation = crowd(3)
        truth = dict(enumerate(simulation.truth.tolist()))
        fitted = SingleBest(truth=truth).fit(simulation.responses)
        matrix = simulation.responses.matrix()
        right = [
            np.mean(matrix[matrix[:, m] >= 0, m] == simulation.truth[matrix[:, m] >= 0])
            for m in range(7)
        ]
        np.testing.assert_allclose(fitted.accuracies_, right)
        ranking = np.argsort(right)[::-1]
        for row, label in zip(matrix, fitted.labels_, strict=True):
            said = [row[m] for m in ranking if row[m] >= 0]
            assert not said or said[0] == label

    def test_they_say_what_they_need(self) -> None:
        with pytest.raises(BadParameter, match="either model= or truth="):
            Oracle().fit(crowd().responses)
        with pytest.raises(BadParameter, match="needs truth="):
            SingleBest().fit(crowd().responses)


class TestKOS:
    def test_one_round_of_messages_by_hand(self) -> None:
        """Messages exclude what came from their receiver; written out with loops."""
        responses = simulate(30, 5, 2, np.random.default_rng(0), missing=0.3).responses
        signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
        draws = np.random.default_rng(4).normal(1.0, 1.0, size=responses.n_responses)
        y = np.zeros((30, 5))
        y[signs != 0] = draws
        x = np.zeros((30, 5))
        new = np.zeros((30, 5))
        for i, j in zip(*np.nonzero(signs), strict=True):
            x[i, j] = sum(signs[i, k] * y[i, k] for k in range(5) if k != j)
        for i, j in zip(*np.nonzero(signs), strict=True):
            new[i, j] = sum(signs[k, j] * x[k, j] for k in range(30) if k != i)
        expected = (signs * new).sum(axis=1) > 0
        fitted = KOS(rounds=1, seed=4).fit(responses)
        answered = responses.responses_per_item > 1
        np.testing.assert_array_equal(fitted.labels_[answered], expected[answered])

    def test_the_svd_variant_is_the_leading_singular_vector(self) -> None:
        responses = crowd(3, n=300, k=2).responses
        signs = np.where(responses.matrix() < 0, 0, 2 * responses.matrix() - 1)
        left, _, right = np.linalg.svd(signs - signs.mean(axis=0), full_matrices=False)
        turn = 1 if np.sum(right[0][right[0] >= 0] ** 2) >= 0.5 else -1
        fitted = KOS(variant="svd").fit(responses)
        np.testing.assert_array_equal(fitted.labels_, turn * left[:, 0] > 0)

    @pytest.mark.parametrize(("name", "percent"), [("bird", 11.11), ("rte", 39.75), ("web", 42.93)])
    def test_published_svd(self, crowds: Crowds, name: str, percent: float) -> None:
        crowd = crowds[name]
        found = KOS(variant="svd", ordered=True).fit(crowd.responses).posteriors_
        assert 100 * error_rate(found, crowd.truth) == pytest.approx(percent, abs=0.15)

    @pytest.mark.parametrize("seed", range(3))
    def test_order_is_worth_much_on_web(self, crowds: Crowds, seed: int) -> None:
        crowd = crowds["web"]
        found = KOS(ordered=True, seed=seed).fit(crowd.responses).posteriors_
        assert 100 * error_rate(found, crowd.truth) < 7

    def test_wrong_parameters_are_named(self) -> None:
        with pytest.raises(BadParameter, match="variant"):
            KOS(variant="eig").fit(crowd().responses)  # type: ignore[arg-type]
        with pytest.raises(BadParameter, match="rounds"):
            KOS(rounds=0).fit(crowd().responses)


class TestGLAD:
    @staticmethod
    def draw(seed: int, n: int = 3000, m: int = 12, k: int = 3) -> tuple[Any, ...]:
        """Answers by GLAD's own model: matrix, truth, α and log β."""
        rng = np.random.default_rng(seed)
        skills, log_clarities = rng.normal(1, 1, size=m), rng.normal(1, 1, size=n)
        truth = rng.integers(k, size=n)
        right = rng.random((n, m)) < 1 / (1 + np.exp(-np.exp(log_clarities)[:, None] * skills))
        wrong = (truth[:, None] + rng.integers(1, k, size=(n, m))) % k
        matrix = np.where(right, truth[:, None], wrong)
        matrix[rng.random((n, m)) < 0.2] = -1
        return matrix, truth, skills, log_clarities

    @pytest.mark.parametrize("seed", range(4))
    def test_the_posterior_never_falls(self, seed: int) -> None:
        fitted = GLAD(tolerance=0.0, max_iter=60).fit(self.draw(seed, n=300)[0])
        history = fitted.log_posteriors_
        assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
        assert history[-1] > history[0]

    def test_the_posterior_by_hand(self) -> None:
        """At the start, where every α and log β is one: the formula, with loops."""
        matrix = self.draw(0, n=50)[0]
        sigma = 1 / (1 + np.exp(-np.e))
        total = 0.0
        for row in matrix.tolist():
            joint = np.full(3, 1 / 3)
            for label in row:
                if label >= 0:
                    joint *= np.where(np.arange(3) == label, sigma, (1 - sigma) / 2)
            total += np.log(joint.sum())
        assert GLAD(max_iter=2).fit(matrix).log_posteriors_[0] == pytest.approx(total)

    @pytest.mark.parametrize("seed", range(3))
    def test_skills_and_difficulties_are_found(self, seed: int) -> None:
        matrix, truth, skills, log_clarities = self.draw(seed)
        fitted = GLAD().fit(matrix)
        assert np.corrcoef(fitted.skills_, skills)[0, 1] > 0.95
        assert np.corrcoef(-np.log(fitted.difficulties_), log_clarities)[0, 1] > 0.4
        vote = MajorityVote().fit(matrix)
        assert error_rate(fitted.posteriors_, truth) < error_rate(vote.posteriors_, truth)

    def test_gold_is_held_and_moves_skills(self) -> None:
        matrix, truth, skills, _ = self.draw(5, n=300, m=5)
        known = {item: int(truth[item]) for item in range(200)}
        blind, taught = GLAD().fit(matrix), GLAD().fit(matrix, gold=known)
        np.testing.assert_array_equal(taught.labels_[:200], truth[:200])
        np.testing.assert_array_equal(taught.posteriors_[:200].max(axis=1), 1)
        distances = [np.abs(fitted.skills_ - skills).mean() for fitted in (blind, taught)]
        assert distances[1] < distances[0]

    def test_class_shares_are_learned_where_asked(self) -> None:
        simulation = simulate(4000, 8, 2, np.random.default_rng(0), prior=[0.9, 0.1], skill=0.4)
        fitted = GLAD(class_prior="estimated").fit(simulation.responses)
        np.testing.assert_allclose(fitted.prior_, [0.9, 0.1], atol=0.03)


class TestMMSR:
    @staticmethod
    def draw(seed: int, skills: Any, n: int = 20_000, k: int = 4) -> Any:
        """One-coin answers by annotators of these skills, a third missing."""
        rng = np.random.default_rng(seed)
        right = ((k - 1) * np.asarray(skills) + 1) / k
        truth = rng.integers(k, size=n)
        wrong = (truth[:, None] + rng.integers(1, k, size=(n, len(right)))) % k
        matrix = np.where(rng.random(wrong.shape) < right, truth[:, None], wrong)
        matrix[rng.random(wrong.shape) < 0.33] = -1
        return matrix, truth

    @pytest.mark.parametrize("seed", range(4))
    def test_skills_are_found_adversaries_too(self, seed: int) -> None:
        skills = np.array([0.9, 0.7, 0.5, 0.6, 0.8, 0.4, 0.5, -0.3])
        matrix, truth = self.draw(seed, skills)
        fitted = MMSR().fit(matrix)
        np.testing.assert_allclose(fitted.skills_, skills, atol=0.04)
        vote = MajorityVote().fit(matrix)
        assert error_rate(fitted.posteriors_, truth) < error_rate(vote.posteriors_, truth)

    @pytest.mark.parametrize("seed", range(3))
    def test_trimming_withstands_two_who_copy_each_other(self, seed: int) -> None:
        skills = np.linspace(0.4, 0.8, 12)
        matrix, _ = self.draw(seed, skills)
        matrix[:, 1] = matrix[:, 0]
        errors = [
            np.abs(MMSR(trim=trim).fit(matrix).skills_[2:] - skills[2:]).mean()
            for trim in (0.25, 0.0)
        ]
        assert errors[0] < errors[1]
        assert errors[0] < 0.03

    def test_a_wrong_trim_is_refused(self) -> None:
        with pytest.raises(BadParameter, match="trim"):
            MMSR(trim=0.5).fit(crowd().responses)


class TestSpectral:
    def test_exact_moments_give_the_exact_model(self) -> None:
        """Every answer as often as its probability says, in 2 × 4³ and 3 × 4³ items."""
        for quarters, shares in (
            ([[3, 1], [1, 3]], [1, 1]),
            ([[3, 1, 1], [1, 3, 1], [0, 0, 2]], [1, 2, 1]),
        ):
            rows = []
            for k, share in enumerate(shares):
                answers = np.repeat(np.arange(len(shares)), np.array(quarters)[:, k])
                grid = np.array(np.meshgrid(*[answers] * 3)).reshape(3, -1).T
                rows += [grid] * share
            model = Spectral(shrinkage=None).fit(np.concatenate(rows)).model_
            np.testing.assert_allclose(model.prior, np.array(shares) / sum(shares), atol=1e-6)
            for confusion in model.confusions:
                np.testing.assert_allclose(confusion, np.array(quarters) / 4, atol=1e-5)

    @pytest.mark.parametrize("missing", [0.0, 0.5])
    def test_errors_fall_as_items_grow(self, missing: float) -> None:
        means = []
        for n in (3_000, 30_000, 300_000):
            errors = []
            for seed in range(4):
                rng = np.random.default_rng(seed)
                simulation = simulate(n, 9, 3, rng, skill=0.3, missing=missing)
                model = Spectral().fit(simulation.responses).model_
                errors.append(confusion_error(model, simulation.model))
            means.append(np.mean(errors))
        assert means[0] > 2 * means[1] > 4 * means[2]

    def test_rank_below_the_classes_is_said_and_falls_back(self) -> None:
        """Two of three classes look alike to everybody."""
        rng = np.random.default_rng(0)
        truth = rng.integers(3, size=2000)
        confusion = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
        matrix = np.array([rng.choice(3, size=7, p=confusion[:, k]) for k in truth])
        for method in (Spectral(), DawidSkene(start="spectral")):
            with pytest.warns(RankTooLow, match=r"fewer than 3 classes.*majority vote"):
                method.fit(matrix)
        spectral = Spectral()
        with pytest.warns(RankTooLow):
            spectral.fit(matrix)
        assert spectral.fallback_ is not None
        votes = MajorityVote().fit(matrix)
        assert np.mean(spectral.labels_ == votes.labels_) > 0.7
        clear = Spectral().fit(crowd(missing=0.0).responses)
        assert clear.fallback_ is None


class TestItemKinds:
    @staticmethod
    def draw(seed: int, n: int = 4000, m: int = 40, per_item: int = 6) -> tuple[Any, Any]:
        """Clear and contested items of two classes: on the latter most say no, whatever is true."""
        rng = np.random.default_rng(seed)
        truth = (rng.random(n) < 0.3).astype(int)
        contested = rng.random(n) < 0.4
        says_yes = np.where(
            contested, np.where(truth == 1, 0.65, 0.35), np.where(truth, 0.95, 0.02)
        )
        lean = rng.normal(0, 0.5, size=m)
        odds = np.log(says_yes / (1 - says_yes))[:, None] + lean
        matrix = (rng.random((n, m)) < 1 / (1 + np.exp(-odds))).astype(int)
        keep = rng.random((n, m)).argsort(axis=1) < per_item
        return np.where(keep, matrix, -1), truth

    @pytest.mark.parametrize("seed", range(4))
    def test_contested_items_are_not_taken_for_another_class(self, seed: int) -> None:
        matrix, truth = self.draw(seed)
        kinds, plain = LatentSubtypes().fit(matrix), DawidSkene().fit(matrix)
        assert error_rate(kinds.posteriors_, truth) <= error_rate(plain.posteriors_, truth) + 0.002
        assert kinds.log_likelihoods_[-1] > plain.log_likelihoods_[-1]

    @pytest.mark.parametrize("seed", range(3))
    def test_one_kind_is_dawid_skene(self, seed: int) -> None:
        responses = crowd(seed).responses
        one = LatentSubtypes(subtypes=1, shrinkage=0.0, tolerance=1e-9).fit(responses)
        plain = DawidSkene(shrinkage=None, tolerance=1e-9).fit(responses)
        np.testing.assert_allclose(one.model_.confusions, plain.model_.confusions, atol=1e-3)
        np.testing.assert_allclose(one.posteriors_, plain.posteriors_, atol=1e-2)

    def test_the_likelihood_never_falls_and_is_that_of_the_kinds(self) -> None:
        responses = crowd(1, n=200).responses
        fitted = LatentSubtypes(subtypes=3, shrinkage=0.0, tolerance=0.0, max_iter=50).fit(
            responses
        )
        assert np.all(np.diff(fitted.log_likelihoods_) >= -1e-6)
        total = 0.0
        for row in responses.matrix().tolist():
            joint = fitted.subtype_prior_.copy()
            for m, a in enumerate(row):
                if a >= 0:
                    joint *= fitted.subtype_confusions_[m, a]
            total += np.log(joint.sum())
        assert total >= fitted.log_likelihoods_[-1] - 1e-6
        assert total == pytest.approx(fitted.log_likelihoods_[-1], rel=1e-2)


class TestKnownAndWeighed:
    def test_earlier_work_helps_where_labels_are_few(self) -> None:
        few = simulate(60, 6, 3, np.random.default_rng(3), missing=0.3)
        distances = []
        for known in (None, few.model):
            model = DawidSkene(prior_model=known, prior_count=100).fit(few.responses).model_
            distances.append(confusion_error(model, few.model))
        assert distances[1] < 0.5 * distances[0]

    def test_who_is_not_known_is_learned_as_before(self) -> None:
        simulation = crowd(4)
        strangers = simulation.responses.recoded(
            simulation.responses.annotators, simulation.responses.classes
        )
        other = simulate(50, 2, 3, np.random.default_rng(0)).model
        renamed = blindfuse.Model(
            other.confusions, other.prior, np.array([100, 101]), other.classes
        )
        one, same = DawidSkene().fit(strangers), DawidSkene(prior_model=renamed).fit(strangers)
        np.testing.assert_array_equal(one.model_.confusions, same.model_.confusions)

    def test_two_copies_of_half_weight_are_one(self) -> None:
        matrix = np.array(crowd(5, missing=0.0).responses.matrix())
        doubled = np.hstack([matrix, matrix])
        one = DawidSkene(shrinkage=None, tolerance=1e-12).fit(matrix)
        two = DawidSkene(shrinkage=None, tolerance=1e-12, weights=np.full(14, 0.5)).fit(doubled)
        np.testing.assert_allclose(two.posteriors_, one.posteriors_, atol=1e-3)
        np.testing.assert_allclose(two.predict_proba(doubled), two.posteriors_)


class TestVotes:
    def test_ties_go_to_the_class_reported_more_often_then_to_the_first(self) -> None:
        vote = MajorityVote().fit([["b", "c"], ["a", "b"], ["b", "b"], ["a", "c"]])
        assert vote.labels_.tolist() == ["b", "b", "b", "a"]
        assert vote.ties_.tolist() == [True, True, False, True]
        even = MajorityVote().fit([["b", "a"], ["a", "b"]])
        assert even.labels_.tolist() == ["a", "a"]

    def test_shares_are_counted_votes(self) -> None:
        responses = crowd(3).responses
        votes = (responses.matrix()[:, :, None] == np.arange(3)).sum(axis=1)
        answered = votes.sum(axis=1) > 0
        shares = MajorityVote().fit(responses).posteriors_[answered]
        np.testing.assert_allclose(shares, votes[answered] / votes[answered].sum(axis=1)[:, None])

    def test_wawa_weighs_by_agreement_with_the_vote(self) -> None:
        responses = crowd(4).responses
        vote, wawa = MajorityVote().fit(responses), Wawa().fit(responses)
        matrix = responses.matrix()
        for m in range(7):
            answered = matrix[:, m] >= 0
            agreed = np.mean(matrix[answered, m] == vote.labels_[answered])
            assert wawa.weights_[m] == pytest.approx(agreed)

    def test_skills_end_where_they_agree_with_their_own_vote(self) -> None:
        responses = crowd(5).responses
        fitted = ZeroBasedSkill().fit(responses)
        matrix = responses.matrix()
        for m in range(7):
            answered = matrix[:, m] >= 0
            agreed = np.mean(matrix[answered, m] == fitted.labels_[answered])
            assert fitted.weights_[m] == pytest.approx(agreed, abs=1e-4)


class TestEM:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize(
        "method", [DawidSkene(shrinkage=None), OneCoin(), MACE(smoothing=0.0)], ids=repr
    )
    def test_the_likelihood_never_falls(self, method: Any, seed: int) -> None:
        fitted = method.set_params(tolerance=0.0, max_iter=60).fit(crowd(seed).responses)
        history = fitted.log_likelihoods_
        assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
        assert history[-1] > history[0]

    def test_the_likelihood_is_that_of_the_model(self) -> None:
        simulation = crowd(6, n=300)
        fitted = DawidSkene(start=simulation.model, shrinkage=None, max_iter=5, tolerance=0.0)
        fitted.fit(simulation.responses)
        matrix = simulation.responses.matrix()
        confusions, prior = fitted.model_.confusions, fitted.model_.prior
        total = 0.0
        for row in matrix.tolist():
            joint = prior.copy()
            for m, a in enumerate(row):
                if a >= 0:
                    joint *= confusions[m, a]
            total += np.log(joint.sum())
        assert fitted.model_.log_likelihood(simulation.responses) == pytest.approx(total)
        assert total >= fitted.log_likelihoods_[-1]

    def test_one_round_by_hand(self) -> None:
        """Γ and π after one M-step from hard votes, without any smoothing."""
        matrix = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
        parameters = {"shrinkage": None, "max_iter": 1}
        start = DawidSkene(**parameters).fit(matrix)  # type: ignore[arg-type]
        # Votes: 0, 0, 1, 1. Then one E-step with these, and one M-step more.
        first = np.array([[[1, 0], [0, 1]]] * 2 + [[[0.5, 0.5], [0.5, 0.5]]])
        np.testing.assert_allclose(start.model_.confusions, first, atol=1e-15)
        np.testing.assert_allclose(start.model_.prior, [0.5, 0.5])

    def test_one_coin_has_one_accuracy_an_annotator(self) -> None:
        confusions = OneCoin().fit(crowd(7, k=4).responses).model_.confusions
        for confusion in confusions:
            np.testing.assert_allclose(np.diag(confusion), confusion[0, 0])
            np.testing.assert_allclose(confusion[~np.eye(4, dtype=bool)], (1 - confusion[0, 0]) / 3)

    @pytest.mark.parametrize("seed", range(3))
    def test_mace_tells_knowing_from_spamming(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        competence = rng.uniform(0.2, 0.95, size=8)
        habits = rng.dirichlet(np.ones(3), size=8)
        truth = rng.integers(3, size=20_000)
        columns = [
            np.where(rng.random(20_000) < c, truth, rng.choice(3, size=20_000, p=habit))
            for c, habit in zip(competence, habits, strict=True)
        ]
        fitted = MACE().fit(np.column_stack(columns))
        np.testing.assert_allclose(fitted.competence_, competence, atol=0.03)
        np.testing.assert_allclose(
            fitted.guess_probabilities_[competence < 0.7], habits[competence < 0.7], atol=0.05
        )

    def test_bayes_without_data_is_its_prior(self) -> None:
        table = np.full((3, 4), -1)
        table[:, :3] = [[0, 0, 0], [1, 1, 1], [0, 0, 1]]
        silent = BayesianDawidSkene(right=4, wrong=1).fit(table).model_.confusions[3]
        np.testing.assert_allclose(silent, [[0.8, 0.2], [0.2, 0.8]])

    @pytest.mark.parametrize("method", EM_METHODS)
    def test_gold_is_held_and_helps(self, method: type[EMEstimator]) -> None:
        simulation = simulate(400, 4, 3, np.random.default_rng(1), missing=0.3)
        known = {int(item): int(simulation.truth[item]) for item in range(150)}
        blind = method(start="mv").fit(simulation.responses)  # type: ignore[call-arg]
        taught = method(start="mv").fit(simulation.responses, gold=known)  # type: ignore[call-arg]
        np.testing.assert_array_equal(taught.labels_[:150], simulation.truth[:150])
        np.testing.assert_array_equal(taught.posteriors_[:150].max(axis=1), 1)
        distances = [
            np.abs(fitted.model_.confusions - simulation.model.confusions).mean()
            for fitted in (blind, taught)
        ]
        assert distances[1] < distances[0]

    @pytest.mark.parametrize("start", ["mv", "shares", "spectral", "blind"])
    def test_every_item_may_be_gold(self, start: Any) -> None:
        simulation = simulate(400, 5, 3, np.random.default_rng(2), skill=0.4)
        for known in (398, 400):
            gold = dict(enumerate(simulation.truth[:known].tolist()))
            method = DawidSkene(start=start, shrinkage=None)
            fitted = method.fit(simulation.responses, gold=gold)
            said = simulation.responses.matrix()
            shares = [np.mean(said[:, m] == simulation.truth) for m in range(5)]
            np.testing.assert_allclose(fitted.model_.accuracies, shares, atol=0.01)

    def test_gold_must_fit_the_answers(self) -> None:
        responses = Responses.from_long(
            list("aaabbb"), list("xyzxyz"), ["no", "no", "yes", "yes", "yes", "no"]
        )
        with pytest.raises(BadLabels, match="Gold items 'q' have no answers"):
            DawidSkene().fit(responses, gold={"q": "yes"})
        with pytest.raises(BadLabels, match="Gold labels 'maybe' are none of the classes"):
            DawidSkene().fit(responses, gold={"a": "maybe"})

    @pytest.mark.parametrize("start", ["mv", "shares", "spectral", "blind"])
    def test_starts(self, start: Any) -> None:
        simulation = crowd(8, n=20_000, missing=0.0)
        oracle = error_rate(simulation.model.posteriors(simulation.responses), simulation.truth)
        fitted = DawidSkene(start=start).fit(simulation.responses)
        assert error_rate(fitted.posteriors_, simulation.truth) <= 1.02 * oracle

    @pytest.mark.parametrize(
        "wrong",
        [
            {"start": "none"},
            {"max_iter": 0},
            {"pseudo_count": -1.0},
            {"shrinkage": -2.0},
            {"class_prior": "flat"},
            {"class_prior": [0.5, 0.5]},
        ],
    )
    def test_a_wrong_parameter_is_named(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(BadParameter, match=next(iter(wrong))):
            DawidSkene(**wrong).fit(crowd(n=50).responses)


class TestFigures:
    @pytest.mark.parametrize(
        ("name", "percent"),
        [("trec", 34.86), ("bird", 24.07), ("rte", 10.31), ("web", 26.93), ("dog", 17.78)],
    )
    def test_published_majority_votes(self, crowds: Crowds, name: str, percent: float) -> None:
        crowd = crowds[name]
        vote = MajorityVote().fit(crowd.responses)
        assert 100 * error_rate(vote.posteriors_, crowd.truth) == pytest.approx(percent, abs=0.01)

    @pytest.mark.parametrize(
        ("name", "percent"),
        [("trec", 30.02), ("bird", 11.11), ("rte", 7.25), ("web", 16.02), ("dog", 15.86)],
    )
    def test_published_em_without_prior(self, crowds: Crowds, name: str, percent: float) -> None:
        crowd = crowds[name]
        em = DawidSkene(class_prior="uniform", start="shares", shrinkage=None, max_iter=10)
        found = em.fit(crowd.responses).posteriors_
        assert 100 * error_rate(found, crowd.truth) == pytest.approx(percent, abs=0.15)

    @pytest.mark.parametrize(("name", "percent"), [("bird", 27.78), ("rte", 9.00)])
    def test_published_eigen_ratio(self, crowds: Crowds, name: str, percent: float) -> None:
        crowd = crowds[name]
        found = EigenRatio().fit(crowd.responses).posteriors_
        assert 100 * error_rate(found, crowd.truth) == pytest.approx(percent, abs=0.15)

    def test_a_uniform_prior_fails_where_classes_are_unequal(self) -> None:
        """Table I: EM without class prior is far above the vote, with it as good as the oracle."""
        errors = []
        for seed in range(3):
            simulation = TABLE_1.draw(100_000, seed)
            methods = [
                MajorityVote(),
                DawidSkene(class_prior="uniform", shrinkage=None),
                DawidSkene(),
            ]
            found = [method.fit(simulation.responses).posteriors_ for method in methods]
            found.append(simulation.model.posteriors(simulation.responses))
            errors.append([error_rate(beliefs, simulation.truth) for beliefs in found])
        vote, uniform, estimated, oracle = np.mean(errors, axis=0)
        assert uniform > 2 * vote
        assert estimated <= 1.02 * oracle

    @pytest.mark.parametrize(
        "setting",
        [
            TABLE_1,
            TABLE_2,
            FIGURE_3,
            pytest.param(
                FIGURE_4,
                marks=pytest.mark.xfail(
                    reason="a class of 43 items: EM started at the true model is no better"
                ),
            ),
        ],
        ids=lambda s: s.name,
    )
    def test_em_after_blind_ensemble_is_as_good_as_the_oracle(self, setting: Setting) -> None:
        errors = []
        for seed in range(10):
            simulation = setting.draw(10_000, seed)
            polished = DawidSkene(start="blind").fit(simulation.responses).posteriors_
            oracle = simulation.model.posteriors(simulation.responses)
            errors.append([error_rate(found, simulation.truth) for found in (polished, oracle)])
        fused, best = np.mean(errors, axis=0)
        assert fused <= 1.02 * best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shrinkage", [None, 3.0, "learned"])
def test_likelihood_and_credit_rise_in_every_round(seed: int, shrinkage: Any) -> None:
    """With pseudo-labels, EM climbs ℓ + Σ p log Γ; the likelihood alone may fall on the way."""
    drawn = simulate(300, 30, 3, np.random.default_rng(seed), missing=0.8)
    responses, method = drawn.responses, DawidSkene(shrinkage=shrinkage)
    sums = count_votes(responses)
    method._prepare(responses.annotators, responses.classes, sums)
    e_step, heights = make_e_step(responses), []
    for _ in range(25):
        parameters = method._m_step(sums)
        logs = np.log(np.maximum(parameters.confusions, LEAST))
        by_hand = sum(method._pseudo[cell] * logs[cell] for cell in np.ndindex(logs.shape))
        assert parameters.log_prior == pytest.approx(by_hand)
        sums = e_step(parameters)
        heights.append(sums.likelihood + parameters.log_prior)
    assert np.all(np.diff(heights) > -1e-8 * abs(heights[0]))


@pytest.mark.parametrize("seed", range(4))
def test_pseudo_labels_are_learned_where_em_has_nearly_ended(seed: int) -> None:
    """Starts as different as votes and moments end at nearly the same pseudo-labels and model."""
    responses = FIGURE_3.draw(10_000, seed).responses
    starts: tuple[EMStart, EMStart] = "mv", "blind"
    ends = [DawidSkene(start=start).fit(responses) for start in starts]
    far, near = (
        np.abs(np.log(learned_pseudo_counts(first) / learned_pseudo_counts(second))).max()
        for first, second in (
            (count_votes(responses).counts, ends[1].model_.sums(responses).counts),
            (ends[0].model_.sums(responses).counts, ends[1].model_.sums(responses).counts),
        )
    )
    assert near < far / 4
    assert np.abs(ends[0].model_.confusions - ends[1].model_.confusions).max() < 0.02
