import numpy as np
import pytest

import blindfuse
from blindfuse import MajorityVote, Oracle, SingleBest, simulate
from blindfuse.metrics import error_rate
from experiments.methods import BEST, FUSE, ORACLE, VOTE, LabelledData
from experiments.settings import FIGURE_3, TABLE_2
from experiments.tasks import Task, chernoff_bound, load_data, run_task
from tests.conftest import SHARED, Crowds


def test_a_task_measures_what_the_public_api_returns() -> None:
    data = TABLE_2.draw(500, 3, same_annotators=True)
    responses, truth = data.responses, data.truth
    gold = {item: int(code) for item, code in enumerate(truth)}
    expected = {
        VOTE: MajorityVote().fit(responses).posteriors_,
        BEST: SingleBest(truth=gold).fit(responses).posteriors_,
        FUSE: blindfuse.fuse(responses).posteriors,
        ORACLE: Oracle(model=data.model).fit(responses).posteriors_,
    }
    for method, posteriors in expected.items():
        measured = run_task(Task(TABLE_2.name, method, 3, 500), None)
        assert measured["error"] == 100 * error_rate(posteriors, truth)
    ml_posteriors = Oracle(model=data.model, rule="ml").fit(responses).posteriors_
    assert measured["error_ml"] == 100 * error_rate(ml_posteriors, truth)
    assert measured["confusion_error"] == measured["prior_error"] == 0


def test_the_error_of_a_method_that_cannot_be_fitted_is_recorded() -> None:
    measured = run_task(Task(FIGURE_3.name, "TE", 0, 50), None)
    assert "two classes" in str(measured["failed"])


def test_the_filters_of_table_9(crowds: Crowds) -> None:
    for name, annotators, labels, items, gold in (
        ("trec", 23, 38_991, 17_083, 2_099),
        ("adult", 38, 33_538, 10_046, 321),
    ):
        crowds[name]  # skips where the set is not on this machine
        data = load_data(Task(name, "", filtered=True), str(SHARED))
        assert data.responses.n_annotators == annotators
        assert data.responses.n_responses == labels
        labelled = data.responses.responses_per_item > 0
        assert np.count_nonzero(labelled) == items
        assert np.count_nonzero(data.truth[labelled] >= 0) == gold
        assert data.truth.tolist() == crowds[name].truth.tolist()
    measured = run_task(Task("adult", VOTE, filtered=True), str(SHARED))
    assert measured["error"] == pytest.approx(28.97, abs=0.01)
    unlabelled = MajorityVote().fit(data.responses).posteriors_[~labelled]
    wrong = float(measured["error"]) * 321
    wrong += 100 * error_rate(unlabelled, data.truth[~labelled]) * (347 - 321)
    assert measured["all_error"] == pytest.approx(wrong / 347)


@pytest.mark.parametrize("seed", range(3))
def test_the_chernoff_bound_exceeds_the_error_and_falls_with_annotators(seed: int) -> None:
    bounds = []
    for annotators in (3, 6, 12):
        data = simulate(20_000, annotators, 3, np.random.default_rng(seed), skill=0.2)
        bounds.append(chernoff_bound(data.model))
        error = error_rate(data.model.posteriors(data.responses), data.truth)
        assert 100 * error <= bounds[-1]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_annotators_label_any_number_of_items(seed: int) -> None:
    few, many = (FIGURE_3.draw(size, seed, same_annotators=True) for size in (100, 1000))
    assert np.array_equal(few.model.confusions, many.model.confusions)
    more = FIGURE_3.draw(100, seed, n_annotators=20, same_annotators=True)
    assert np.array_equal(more.model.confusions[:10], few.model.confusions)
    other = FIGURE_3.draw(100, seed + 1, same_annotators=True)
    assert not np.array_equal(other.model.confusions, few.model.confusions)


def test_gold_labels_by_item_name() -> None:
    responses = simulate(5, 3, 2, np.random.default_rng(0)).responses
    truth = np.array([0, -1, 1, -1, 0])
    assert LabelledData(responses, truth).gold_labels() == {0: 0, 2: 1, 4: 0}
