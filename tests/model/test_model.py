"""Model: posteriors, labels, and the file it is saved in."""

import json
import zipfile
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindfuse import BadLabels, BadModel, BadParameter, Model, Responses, simulate
from blindfuse.model.posteriors import compute_posteriors, count_votes, expected_counts, vote_shares


def a_model(seed: int = 0, m: int = 4, k: int = 3) -> Model:
    model = simulate(1, m, k, np.random.default_rng(seed), prior=range(1, k + 1)).model
    return Model(
        model.confusions,
        model.prior,
        np.array([f"judge {i}" for i in range(m)], dtype=object),
        np.array(["no", "perhaps", "yes"][:k], dtype=object),
    )


def answers(model: Model, n: int, seed: int, missing: float = 0.3) -> Responses:
    rng = np.random.default_rng(seed)
    matrix = rng.choice(model.classes, size=(n, len(model.annotators)))
    matrix[rng.random(matrix.shape) < missing] = None
    return Responses.from_matrix(matrix, annotators=model.annotators, classes=model.classes)


def posterior_by_bayes(model: Model, row: list[int], rule: str) -> list[float]:
    """π_k Π_m Γ_m(f_m, k) in exact fractions, normalised."""
    K = len(model.classes)
    prior = model.prior if rule == "map" else np.full(K, 1 / K)
    joint = [
        Fraction(float(prior[k]))
        * prod(
            (Fraction(float(model.confusions[m, a, k])) for m, a in enumerate(row) if a >= 0),
            start=Fraction(1),
        )
        for k in range(K)
    ]
    return [float(part / sum(joint)) for part in joint]


@pytest.mark.parametrize("rule", ["map", "ml"])
@pytest.mark.parametrize("classes", [2, 3])
def test_posteriors_follow_bayes(rule: Any, classes: int) -> None:
    model = a_model(classes, k=classes)
    responses = answers(model, 40, 1)
    answered = responses.responses_per_item > 0
    expected = [posterior_by_bayes(model, row, rule) for row in responses.matrix().tolist()]
    found = model.posteriors(responses, rule)
    np.testing.assert_allclose(found[answered], np.array(expected)[answered], rtol=1e-12)
    np.testing.assert_array_equal(
        model.labels(responses, rule), model.classes[found.argmax(axis=1)]
    )


@pytest.mark.parametrize("rule", ["map", "ml"])
def test_an_item_without_answers_has_the_prior(rule: Any) -> None:
    model = a_model()
    silent = answers(model, 3, 0, missing=1.0)
    np.testing.assert_allclose(model.posteriors(silent, rule), np.tile(model.prior, (3, 1)))
    assert model.labels(silent, rule).tolist() == ["yes"] * 3


def test_a_thousand_annotators_do_not_underflow() -> None:
    simulation = simulate(50, 3000, 3, np.random.default_rng(0), skill=0.5)
    found = simulation.model.posteriors(simulation.responses)
    assert np.isfinite(found).all()
    assert (found.argmax(axis=1) == simulation.truth).all()


def test_a_zero_probability_all_but_vetoes_and_stays_finite() -> None:
    model = Model(np.array([np.eye(2)] * 2), np.array([0.5, 0.5]), np.arange(2), np.arange(2))
    contradiction = Responses.from_matrix([[0, 1], [0, 0]])
    np.testing.assert_allclose(model.posteriors(contradiction), [[0.5, 0.5], [1.0, 0.0]], atol=1e-9)
    assert np.isfinite(model.log_likelihood(contradiction))


@pytest.mark.parametrize("answers_an_item", [27, 28, 29, 57, 400])
def test_many_answers_do_not_underflow(answers_an_item: int) -> None:
    """Each answer of a sharp annotator is worth a factor of 10⁻⁹; here all but two agree."""
    sharp = np.array([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]])
    M = answers_an_item
    model = Model(np.array([sharp] * M), np.array([0.3, 0.7]), np.arange(M), np.arange(2))
    row = np.ones((2, M), dtype=int)
    row[0, : M // 2] = 0
    found = model.posteriors(Responses.from_matrix(row))
    margin = (M - 2 * (M // 2)) * np.log((1 - 1e-9) / 1e-9) + np.log(0.7 / 0.3)
    np.testing.assert_allclose(found[0, 1], 1 / (1 + np.exp(-margin)), rtol=1e-6)
    assert found[1, 1] == pytest.approx(1)
    each = np.log(1 - 1e-9)
    halves = (M // 2) * (np.log(1e-9) + each)
    odd = np.logaddexp(np.log(0.3) + np.log(1e-9), np.log(0.7) + each) if M % 2 else 0.0
    total = np.log(0.7) + M * each + halves + odd
    assert model.log_likelihood(Responses.from_matrix(row)) == pytest.approx(total, rel=1e-9)


def test_log_likelihood_is_that_of_each_item() -> None:
    model = a_model()
    responses = answers(model, 200, 2)
    total = 0.0
    for row in responses.matrix().tolist():
        total += np.log(
            sum(
                model.prior[k]
                * prod(model.confusions[m, a, k] for m, a in enumerate(row) if a >= 0)
                for k in range(3)
            )
        )
    assert model.log_likelihood(responses) == pytest.approx(total)


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 9])
def test_sums_are_those_of_the_posteriors(classes: int) -> None:
    simulation = simulate(300, 4, classes, np.random.default_rng(3), missing=0.4)
    responses, model = simulation.responses, simulation.model
    sums = model.sums(responses)
    found, likelihood = compute_posteriors(responses, model.confusions, model.prior)
    matrix = responses.matrix()
    for m in range(4):
        for a in range(classes):
            np.testing.assert_allclose(sums.counts[m, a], found[matrix[:, m] == a].sum(axis=0))
    np.testing.assert_allclose(sums.totals, found.sum(axis=0))
    assert sums.likelihood == pytest.approx(likelihood)


@pytest.mark.parametrize(
    ("annotators", "classes"), [(3, 2), (14, 2), (10, 3), (7, 5), (5, 9), (25, 5), (31, 3)]
)
def test_answers_that_are_packed_add_up_the_same_way(annotators: int, classes: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, annotators, classes])
        simulation = simulate(6000, annotators, classes, rng)
        responses, model = simulation.responses, simulation.model
        sharp = model.confusions**5  # answers that all but veto, rows that do not sum to one
        sizes = rng.uniform(0, 3, 6000)
        assert responses.packed is not None
        plain = Responses(
            responses.items, responses.annotators, responses.classes, responses.by_item
        )
        plain.__dict__["packed"] = None
        for confusions in (model.confusions, sharp):
            for each in (None, sizes):
                found, expected = (
                    expected_counts(table, confusions, model.prior, threads, each)
                    for table, threads in ((responses, 2), (plain, 1))
                )
                np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(found.totals, expected.totals, rtol=1e-9)
                assert found.likelihood == pytest.approx(expected.likelihood, rel=1e-10)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_votes_are_shared_by_ties_and_add_up_the_same_way(classes: int) -> None:
    responses = simulate(500, 5, classes, np.random.default_rng(1), missing=0.4).responses
    shares, sums = vote_shares(responses), count_votes(responses)
    matrix = responses.matrix()
    votes = (matrix[:, :, None] == np.arange(classes)).sum(axis=1)
    winners = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    expected = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(shares, expected)
    np.testing.assert_allclose(sums.totals, expected.sum(axis=0))
    for m in range(5):
        for a in range(classes):
            np.testing.assert_allclose(sums.counts[m, a], expected[matrix[:, m] == a].sum(axis=0))


def test_threads_and_the_order_of_items_change_nothing_in_vote_sums() -> None:
    responses = simulate(70_000, 4, 3, np.random.default_rng(1), missing=0.3).responses
    shuffled = responses.select_items(np.random.default_rng(0).permutation(70_000))
    one, other = count_votes(responses, threads=1), count_votes(shuffled, threads=3)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.totals, other.totals)


def test_new_items_meet_the_model_by_name() -> None:
    model = a_model()
    known = answers(model, 30, 5, missing=0.0)
    shuffled = Responses.from_matrix(
        known.classes[known.matrix()[:, [2, 0, 3, 1]]],
        annotators=model.annotators[[2, 0, 3, 1]],
    )
    np.testing.assert_allclose(model.posteriors(shuffled), model.posteriors(known))


def test_a_stranger_is_refused_by_name() -> None:
    model = a_model()
    stranger = Responses.from_matrix([["yes"], ["no"]], annotators=["judge 9"])
    with pytest.raises(BadLabels, match="Unknown annotator 'judge 9'"):
        model.posteriors(stranger)
    novel = Responses.from_matrix([["yes"], ["never"]], annotators=["judge 1"])
    with pytest.raises(BadLabels, match="Unknown class 'never'"):
        model.posteriors(novel)


def test_accuracies_are_the_chance_to_be_right() -> None:
    simulation = simulate(200_000, 3, 4, np.random.default_rng(0), prior=[4, 3, 2, 1])
    right = (simulation.responses.matrix() == simulation.truth[:, None]).mean(axis=0)
    np.testing.assert_allclose(simulation.model.accuracies, right, atol=0.005)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(BadParameter, match="'vote' is none of 'map', 'ml'"):
        a_model().posteriors(answers(a_model(), 2, 0), "vote")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("confusions", "prior"),
    [
        (np.ones((4, 3, 3)), np.full(3, 1 / 3)),
        (np.full((4, 3, 3), 1 / 3), np.array([0.5, 0.6, -0.1])),
        (np.full((4, 3, 3), np.nan), np.full(3, 1 / 3)),
        (np.full((4, 3, 2), 1 / 3), np.full(3, 1 / 3)),
        (np.full((4, 3, 3), 1), np.full(3, 1 / 3)),
    ],
)
def test_what_is_no_probability_is_no_model(confusions: Any, prior: Any) -> None:
    with pytest.raises(BadModel):
        Model(confusions, prior, np.arange(4), np.arange(3))


def test_repr_says_what_it_is() -> None:
    assert repr(a_model()).startswith("Model: 4 annotators, 3 classes (no 0.167, perhaps 0.333")


class TestFile:
    @pytest.mark.parametrize("names", [["a", "ü", "007"], [1, 2, 3], [True, False, 7]])
    def test_round_trip(self, tmp_path: Path, names: list[Any]) -> None:
        model = a_model(m=3)
        named = Model(model.confusions, model.prior, np.array(names, dtype=object), model.classes)
        named.save(tmp_path / "model.npz")
        loaded = Model.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.confusions, model.confusions)
        np.testing.assert_array_equal(loaded.prior, model.prior)
        assert [(type(name), name) for name in loaded.annotators.tolist()] == [
            (type(name), name) for name in names
        ]
        assert loaded.classes.tolist() == model.classes.tolist()

    def test_saving_leaves_nothing_else_behind(self, tmp_path: Path) -> None:
        a_model().save(tmp_path / "model")
        a_model(1).save(tmp_path / "model")
        assert [path.name for path in tmp_path.iterdir()] == ["model"]
        np.testing.assert_array_equal(
            Model.load(tmp_path / "model").confusions, a_model(1).confusions
        )

    def test_a_failed_save_keeps_the_old_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a_model().save(tmp_path / "model.npz")

        def fail(*_: Any, **__: Any) -> None:
            raise OSError("no space left")

        monkeypatch.setattr(np, "savez", fail)
        with pytest.raises(OSError, match="no space"):
            a_model(1).save(tmp_path / "model.npz")
        assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
        np.testing.assert_array_equal(Model.load(tmp_path / "model.npz").prior, a_model().prior)

    def test_nothing_is_pickled(self, tmp_path: Path) -> None:
        a_model().save(tmp_path / "model.npz")
        with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
            assert {file[name].dtype.kind for name in file.files} == {"U", "f"}

    def test_a_truncated_file_is_refused(self, tmp_path: Path) -> None:
        a_model().save(tmp_path / "model.npz")
        whole = (tmp_path / "model.npz").read_bytes()
        for size in range(0, len(whole), 37):
            (tmp_path / "cut").write_bytes(whole[:size])
            with pytest.raises(BadModel, match=r"damaged|holds no blindfuse model"):
                Model.load(tmp_path / "cut")

    def test_a_flipped_bit_is_refused_or_harmless(self, tmp_path: Path) -> None:
        a_model().save(tmp_path / "model.npz")
        whole = (tmp_path / "model.npz").read_bytes()
        for at in range(0, len(whole), 11):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            (tmp_path / "bad").write_bytes(damaged)
            try:
                loaded = Model.load(tmp_path / "bad")
            except BadModel:
                continue
            np.testing.assert_array_equal(loaded.confusions, a_model().confusions)
            np.testing.assert_array_equal(loaded.prior, a_model().prior)

    @pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04\x95", b"PK\x03\x04"])
    def test_a_foreign_file_is_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "foreign").write_bytes(content)
        with pytest.raises(BadModel, match="foreign"):
            Model.load(tmp_path / "foreign")

    def test_a_pickle_is_refused(self, tmp_path: Path) -> None:
        np.save(tmp_path / "pickle.npy", np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(BadModel):
            Model.load(tmp_path / "pickle.npy")

    def test_another_archive_is_refused(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "other.npz", x=np.arange(3))
        with pytest.raises(BadModel, match="holds no blindfuse model"):
            Model.load(tmp_path / "other.npz")
        with zipfile.ZipFile(tmp_path / "text.zip", "w") as archive:
            archive.writestr("readme.txt", "hello")
        with pytest.raises(BadModel):
            Model.load(tmp_path / "text.zip")

    def test_a_later_version_is_refused_by_name(self, tmp_path: Path) -> None:
        header = json.dumps({"format": "blindfuse model", "version": 99})
        np.savez(tmp_path / "later.npz", header=np.array(header))
        with pytest.raises(BadModel, match="version 99"):
            Model.load(tmp_path / "later.npz")

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadModel, match="no file"):
            Model.load(tmp_path / "absent.npz")
