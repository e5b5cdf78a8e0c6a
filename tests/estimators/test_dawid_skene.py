"""DawidSkene."""

import numpy as np
import pytest

import blindfuse
from blindfuse import DawidSkene, MajorityVote, simulate
from blindfuse.estimators.em import EMStart
from blindfuse.metrics import confusion_error, error_rate
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import learn_annotator_prior
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2, Setting
from tests.conftest import Crowds
from tests.estimators.crowds import crowd

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")


def test_one_iteration_written_out() -> None:
    """Γ and π after one M-step from hard votes, without any smoothing."""
    matrix = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    parameters = {"shrinkage": None, "max_iter": 1}
    start = DawidSkene(**parameters).fit(matrix)  # type: ignore[arg-type]
    # The votes are 0, 0, 1, 1; then follow one E-step and another M-step.
    first = np.array([[[1, 0], [0, 1]]] * 2 + [[[0.5, 0.5], [0.5, 0.5]]])
    np.testing.assert_allclose(start.model_.confusions, first, atol=1e-15)
    np.testing.assert_allclose(start.model_.prior, [0.5, 0.5])


def test_a_prior_model_helps_where_responses_are_few() -> None:
    few = simulate(60, 6, 3, np.random.default_rng(3), missing=0.3)
    distances = []
    for known in (None, few.model):
        model = DawidSkene(prior_model=known, prior_count=100).fit(few.responses).model_
        distances.append(confusion_error(model, few.model))
    assert distances[1] < 0.5 * distances[0]


def test_annotators_that_a_prior_model_lacks_are_fitted_without_it() -> None:
    simulation = crowd(4)
    responses = simulation.responses
    other = simulate(50, 2, 3, np.random.default_rng(0)).model
    renamed = blindfuse.Model(other.confusions, other.prior, np.array([100, 101]), other.classes)
    one, same = DawidSkene().fit(responses), DawidSkene(prior_model=renamed).fit(responses)
    np.testing.assert_array_equal(one.model_.confusions, same.model_.confusions)


def test_two_copies_of_half_weight_equal_one_annotator() -> None:
    matrix = np.array(crowd(5, missing=0.0).responses.matrix())
    doubled = np.hstack([matrix, matrix])
    one = DawidSkene(shrinkage=None, tolerance=1e-12).fit(matrix)
    two = DawidSkene(shrinkage=None, tolerance=1e-12, weights=np.full(14, 0.5)).fit(doubled)
    np.testing.assert_allclose(two.posteriors_, one.posteriors_, atol=1e-3)
    np.testing.assert_allclose(two.predict_proba(doubled), two.posteriors_)


@pytest.mark.parametrize(
    ("name", "percent"),
    [("trec", 30.02), ("bird", 11.11), ("rte", 7.25), ("web", 16.02), ("dog", 15.86)],
)
def test_em_with_a_uniform_prior_has_the_published_errors(
    crowds: Crowds, name: str, percent: float
) -> None:
    crowd = crowds[name]
    em = DawidSkene(class_prior="uniform", start="shares", shrinkage=None, max_iter=10)
    posteriors = em.fit(crowd.responses).posteriors_
    assert 100 * error_rate(posteriors, crowd.truth) == pytest.approx(percent, abs=0.15)


def test_a_uniform_prior_fails_where_classes_are_unequal() -> None:
    """Table I: EM with a uniform prior is far worse than the vote; estimated, as the oracle."""
    errors = []
    for seed in range(3):
        simulation = TABLE_1.draw(100_000, seed)
        methods = [
            MajorityVote(),
            DawidSkene(class_prior="uniform", shrinkage=None),
            DawidSkene(),
        ]
        results = [method.fit(simulation.responses).posteriors_ for method in methods]
        results.append(simulation.model.posteriors(simulation.responses))
        errors.append([error_rate(posteriors, simulation.truth) for posteriors in results])
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
def test_em_after_blind_ensemble_is_as_good_as_the_oracle(setting: Setting) -> None:
    errors = []
    for seed in range(10):
        simulation = setting.draw(10_000, seed)
        fused = DawidSkene(start="blind").fit(simulation.responses).posteriors_
        oracle = simulation.model.posteriors(simulation.responses)
        errors.append([error_rate(posteriors, simulation.truth) for posteriors in (fused, oracle)])
    error, best = np.mean(errors, axis=0)
    assert error <= 1.02 * best


@pytest.mark.parametrize("seed", range(4))
def test_the_learned_prior_hardly_depends_on_the_start(seed: int) -> None:
    """Starts at votes and at moments end at nearly the same prior and model."""
    responses = FIGURE_3.draw(10_000, seed).responses
    starts: tuple[EMStart, EMStart] = "mv", "blind"
    ends = [DawidSkene(start=start).fit(responses) for start in starts]
    from_votes, one, other = (
        learn_annotator_prior(counts).spread
        for counts in (
            count_votes(responses).counts,
            *(end.model_.expected_counts(responses).counts for end in ends),
        )
    )
    assert abs(one - other) < abs(from_votes - other) / 4
    assert np.abs(ends[0].model_.confusions - ends[1].model_.confusions).max() < 0.02
