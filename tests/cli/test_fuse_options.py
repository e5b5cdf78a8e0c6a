"""Methods, parameters and gold labels of a fusion."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from blindfuse import KOS, DawidSkene, Model, audit, fuse, read, simulate
from blindfuse.estimators.registry import METHODS
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_posteriors
from tests.support.cli import read_votes, refuse, run, succeed, write_gold

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_chosen_by_name(name: str) -> None:
    responses = simulate(80, 5, 2, np.random.default_rng(1), skill=0.4).responses
    rows = [f"i{n},a{m},c{responses.matrix()[n, m]}\n" for n in range(80) for m in range(5)]
    Path("two.csv").write_text("item,annotator,label\n" + "".join(rows))
    spelling = name.lower().replace(" ", "-")
    document = json.loads(succeed("fuse", "two.csv", "--method", spelling, "--json").stdout)
    expected = METHODS[name]().fit(read("two.csv").responses)
    assert [row["label"] for row in document["items"]] == expected.labels_.tolist()
    assert document["method"] == type(expected).__name__


def test_options_are_passed_to_the_method() -> None:
    def posteriors(*options: object) -> Any:
        document = json.loads(succeed("fuse", "votes.csv", "--json", *options).stdout)
        return np.array(
            [[row[f"p_{name}"] for name in document["classes"]] for row in document["items"]]
        )

    responses = read_votes()
    fuse(responses).model.save("m.npz")
    model = Model.load("m.npz")
    for options, expected in (
        (["--ordered"], fuse(responses, ordered=True)),
        (["--prior-model", "m.npz"], fuse(responses, prior_model=model)),
        (["--seed", "5"], fuse(responses, seed=5)),
        (["--threads", "1"], fuse(responses, threads=1)),
        (
            ["--method", "kos", "--ordered", "--seed", "5"],
            fuse(responses, method=KOS(ordered=True, seed=5)),
        ),
        (
            ["--method", "dawid-skene", "--prior-model", "m.npz"],
            fuse(responses, method=DawidSkene(prior_model=model)),
        ),
    ):
        np.testing.assert_allclose(posteriors(*options), expected.posteriors, atol=5.1e-7)
    assert "does not use --prior-model" in refuse(
        "fuse", "votes.csv", "--method", "wawa", "--prior-model", "m.npz"
    )
    assert "does not use --ordered" in refuse("fuse", "votes.csv", "--method", "glad", "--ordered")


def test_warnings_are_printed_as_notes() -> None:
    simulation = succeed(
        "simulate", "--adversaries", "0.2", "--missing", "0.5", "--items", "600"
    ).stdout
    result = succeed("fuse", "-", "--method", "spectral", "-o", "-", input=simulation.encode())
    assert (
        "· Spectral cannot decompose the moments. The second moments of two groups" in result.stderr
    )
    assert "Warning" not in result.stderr


def test_gold_labels_are_held_fixed_and_the_error_is_measured_without_them() -> None:
    gold = dict.fromkeys(write_gold(), "cow")
    pl.DataFrame({"item": list(gold), "label": list(gold.values())}).write_csv("cows.csv")
    document = json.loads(succeed("fuse", "votes.csv", "--gold", "cows.csv", "--json").stdout)
    assert {row["label"] for row in document["items"] if row["item"] in gold} == {"cow"}
    responses = read_votes()
    blind, truth = fuse(responses), np.full(300, -1)
    truth[[list(responses.items).index(item) for item in gold]] = 1
    check = document["gold"]
    assert check["error"] == pytest.approx(error_rate(blind.posteriors, truth))
    assert check["vote_error"] == pytest.approx(error_rate(vote_posteriors(responses), truth))
    assert check["calibration_error"] == pytest.approx(calibration_error(blind.posteriors, truth))
    text = succeed("fuse", "votes.csv", "--gold", "cows.csv").stdout
    sentence = f"{100 * check['error']:.1f} % of the labels are wrong on 40 gold items"
    assert sentence in " ".join(text.split())
    assert "fused without them" in " ".join(text.split())


def test_true_labels_in_the_file_are_gold_labels_unless_no_gold_is_passed() -> None:
    frame = pl.read_csv("votes.csv").with_columns(truth=pl.lit("dog"))
    frame.write_csv("with_truth.csv")
    with_gold = json.loads(succeed("fuse", "with_truth.csv", "--json").stdout)
    assert {row["label"] for row in with_gold["items"]} == {"dog"}
    assert with_gold["gold"]["items"] == 300
    blind = json.loads(succeed("fuse", "with_truth.csv", "--json", "--no-gold").stdout)
    assert [row["label"] for row in blind["items"]] == fuse(read_votes()).labels.tolist()
    assert blind["gold"] is None


def test_gold_labels_are_passed_to_a_method_that_accepts_them() -> None:
    gold = write_gold(150)
    options = ("--method", "dawid-skene", "--gold", "gold.csv", "--json")
    document = json.loads(succeed("fuse", "votes.csv", *options).stdout)
    expected = METHODS["DawidSkene"]().fit(read_votes(), gold=gold)  # type: ignore[call-arg]
    assert [row["label"] for row in document["items"]] == expected.labels_.tolist()
    confidence = [row["confidence"] for row in document["items"]]
    np.testing.assert_allclose(confidence, expected.posteriors_.max(axis=1), atol=5.1e-7)


def write_verdicts(fail: str, success: str) -> None:
    """Verdicts of five judges, of which 80 % are passes."""
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.8
    right = rng.random((300, 5)) < 0.9
    rows = [
        f"q{n},j{m},{success if truth[n] == right[n, m] else fail}\n"
        for n in range(300)
        for m in range(5)
    ]
    Path("verdicts.csv").write_text("item,judge,verdict\n" + "".join(rows))


@pytest.mark.parametrize(
    ("fail", "success", "named"),
    [("fail", "pass", False), ("false", "true", False), ("0", "1", False), ("a", "b", True)],
)
def test_a_pass_rate_whose_lower_limit_is_too_low_ends_with_code_1(
    fail: str, success: str, named: bool
) -> None:
    write_verdicts(fail, success)
    options = ["--pass-class", success] if named else []
    low = fuse(read("verdicts.csv").responses).diagnostics.class_shares.low[1]
    for limit, code in ((low - 1e-3, 0), (low + 1e-3, 1)):
        command = ["fuse", "verdicts.csv", "-o", "f.csv", "--force", "--fail-below", limit]
        result = run(*command, *options)
        assert result.exit_code == code
        assert pl.read_csv("f.csv").height == 300
        assert (
            f"({success}, 80 % interval): {100 * np.mean(fuse_posteriors(1)):.1f} %"
            in result.stderr
        )
        assert ("is below" in result.stderr) == (code == 1)


def fuse_posteriors(k: int) -> Any:
    return fuse(read("verdicts.csv").responses).posteriors[:, k]


def test_the_pass_rate_of_checked_labels_is_that_of_the_audit() -> None:
    write_verdicts("no", "yes")
    items = [f"q{n}" for n in range(0, 300, 4)]
    checks = {item: "yes" if n % 5 else "no" for n, item in enumerate(items)}
    pl.DataFrame({"item": items, "label": list(checks.values())}).write_csv("checked.csv")
    rate = audit(fuse(read("verdicts.csv").responses), None, checks).class_shares["yes"]
    options = ("--checked", "checked.csv", "--fail-below")
    assert run("fuse", "verdicts.csv", *options, rate.low - 1e-3).exit_code == 0
    low = run("fuse", "verdicts.csv", *options, rate.low + 1e-3)
    assert low.exit_code == 1
    assert f"pass rate (yes, 95 % interval): {rate.percent()}. Its lower" in low.stderr


def test_a_pass_rate_that_is_unclear_or_unknown_is_refused() -> None:
    for options, message in (
        ([], "there are 'cat', 'cow', 'dog'. Name it with --pass-class, as in --pass-class 'dog'."),
        (["--pass-class", "dgo"], "--pass-class dgo is not a class: did you mean 'dog'?"),
        (["--numbers"], "--numbers and --fail-below exclude each other"),
    ):
        assert message in refuse("fuse", "votes.csv", "--fail-below", 0.5, *options)
    assert "--pass-class needs --fail-below" in refuse("fuse", "votes.csv", "--pass-class", "dog")
    succeed("fuse", "votes.csv", "--fail-below", 0.1, "--pass-class", "dog", "--partitioned")
    Path("one.csv").write_text("item,judge,verdict\n1,a,pass\n2,a,fail\n")
    unknown = run("fuse", "one.csv", "--fail-below", 0)
    assert unknown.exit_code == 1
    assert "The pass rate is not known" in unknown.stderr
