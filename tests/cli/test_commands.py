"""The command line: what it writes, says and refuses."""

import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import blindfuse
from blindfuse import (
    Model,
    Responses,
    compare,
    fuse,
    next_labels,
    read,
    read_gold,
    simulate,
)
from blindfuse.cli import report
from blindfuse.cli.main import COMMANDS
from blindfuse.cli.main import blindfuse as program
from blindfuse.cli.options import FORMATS
from blindfuse.estimators.registry import METHODS
from blindfuse.fusion.selection import select_method
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_shares
from blindfuse.readers import reading


def run(*words: object, input: bytes | None = None) -> Result:
    return CliRunner().invoke(program, [str(word) for word in words], input=input)


def done(*words: object, input: bytes | None = None) -> Result:
    result = run(*words, input=input)
    assert result.exit_code == 0, result.output
    return result


def refused(*words: object, input: bytes | None = None) -> str:
    """The one line that says what is wrong."""
    result = run(*words, input=input)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("·")]
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(lines) == 1
    assert lines[0].startswith("blindfuse: ")
    return lines[0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with votes.csv and truth.csv; nothing but outputs that a test names may come."""
    monkeypatch.chdir(tmp_path)
    made = simulate(300, 7, 3, np.random.default_rng(0), skill=0.4, missing=0.3)
    names, given = np.array(["cat", "cow", "dog"]), made.responses.by_item
    pl.DataFrame(
        {
            "item": [f"i{n}" for n in made.responses.item_of_response()],
            "annotator": [f"a{m}" for m in given.codes],
            "label": names[given.labels],
        }
    ).write_csv("votes.csv")
    pl.DataFrame({"item": [f"i{n}" for n in range(300)], "truth": names[made.truth]}).write_csv(
        "truth.csv"
    )
    yield tmp_path
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def votes() -> Responses:
    return read("votes.csv").responses


def some_gold(count: int = 40) -> dict[str, str]:
    gold = dict(list(read_gold("truth.csv").items())[:count])
    pl.DataFrame({"item": list(gold), "label": list(gold.values())}).write_csv("gold.csv")
    return gold


# What is written


READ_BACK: dict[str, Callable[[Path], pl.DataFrame]] = {
    "fused.csv": pl.read_csv,
    "fused.CSV": pl.read_csv,
    "fused.tsv": lambda path: pl.read_csv(path, separator="\t"),
    "fused.csv.gz": lambda path: pl.read_csv(gzip.decompress(path.read_bytes())),
    "fused.jsonl": pl.read_ndjson,
    "fused.ndjson.gz": lambda path: pl.read_ndjson(gzip.decompress(path.read_bytes())),
    "fused.parquet": pl.read_parquet,
}


@pytest.mark.parametrize("name", READ_BACK)
def test_every_kind_of_file_has_what_fuse_found(name: str, folder: Path) -> None:
    done("fuse", "votes.csv", "-o", name)
    frame, expected = READ_BACK[name](folder / name), fuse(votes())
    exact = 1e-12 if name.endswith("parquet") else 5.1e-7
    assert frame.columns == [
        *("item", "label", "confidence", "margin", "needs_another_label"),
        *("p_cat", "p_cow", "p_dog"),
    ]
    assert frame["item"].to_list() == expected.responses.items.tolist()
    assert frame["label"].to_list() == expected.labels.tolist()
    posteriors = frame.select("p_cat", "p_cow", "p_dog").to_numpy()
    np.testing.assert_allclose(posteriors, expected.posteriors, atol=exact)
    first, second = np.sort(expected.posteriors, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(frame["confidence"], first, atol=exact)
    np.testing.assert_allclose(frame["margin"], first - second, atol=exact)
    assert frame["needs_another_label"].to_list() == (first < 0.9).tolist()


def test_a_pipe_takes_csv_and_nothing_else() -> None:
    result = done("fuse", "votes.csv", "-o", "-")
    done("fuse", "votes.csv", "-o", "fused.csv")
    assert result.stdout == Path("fused.csv").read_text()
    assert "Fused" in result.stderr
    assert "Fused" not in result.stdout


def test_without_a_pipe_the_summary_is_on_standard_output() -> None:
    result = done("fuse", "votes.csv")
    assert "Fused" in result.stdout
    assert "read as long, CSV: item in 'item'" in result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert not Path("fused.csv").exists()


def test_standard_input_gzip_and_patterns_are_read() -> None:
    data = Path("votes.csv").read_bytes()
    expected = done("fuse", "votes.csv", "-o", "-").stdout
    assert done("fuse", "-", "-o", "-", input=data).stdout == expected
    Path("votes.csv.gz").write_bytes(gzip.compress(data))
    assert done("fuse", "votes.csv.gz", "-o", "-").stdout == expected
    header, *rows = data.decode().splitlines(keepends=True)
    Path("part1.csv").write_text(header + "".join(rows[:500]))
    Path("part2.csv").write_text(header + "".join(rows[500:]))
    assert done("fuse", "part*.csv", "-o", "-").stdout == expected
    assert done("fuse", "part1.csv", "part2.csv", "-o", "-").stdout == expected


def test_many_classes_have_no_columns_of_their_own() -> None:
    rows = [f"i{n},a{m},c{n % 21}\n" for n in range(63) for m in range(2)]
    Path("many.csv").write_text("item,annotator,label\n" + "".join(rows))
    assert "p_" not in done("fuse", "many.csv", "-o", "-").stdout.splitlines()[0]
    Path("fewer.csv").write_text("item,annotator,label\n" + "".join(rows).replace("c20", "c19"))
    assert done("fuse", "fewer.csv", "-o", "-").stdout.splitlines()[0].count("p_") == 20


def test_all_files_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        asked.update(options, fusion=fusion)
        return "<html>ü</html>"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    outputs = ["--report", "r.html", "--annotators", "a.parquet", "--model", "m.npz"]
    result = done("fuse", "votes.csv", "-o", "fused.csv", *outputs)
    for name in ("fused.csv", "r.html", "a.parquet", "m.npz"):
        assert f"{name} is written" in result.stderr
    expected = fuse(votes())
    np.testing.assert_array_equal(Model.load("m.npz").confusions, expected.model.confusions)
    assert Path("r.html").read_text(encoding="utf-8") == "<html>ü</html>"
    assert asked["title"] == "votes.csv"
    assert asked["notes"] == read("votes.csv").notes
    assert asked["gold"] is None
    assert [row.method for row in asked["compared"]] == ["fuse", *METHODS]
    frame = pl.read_parquet("a.parquet")
    about = expected.diagnostics.annotators
    order = np.argsort(about.accuracy, kind="stable")
    assert frame["annotator"].to_list() == about.names[order].tolist()
    np.testing.assert_array_equal(frame["accuracy"], about.accuracy[order])
    np.testing.assert_array_equal(frame["accuracy_low"], about.low[order])
    np.testing.assert_array_equal(frame["labels"], about.labels[order])


@pytest.mark.parametrize(
    ("all_up_to", "quick_up_to", "compared"),
    [(-1, 0, ["fuse", *report.QUICK]), (-1, -1, []), (0, 0, ["fuse", *METHODS])],
)
def test_a_report_compares_what_is_quick(
    monkeypatch: pytest.MonkeyPatch, all_up_to: int, quick_up_to: int, compared: list[str]
) -> None:
    asked: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        asked.update(options)
        return "x"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    monkeypatch.setattr(report, "MOST_COMPARED", votes().n_responses + all_up_to)
    monkeypatch.setattr(report, "MOST_QUICK", votes().n_responses + quick_up_to)
    gold = some_gold()
    done("fuse", "votes.csv", "--report", "r.html", "--gold", "gold.csv")
    assert [row.method for row in asked["compared"]] == compared
    assert asked["gold"].items == len(gold)
    if compared:  # the fusion that was not told gold is not made again
        assert asked["compared"][0].seconds is None
        assert asked["compared"][0].error == asked["gold"].error.value


def test_a_report_is_a_page_about_these_answers() -> None:
    done("fuse", "votes.csv", "--report", "r.html")
    text = Path("r.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "votes.csv" in text
    assert f"{votes().n_responses:,} labels" in text


def test_a_model_of_annotators_who_err_together_comes_with_a_word(folder: Path) -> None:
    warned = "rather than predict them"
    assert warned not in done("fuse", "votes.csv", "--model", "a.npz").stderr
    rng = np.random.default_rng(0)
    rows = [f"i{n},{m},{rng.integers(2)}\n" for n in range(50) for m in "ab"]
    Path("two.csv").write_text("item,annotator,label\n" + "".join(rows))
    assert warned in done("fuse", "two.csv", "--model", "b.npz").stderr


def test_quiet_says_nothing() -> None:
    result = done("fuse", "votes.csv", "-q", "-o", "fused.csv")
    assert (result.stdout, result.stderr) == ("", "")
    assert Path("fused.csv").exists()


def test_json_is_one_document_with_everything() -> None:
    gold = some_gold()
    result = done("fuse", "votes.csv", "--json", "--gold", "gold.csv")
    found, expected = json.loads(result.stdout), fuse(votes(), gold=gold)
    assert found["method"] == expected.method
    assert found["why"] == expected.why
    assert found["classes"] == ["cat", "cow", "dog"]
    assert found["expected_error"] == expected.diagnostics.expected.error
    assert found["class_shares"] == expected.model.prior.tolist()
    assert (found["n_items"], found["n_annotators"]) == (300, 7)
    assert [row["label"] for row in found["items"]] == expected.labels.tolist()
    assert found["need_another_label"] == sum(row["needs_another_label"] for row in found["items"])
    assert {row["annotator"] for row in found["annotators"]} == {f"a{m}" for m in range(7)}
    assert found["gold"]["items"] == 40
    assert "Fused" not in result.stderr


# How it is read and fused


def test_columns_questions_and_formats_can_be_named() -> None:
    text = Path("votes.csv").read_text().replace("item,annotator,label", "x,y,z", 1)
    Path("odd.csv").write_text(text)
    options = ("--item", "x", "--annotator", "y", "--label", "z")
    expected = done("fuse", "votes.csv", "-o", "-").stdout
    assert done("fuse", "odd.csv", *options, "-o", "-").stdout == expected
    Path("wide.csv").write_text("id,ann,bob,eve\n1,x,y,y\n2,x,x,y\n3,y,y,x\n")
    wide = ("--format", "wide", "--annotator", "ann", "--annotator", "eve")
    found = json.loads(done("annotators", "wide.csv", *wide, "--json").stdout)
    assert {row["annotator"] for row in found["annotators"]} == {"ann", "eve"}


def test_classes_keep_the_users_order_and_may_be_unreported() -> None:
    options = ("--classes", 'dog, cat,cow,"a, b"')
    header = done("fuse", "votes.csv", *options, "-o", "-").stdout.splitlines()[0]
    assert header.endswith(',p_dog,p_cat,p_cow,"p_a, b"')
    assert "'dog'" in refused("fuse", "votes.csv", "--classes", "cat,cow")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_by_name(name: str) -> None:
    responses = simulate(80, 5, 2, np.random.default_rng(1), skill=0.4).responses
    rows = [f"i{n},a{m},c{responses.matrix()[n, m]}\n" for n in range(80) for m in range(5)]
    Path("two.csv").write_text("item,annotator,label\n" + "".join(rows))
    spelt = name.lower().replace(" ", "-")
    found = json.loads(done("fuse", "two.csv", "--method", spelt, "--json").stdout)
    expected = METHODS[name]().fit(read("two.csv").responses)
    assert [row["label"] for row in found["items"]] == expected.labels_.tolist()
    assert found["method"] == name


def test_order_seed_and_known_annotators_reach_the_method() -> None:
    def posteriors(*options: object) -> Any:
        found = json.loads(done("fuse", "votes.csv", "--json", *options).stdout)
        return np.array([[row[f"p_{name}"] for name in found["classes"]] for row in found["items"]])

    answers = votes()
    fuse(answers).model.save("m.npz")
    model = Model.load("m.npz")
    for options, expected in (
        (["--ordered"], fuse(answers, ordered=True)),
        (["--prior-model", "m.npz"], fuse(answers, prior_model=model)),
        (["--seed", "5"], fuse(answers, seed=5)),
        (["--threads", "1"], fuse(answers, threads=1)),
        (
            ["--method", "kos", "--ordered", "--seed", "5"],
            fuse(answers, selection=select_method("KOS", METHODS["KOS"], ordered=True, seed=5)),
        ),
        (
            ["--method", "dawid-skene", "--prior-model", "m.npz"],
            fuse(answers, selection=select_method("DS", METHODS["DawidSkene"], prior_model=model)),
        ),
    ):
        np.testing.assert_allclose(posteriors(*options), expected.posteriors, atol=5.1e-7)
    assert "no use for --prior-model" in refused(
        "fuse", "votes.csv", "--method", "wawa", "--prior-model", "m.npz"
    )
    assert "no use for --ordered" in refused("fuse", "votes.csv", "--method", "glad", "--ordered")


def test_a_warning_is_a_note() -> None:
    made = done("simulate", "--adversaries", "0.2", "--missing", "0.5", "--items", "600").stdout
    result = done("fuse", "-", "--method", "spectral", "-o", "-", input=made.encode())
    assert "· Spectral: Second moments of two groups" in result.stderr
    assert "Warning" not in result.stderr


# Gold


def test_gold_is_held_and_its_error_is_measured_without_it() -> None:
    gold = dict.fromkeys(some_gold(), "cow")
    pl.DataFrame({"item": list(gold), "label": list(gold.values())}).write_csv("cows.csv")
    found = json.loads(done("fuse", "votes.csv", "--gold", "cows.csv", "--json").stdout)
    assert {row["label"] for row in found["items"] if row["item"] in gold} == {"cow"}
    answers = votes()
    blind, truth = fuse(answers), np.full(300, -1)
    truth[[list(answers.items).index(item) for item in gold]] = 1
    measured = found["gold"]
    assert measured["error"] == pytest.approx(error_rate(blind.posteriors, truth))
    assert measured["vote_error"] == pytest.approx(error_rate(vote_shares(answers), truth))
    assert measured["calibration_error"] == pytest.approx(
        calibration_error(blind.posteriors, truth)
    )
    words = done("fuse", "votes.csv", "--gold", "cows.csv").stdout
    assert "On 40 gold items, fused without them" in " ".join(words.split())
    assert f"{100 * measured['error']:.1f} % wrong" in " ".join(words.split())


def test_gold_without_answers_is_noted_and_skipped() -> None:
    some_gold()
    with Path("gold.csv").open("a") as file:
        file.write("nobody asked,cat\n")
    result = done("fuse", "votes.csv", "--gold", "gold.csv", "--json")
    assert json.loads(result.stdout)["gold"]["items"] == 40
    assert "1 gold items have no answers: 'nobody asked'" in result.stderr
    Path("other.csv").write_text("item,label\nx,cat\n")
    assert "No item in other.csv has answers" in refused("fuse", "votes.csv", "--gold", "other.csv")
    Path("class.csv").write_text("item,label\ni1,bird\n")
    message = refused("fuse", "votes.csv", "--gold", "class.csv")
    assert "'bird'" in message
    assert message.endswith("Name them in --classes.")


def test_a_truth_in_the_file_is_gold_unless_that_is_refused() -> None:
    frame = pl.read_csv("votes.csv").with_columns(truth=pl.lit("dog"))
    frame.write_csv("told.csv")
    told = json.loads(done("fuse", "told.csv", "--json").stdout)
    assert {row["label"] for row in told["items"]} == {"dog"}
    assert told["gold"]["items"] == 300
    blind = json.loads(done("fuse", "told.csv", "--json", "--no-gold").stdout)
    assert [row["label"] for row in blind["items"]] == fuse(votes()).labels.tolist()
    assert blind["gold"] is None


def test_a_method_learns_from_gold_where_it_can() -> None:
    gold = some_gold(150)
    options = ("--method", "dawid-skene", "--gold", "gold.csv", "--json")
    found = json.loads(done("fuse", "votes.csv", *options).stdout)
    taught = METHODS["DawidSkene"]().fit(votes(), gold=gold)  # type: ignore[call-arg]
    assert [row["label"] for row in found["items"]] == taught.labels_.tolist()
    confidence = [row["confidence"] for row in found["items"]]
    np.testing.assert_allclose(confidence, taught.posteriors_.max(axis=1), atol=5.1e-7)


# The other commands


def test_predict_labels_new_items_by_the_model() -> None:
    header, *rows = Path("votes.csv").read_text().splitlines(keepends=True)
    Path("old.csv").write_text(header + "".join(rows[:1000]))
    Path("new.csv").write_text(header + "".join(rows[1000:]))
    done("fuse", "old.csv", "--model", "m.npz")
    result = done("predict", "m.npz", "new.csv", "-o", "-")
    new, model = read("new.csv").responses, Model.load("m.npz")
    frame = pl.read_csv(result.stdout.encode())
    assert frame["item"].to_list() == new.items.tolist()
    assert frame["label"].to_list() == model.labels(new).tolist()
    np.testing.assert_allclose(frame["confidence"], model.posteriors(new).max(axis=1), atol=5.1e-7)
    found = json.loads(done("predict", "m.npz", "new.csv", "--json").stdout)
    assert found["expected_error"] == pytest.approx(1 - model.posteriors(new).max(axis=1).mean())
    assert "Labelled" in done("predict", "m.npz", "new.csv").stdout
    Path("stranger.csv").write_text(f"{header}i1,Zoe,cat\n")
    assert "'Zoe'" in refused("predict", "m.npz", "stranger.csv")
    assert "no blindfuse model" in refused("predict", "votes.csv", "new.csv")


def test_a_model_of_numbers_meets_the_text_of_files() -> None:
    made = simulate(50, 4, 2, np.random.default_rng(3), skill=0.5)
    made.model.save("m.npz")
    rows = [f"{n},{m},{made.responses.matrix()[n, m]}\n" for n in range(50) for m in range(4)]
    Path("numbers.csv").write_text("item,annotator,label\n" + "".join(rows))
    found = json.loads(done("predict", "m.npz", "numbers.csv", "--json").stdout)
    expected = made.model.labels(made.responses)
    assert [int(row["label"]) for row in found["items"]] == expected.tolist()


def test_compare_with_and_without_truth() -> None:
    truth, answers = read_gold("truth.csv"), votes()
    options = ("--method", "glad", "--method", "majority-vote", "--method", "eigen-ratio")
    found = json.loads(
        done("compare", "votes.csv", "--truth", "truth.csv", "--json", *options).stdout
    )
    some = {name: METHODS[name] for name in ("GLAD", "MajorityVote", "EigenRatio")}
    expected = {row.method: row for row in compare(answers, truth, some)}
    assert found["truths"] == 300
    assert {row["method"] for row in found["methods"]} == set(expected)
    for row in found["methods"]:
        other = expected[row["method"]]
        assert row["error"] == pytest.approx(other.error, abs=1e-6)
        assert row["differs"] == pytest.approx(other.differs, abs=1e-6)
    errors = [row["error"] for row in found["methods"] if row["error"] is not None]
    assert errors == sorted(errors)
    words = done("compare", "votes.csv", "--truth", "truth.csv", *options).stdout
    best = min(row.error for row in expected.values() if row.error is not None)
    line = next(line for line in words.splitlines() if " best " in line)
    assert f"{100 * best:.2f} %" in line
    assert "300 known labels" in words
    assert "No EigenRatio: EigenRatio knows two classes" in words
    without = done("compare", "votes.csv", *options).stdout
    assert "error" not in without
    assert "unlike fuse" in without


def test_annotators_are_ranked_with_remarks() -> None:
    rng, pair = np.random.default_rng(2), [(0, 1)]
    made = simulate(600, 12, 2, rng, skill=0.6, adversaries=0.1, cliques=pair, copying=1)
    said = made.responses.matrix()
    rows = [f"i{n},a{m:02},{said[n, m]}\n" for n in range(600) for m in range(12)]
    Path("mixed.csv").write_text("item,annotator,label\n" + "".join(rows))
    result = done("annotators", "mixed.csv", "-o", "who.jsonl")
    lines = [line for line in result.stdout.splitlines() if re.match(r"a\d\d", line)]
    assert "worse than chance" in lines[0]
    assert lines[0].startswith("a11")
    assert all("errs with group 1" in line for line in lines if line[:3] in ("a00", "a01"))
    about = fuse(read("mixed.csv").responses).diagnostics
    frame = pl.read_ndjson("who.jsonl")
    assert frame.filter(flag="adversary")["annotator"].to_list() == ["a11"]
    assert set(frame.drop_nulls("errs_with_group")["annotator"]) == {"a00", "a01"}
    assert len(about.dependence.groups) == 1
    shown = dict(zip(frame["annotator"], frame["accuracy"], strict=True))
    for name, accuracy in zip(about.annotators.names, about.annotators.accuracy, strict=True):
        assert shown[name] == pytest.approx(accuracy, abs=1e-6)


def test_many_annotators_are_not_all_on_the_screen() -> None:
    rows = [f"i{n},a{m},{n % 2}\n" for n in range(10) for m in range(45)]
    Path("crowd.csv").write_text("item,annotator,label\n" + "".join(rows))
    result = done("annotators", "crowd.csv")
    assert "5 more are better" in result.stdout
    assert len(json.loads(done("annotators", "crowd.csv", "--json").stdout)["annotators"]) == 45


def test_next_asks_for_what_tells_most() -> None:
    options = ("--budget", "30", "--most-per-annotator", "6")
    result = done("next", "votes.csv", *options, "-o", "ask.csv")
    expected = next_labels(fuse(votes()), 30, most_per_annotator=6)
    frame = pl.read_csv("ask.csv")
    assert frame["item"].to_list() == expected.items.tolist()
    assert frame["annotator"].to_list() == expected.annotators.tolist()
    np.testing.assert_allclose(frame["gain"], expected.gains, atol=5.1e-7)
    assert "10 more tell less" in result.stdout
    assert "--budget 0 must be at least 1" in refused("next", "votes.csv", "--budget", "0")
    assert "Missing option '--budget'" in refused("next", "votes.csv")


def test_simulate_writes_what_simulate_draws() -> None:
    sizes = ("--items", "200", "--annotators", "9", "--classes", "4", "--missing", "0.5")
    people = ("--skill", "0.2", "--adversaries", "0.3", "--copiers", "2", "--seed", "7")
    done("simulate", "-o", "s.parquet", "--truth", "t.csv", *sizes, *people)
    expected = simulate(
        200, 9, 4, np.random.default_rng(7), skill=0.2, missing=0.5, adversaries=0.3,
        cliques=[(0, 1, 2)], copying=0.9,
    )  # fmt: skip
    given, frame = expected.responses.by_item, pl.read_parquet("s.parquet")
    assert frame["label"].to_list() == [str(label) for label in given.labels]
    assert frame["annotator"].to_list() == [f"a{m + 1}" for m in given.codes]
    items = expected.responses.item_of_response()
    assert frame["item"].to_list() == [f"i{n + 1}" for n in items]
    truth = read_gold("t.csv")
    assert list(truth.values()) == [str(code) for code in expected.truth]
    assert done("simulate", *sizes, *people).stdout == pl.read_parquet("s.parquet").write_csv()
    assert "--copiers" in refused("simulate", "--annotators", "3", "--copiers", "3")


def test_methods_are_all_listed_with_what_they_need() -> None:
    found = json.loads(done("methods", "--json").stdout)["methods"]
    assert [row["method"] for row in found] == ["fuse", *METHODS]
    assert all(row["what"] and "``" not in row["what"] for row in found)
    words = " ".join(done("methods").stdout.split())
    assert "SpectralMetaLearner" in words
    assert "Needs two classes, three annotators who share items." in words


def test_datasets_are_those_of_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLINDFUSE_DATA", raising=False)
    monkeypatch.setenv("BLINDFUSE_CACHE", str(folder / "cache"))
    downloads = json.loads(done("datasets", "--json").stdout)["datasets"]
    assert {"bird", "rte", "trec"} <= {row["name"] for row in downloads}
    assert {row["labels"] for row in downloads} == {"not downloaded yet"}
    assert "nowhere is no folder" in refused("datasets", "--data", "nowhere")
    (folder / "crowd" / "mine").mkdir(parents=True)
    (folder / "crowd" / "mine" / "labels.csv.gz").touch()
    assert "mine" in done("datasets", "--data", folder).stdout
    monkeypatch.setenv("BLINDFUSE_DATA", str(folder))
    assert json.loads(done("datasets", "--json").stdout)["datasets"][0]["name"] == "mine"


def test_the_demo_shows_blind_and_true_figures_and_writes_a_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        asked.update(options, fusion=fusion)
        return "page"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    monkeypatch.setattr(report, "MOST_QUICK", 0)
    words = done("demo", "--report", "demo.html").stdout
    assert Path("demo.html").read_text() == "page"
    assert asked["gold"].items == 1797
    row = next(line for line in words.splitlines() if line.startswith("svm linear"))
    blind, true = map(float, row.split()[-2:])
    assert blind == pytest.approx(true, abs=0.05)
    assert re.search(r"blindfuse +5\.\d\d %", words)


def test_the_demo_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "blindfuse.demo", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    message = refused("demo")
    assert "The demo needs sklearn" in message
    assert "pip install 'blindfuse[experiments]'" in message


# What is refused


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["fuse", "vote.csv"], "Did you mean 'votes.csv'?"),
        (["fuse", "votes.csv", "--item", "itm"], "votes.csv has no column 'itm': did you mean"),
        (["fuse", "votes.csv", "--method", "dawidskeen"], "did you mean 'DawidSkene'?"),
        (["fuse", "votes.csv", "--question", "mood"], "'question'"),
        (["fuse", "votes.csv", "--format", "lng"], "'long'"),
        (["fuse", "votes.csv", "--itm", "x"], "--item"),
        (["fuse", "votes.csv", "--prior-model", "nothing"], "'nothing' does not exist"),
        (["fuse", "votes.csv", "--threads", "0"], "--threads"),
        (["fuse", "votes.csv", "-o", "-", "--json"], "either --json or -o -"),
        (["fuse", "votes.csv", "-o", "a.csv", "--annotators", "a.csv"], "Two outputs"),
        (["fuse"], "Missing argument 'FILE…'"),
        (["fuze", "votes.csv"], "did you mean 'fuse'?"),
        (["--nothing"], "--nothing"),
    ],
)
def test_what_is_wrong_is_one_line_with_a_remedy(words: list[str], what: str) -> None:
    assert what in refused(*words)


def test_a_remedy_speaks_of_options() -> None:
    Path("two.csv").write_text("task,unit,worker,label\n1,2,a,x\n1,2,b,y\n")
    message = refused("fuse", "two.csv")
    assert "Say which with --item, as in --item 'task'." in message


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("kept.csv", "exists already. Pass --force"),
        ("fused.xlsx", "must end in one of 'csv'"),
        ("fused", "must end in one of 'csv'"),
        ("fused.parquet.gz", "must end in one of"),
        ("nowhere/fused.csv", "there is no folder nowhere"),
        ("folder.csv", "is no file that could be written"),
    ],
)
def test_outputs_are_checked_before_the_work(
    name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("kept.csv").write_text("mine")
    Path("folder.csv").mkdir()
    monkeypatch.setattr(reading, "sources", None)  # reading would fail otherwise
    assert what in refused("fuse", "votes.csv", "-o", name)
    assert Path("kept.csv").read_text() == "mine"


def test_a_read_only_folder_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != "locked")
    assert "locked is read-only" in refused("fuse", "votes.csv", "-o", "locked/fused.csv")


def test_force_overwrites_wherever_it_stands() -> None:
    for words in (["--force", "-o", "fused.csv"], ["-o", "fused.csv", "--force"]):
        Path("fused.csv").write_text("old")
        done("fuse", "votes.csv", *words)
        assert Path("fused.csv").read_text().startswith("item,label")


def test_a_disk_that_fails_leaves_every_file_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("fused.csv").write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    options = ("-o", "fused.csv", "--model", "m.npz", "--force")
    assert "No space left on device" in refused("fuse", "votes.csv", *options)
    assert Path("fused.csv").read_text() == "old"
    assert not Path("m.npz").exists()


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blindfuse.fusion.fuse.diagnose", lambda *_: 1 / 0)
    result = run("fuse", "votes.csv")
    assert result.exit_code == 1
    assert isinstance(result.exception, ZeroDivisionError)


# Hostile names


HOSTILE = [
    "[bold]x[/bold]",
    "a\nb",
    'say "hi"',
    "\x1b[31mred\x1b[0m",
    "bell\x07",
    "rtl\u202e",
    "é,;",
]


def test_names_mean_nothing_to_the_screen_and_survive_files() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        [(item, who, HOSTILE[rng.integers(3)]) for item in HOSTILE for who in HOSTILE],
        schema=["item", "annotator", "label"],
        orient="row",
    )
    frame.write_csv("hostile.csv")
    for words in (
        ["fuse", "hostile.csv", "-o", "fused.csv"],
        ["annotators", "hostile.csv"],
        ["next", "hostile.csv", "--budget", "5"],
        ["compare", "hostile.csv", "--method", "wawa"],
        ["fuse", "hostile.csv", "--item", "\x1b[31mx"],
    ):
        result = run(*words)
        shown = result.stdout + result.stderr
        assert not set(shown) & set("\x1b\x07\u202e"), words
    assert "[bold]x[/bold]" in done("annotators", "hostile.csv").stdout
    assert pl.read_csv("fused.csv")["item"].to_list() == HOSTILE
    found = json.loads(done("fuse", "hostile.csv", "--json").stdout)
    assert [row["item"] for row in found["items"]] == HOSTILE


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    text = done(name, "--help").stdout
    assert "Examples:" in text
    assert max(map(len, text.splitlines())) <= 80
    for example in re.findall(r"^ +blindfuse (\w+)", text, re.MULTILINE):
        assert example in COMMANDS


def test_the_group_lists_its_commands_and_the_way_to_completion() -> None:
    text = done("--help").stdout
    for name, short in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(short)}$", text, re.MULTILINE)
    assert "_BLINDFUSE_COMPLETE=bash_source blindfuse" in text
    assert run().exit_code == 2
    assert "Commands:" in run().stderr


def test_formats_are_those_of_the_reader() -> None:
    assert tuple(reading.FORMATS) == FORMATS


def test_nobody_is_left_to_ask_where_all_have_answered() -> None:
    done("simulate", "-o", "all.csv", "--items", "50", "--annotators", "4")
    assert "Nobody is left to ask" in done("next", "all.csv", "--budget", "5").stdout
