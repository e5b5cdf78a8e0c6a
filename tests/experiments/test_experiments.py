"""The paper's experiments: what is printed, what is run, what is kept, what is written."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.svm import SVC

import blindfuse
from blindfuse import (
    BadParameter,
    BlindEnsemble,
    MajorityVote,
    MomentCounts,
    Oracle,
    SingleBest,
    simulate,
)
from blindfuse.metrics import error_rate
from experiments import (
    classifiers,
    crowdsourced,
    many_annotators,
    many_classes,
    two_classes,
)
from experiments.__main__ import command
from experiments.catalogue import EXPERIMENTS, FULL, QUICK, SMOKE, chosen, tasks_of
from experiments.differences import differences, reproduced
from experiments.machines import QuickSVC
from experiments.methods import BEST, EM, FUSE, METHODS, ORACLE, OURS, PLAIN, VOTE, Known
from experiments.outcome import Section, Table, cell
from experiments.page import cell_text, to_markdown
from experiments.plain import PlainAlgorithm1
from experiments.running import Measured, Results, estimate, in_order, run_all
from experiments.settings import FIGURE_3, TABLE_1, TABLE_2
from experiments.tasks import Found, Task, chernoff_bound, draw, run_task
from experiments.theorems import slope
from tests.conftest import SHARED, Crowds

PAPER = SHARED.parent / "paper.md"
TIMES = {"seconds", "sweep_seconds", "spent", "memory"}


def without_times(results: Results) -> dict[Task, dict[str, Any]]:
    return {
        task: {name: value for name, value in found.items() if name not in TIMES}
        for task, found in results.found.items()
    }


def tiny(method: str, seed: int = 0, **more: Any) -> Task:
    return Task(TABLE_1.name, method, seed, 200, **more)


# What the paper prints.


def printed_rows(table: str) -> list[list[str]]:
    """The rows of the Markdown table that stands before its caption, and the header."""
    if not PAPER.is_file():
        pytest.skip("the paper is not on this machine")
    lines = PAPER.read_text().splitlines()
    end = lines.index(f"TABLE {table}")
    block: list[list[str]] = []
    for line in reversed(lines[:end]):
        if line.startswith("|"):
            block.insert(0, [cell.strip(" *") for cell in line.strip("|").split("|")])
        elif block:
            break
    return [row for row in block if set(row[1]) != {"-"} or row[1] == "-"]


@pytest.mark.parametrize(
    ("table", "typed"),
    [
        ("I", two_classes.PRINTED_1),
        ("II", two_classes.PRINTED_2),
        ("III", two_classes.PRINTED_3),
        ("IV", many_classes.PRINTED_4),
        ("V", many_classes.PRINTED_5),
        ("VI", many_annotators.PRINTED_6),
        ("VII", many_annotators.PRINTED_7),
    ],
)
def test_every_number_of_tables_1_to_7_is_as_printed(
    table: str, typed: dict[tuple[str, str], float]
) -> None:
    _, *rows = printed_rows(table)
    names = {"Alg. 2 fixed $\\boldsymbol{\\pi}$": "Alg. 2 fixed π"}
    for name, *cells in rows:
        ours = [value for (row, _), value in typed.items() if row == names.get(name, name)]
        assert ours == [float(cell) for cell in cells]
    assert len(typed) == sum(len(row) - 1 for row in rows)


@pytest.mark.parametrize(
    ("table", "typed", "first"),
    [("VIII", classifiers.PRINTED, 2), ("IX", crowdsourced.PRINTED, 5)],
)
def test_every_number_of_tables_8_and_9_is_as_printed(
    table: str, typed: dict[tuple[str, str], float], first: int
) -> None:
    header, *rows = printed_rows(table)
    sets = {"MNIST": "mnist", "CoverType": "covtype", "PokerHand": "poker_synthetic"}
    sets |= {"Connect-4": "connect4", "Magic": "magic", "Dota 2": "dota2"}
    sets |= {"Adult": "adult", "TREC": "trec", "Bird": "bird"}
    shown = {
        ({"MV": VOTE, "Single best": BEST}.get(method, method), sets[row[0]]): float(cell)
        for row in rows
        for method, cell in zip(header[first:], row[first:], strict=True)
        if cell != "-"
    }
    assert typed == shown


# What is run.


def test_every_task_has_a_source_and_a_method_and_is_run_once() -> None:
    for scale in (FULL, QUICK, SMOKE):
        tasks = tasks_of(EXPERIMENTS.values(), scale)
        assert len(tasks) == len(set(tasks))
        assert {task.method for task in tasks} <= METHODS.keys()
        apart = [task.data for task in tasks]
        starts = [
            data for data, before in zip(apart, [None, *apart], strict=False) if data != before
        ]
        assert len(starts) == len(set(starts)), "tasks on the same answers are together"
    assert {task.seed for task in tasks_of(EXPERIMENTS.values(), FULL)} == set(range(10))


def test_what_a_task_gives_is_what_the_public_api_gives() -> None:
    data = TABLE_2.draw(500, 3, same_annotators=True)
    responses, truth = data.responses, data.truth
    named = {item: int(code) for item, code in enumerate(truth)}
    expected = {
        VOTE: MajorityVote().fit(responses).posteriors_,
        BEST: SingleBest(truth=named).fit(responses).posteriors_,
        FUSE: blindfuse.fuse(responses).posteriors,
        ORACLE: Oracle(model=data.model).fit(responses).posteriors_,
    }
    for method, posteriors in expected.items():
        found = run_task(Task(TABLE_2.name, method, 3, 500), None)
        assert found["error"] == 100 * error_rate(posteriors, truth)
    by_ml = Oracle(model=data.model, rule="ml").fit(responses).posteriors_
    assert found["error_ml"] == 100 * error_rate(by_ml, truth)
    assert found["confusion_error"] == found["prior_error"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_same_annotators_answer_any_number_of_items(seed: int) -> None:
    few, many = (FIGURE_3.draw(size, seed, same_annotators=True) for size in (100, 1000))
    assert np.array_equal(few.model.confusions, many.model.confusions)
    more = FIGURE_3.draw(100, seed, n_annotators=20, same_annotators=True)
    assert np.array_equal(more.model.confusions[:10], few.model.confusions)
    other = FIGURE_3.draw(100, seed + 1, same_annotators=True)
    assert not np.array_equal(other.model.confusions, few.model.confusions)


def test_a_method_that_refuses_says_why() -> None:
    found = run_task(Task(FIGURE_3.name, "TE", 0, 50), None)
    assert "two classes" in str(found["failed"])


def test_the_filters_of_table_9(crowds: Crowds) -> None:
    for name, annotators, labels, items, gold in (
        ("trec", 23, 38_991, 17_083, 2_099),
        ("adult", 38, 33_538, 10_046, 321),
    ):
        whole = crowds[name]
        known = draw(Task(name, "", filtered=True), str(SHARED))
        assert known.responses.n_annotators == annotators
        assert known.responses.n_responses == labels
        answered = known.responses.responses_per_item > 0
        assert np.count_nonzero(answered) == items
        assert np.count_nonzero(known.truth[answered] >= 0) == gold
        assert known.truth.tolist() == whole.truth.tolist()
    found = run_task(Task("adult", VOTE, filtered=True), str(SHARED))
    assert found["error"] == pytest.approx(28.97, abs=0.01)
    silent = known.truth[~answered]
    blind = MajorityVote().fit(known.responses).posteriors_[~answered]
    wrong = float(found["error"]) * 321 + 100 * error_rate(blind, silent) * (347 - 321)
    assert found["all_error"] == pytest.approx(wrong / 347)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_above_the_error_and_falls_with_annotators(seed: int) -> None:
    bounds = []
    for annotators in (3, 6, 12):
        drawn = simulate(20_000, annotators, 3, np.random.default_rng(seed), skill=0.2)
        bounds.append(chernoff_bound(drawn.model))
        error = error_rate(drawn.model.posteriors(drawn.responses), drawn.truth)
        assert 100 * error <= bounds[-1]
    assert bounds == sorted(bounds, reverse=True)


def test_the_slope_of_a_power_is_its_exponent() -> None:
    powers = {float(x): Measured(3 * x**-0.5, 0, 1) for x in (10, 100, 1000)}
    assert slope(powers, log_x=True) == pytest.approx(-0.5)
    falling = {float(x): Measured(np.exp(-0.2 * x), 0, 1) for x in (1, 2, 5)}
    assert slope(falling, log_x=False) == pytest.approx(-0.2)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_quick_machines_label_as_sklearns(kernel: str, classes: int) -> None:
    rng = np.random.default_rng(classes)
    centres = rng.normal(size=(classes, 6))
    truth = rng.integers(classes, size=2000)
    features = (centres[truth] + rng.normal(size=(2000, 6))).astype(np.float32)
    ours = QuickSVC(kernel=kernel).fit(features[:300], truth[:300]).predict(features)
    theirs = SVC(kernel=kernel).fit(features[:300], truth[:300]).predict(features)
    assert np.mean(ours != theirs) <= 0.001


# What is kept.


def test_results_come_back_and_only_those_of_this_version(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    for seed in range(3):
        results.add(tiny(VOTE, seed), {"error": float(seed)})
    with path.open("a") as file:
        old = {"task": tiny(EM).parameters(), "version": "0.0.1", "found": {"error": 9.0}}
        file.write(json.dumps(old) + "\n")
        file.write("no JSON\n")
        file.write(json.dumps({"task": {"colour": 1}, "version": "0.1.0", "found": {}}) + "\n")
    again = Results(path)
    assert again.found == results.found
    assert again.values("error", method=VOTE) == [0, 1, 2]
    assert again.measured("error", method=VOTE) == Measured(1, 1, 3)
    assert again.measured("error", method=EM) is None


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_half_written_line_is_not_counted_and_not_in_the_way(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "results.jsonl"
    results = Results(path)
    for seed in range(2):
        results.add(tiny(VOTE, seed), {"error": float(seed)})
    text = path.read_bytes()
    path.write_bytes(text[:-cut])
    again = Results(path)
    assert list(again.found) == [tiny(VOTE, 0)]
    again.add(tiny(VOTE, 1), {"error": 1.0})
    assert path.read_bytes() == text


KILLED = """
import sys, time
from pathlib import Path
from experiments.running import Results, run_all
from experiments.tasks import Task
tasks = [Task("Table I, K = 2", method, seed, 300)
         for seed in range(12) for method in ("Majority Voting", "KOS", "TE", "Oracle")]
run_all(tasks, Results(Path(sys.argv[1])), before=lambda task: time.sleep(float(sys.argv[2])))
"""


def test_a_run_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def start(path: Path, pause: float) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", KILLED, str(path), str(pause)])

    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    assert start(whole, 0).wait(timeout=120) == 0
    for _ in range(2):
        before = killed.stat().st_size if killed.exists() else 0
        process = start(killed, 0.05)
        deadline = time.monotonic() + 60
        while not (killed.exists() and killed.stat().st_size > before):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(timeout=30) == -signal.SIGKILL
        assert len(Results(killed).found) < 48
    survived = killed.read_bytes()
    assert start(killed, 0).wait(timeout=120) == 0
    assert killed.read_bytes().startswith(survived)
    assert without_times(Results(killed)) == without_times(Results(whole))
    assert len(killed.read_bytes().splitlines()) == 48


def test_what_has_a_result_is_not_run_again(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.add(tiny(VOTE), {"error": 12.5})
    seen: list[Task] = []
    assert run_all([tiny(VOTE), tiny("KOS"), tiny(VOTE)], results, before=seen.append) == {}
    assert seen == [tiny(VOTE), tiny("KOS")]
    assert results.found[tiny(VOTE)] == {"error": 12.5}
    assert "error" in results.found[tiny("KOS")]


def test_data_that_cannot_be_had_are_left_out_and_nothing_is_kept_of_them(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    left_out = run_all([Task("bird", VOTE), Task("bird", EM), tiny(VOTE)], results, str(tmp_path))
    assert list(left_out) == ["bird"]
    assert "no dataset 'bird'" in left_out["bird"]
    assert list(results.found) == [tiny(VOTE)]


def test_estimates_grow_with_size(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.add(Task(TABLE_1.name, VOTE, 0, 1_000), {"spent": 2.0})
    left = [Task(TABLE_1.name, VOTE, seed, size) for seed in (0, 1) for size in (1_000, 10_000)]
    (one,) = estimate(left, results)
    assert (one.left, one.seconds) == (3, 2 + 20 + 20)
    results.add(Task(TABLE_1.name, OURS, 0, 1_000), {"spent": 5.0, "sweep_seconds": 4.0})
    (sweeping,) = estimate([Task(TABLE_1.name, OURS, 0, 10_000)], results)
    assert sweeping.seconds == 4 + 10
    (other,) = estimate([Task(TABLE_2.name, VOTE, 0, 2_000)], results)
    assert other.seconds == 4
    (trained,) = estimate([Task("mnist", VOTE)], results)
    assert trained.seconds is None
    (unknown,) = estimate([Task(TABLE_1.name, EM, 0, 10)], results)
    assert unknown.seconds is None


def test_in_order_brings_methods_on_the_same_answers_together() -> None:
    tasks = [tiny(method, seed) for method in (VOTE, EM) for seed in (0, 1)]
    assert [(task.seed, task.method) for task in in_order(tasks)] == [
        (0, VOTE),
        (0, EM),
        (1, VOTE),
        (1, EM),
    ]


# What is written.


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, dict[str, str]]:
    """Every experiment at its smallest; datasets only if they are here."""
    folder = tmp_path_factory.mktemp("smoke")
    results = Results(folder / "results.jsonl")
    data = str(SHARED if SHARED.is_dir() else folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLINDFUSE_CACHE", str(folder / "cache"))
        return results, run_all(tasks_of(EXPERIMENTS.values(), SMOKE), results, data)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_shows_its_tables_and_the_page_has_every_cell(
    smoke: tuple[Results, dict[str, str]], name: str
) -> None:
    results, left_out = smoke
    experiment = EXPERIMENTS[name]
    if any(task.source in left_out for task in experiment.tasks(SMOKE)):
        pytest.skip(f"its datasets are not on this machine: {sorted(left_out)}")
    section = experiment.section(results, SMOKE)
    assert section.tables
    page = to_markdown([section], results, SMOKE, {})
    for table in section.tables:
        assert table.measured
        for row in table.rows:
            cells = [cell_text(table, row, column) for column in table.columns]
            if any(cells):
                assert f"| {row} | " + " | ".join(cells) + " |" in page
    for check in section.checks:
        assert check.what in page
    for picture in section.pictures:
        assert f"figures/{picture.name}.svg" in page
        assert len(json.loads(picture.chart.to_json())) > 0
    assert not re.search(r"\bnan\b|\binf\b|None", page)
    assert not re.search(r"/(?:tmp|home|root|work)/", page)


def test_the_command_runs_goes_on_and_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments import catalogue

    monkeypatch.setattr(catalogue, "QUICK", replace(SMOKE, most_items=100))
    arguments = ["figure2", "theorem2", "--quick", "--runs", "2", "--out", str(tmp_path)]
    first = CliRunner().invoke(command, [*arguments, "--estimate"])
    assert first.exit_code == 0
    assert "0 of" in first.output
    assert not (tmp_path / "reproduction.md").exists()
    ran = CliRunner().invoke(command, arguments)
    assert ran.exit_code == 0, ran.output
    assert "figures hold" in ran.output
    again = CliRunner().invoke(command, arguments)
    done = len((tmp_path / "results" / "results.jsonl").read_text().splitlines())
    assert f"{done} of {done} tasks are done." in again.output
    page = (tmp_path / "reproduction.md").read_text()
    assert "## Figure 2" in page
    for picture in re.findall(r"\((figures/\S+)\)", page):
        assert (tmp_path / picture).read_text().startswith("<svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figures",
        "reproduction.md",
        "results",
    ]


def test_names_of_experiments() -> None:
    assert chosen([]) == chosen(["all"]) == list(EXPERIMENTS.values())
    assert [one.name for one in chosen(["table9", "figure11", "table9"])] == ["table9", "figure11"]
    with pytest.raises(BadParameter, match=r"'tabel1': did you mean 'table1'\?"):
        chosen(["tabel1"])
    numbered = {f"table{number}" for number in range(1, 10)}
    numbered |= {f"figure{number}" for number in range(2, 12)}
    assert set(EXPERIMENTS) == numbered | {"theorem1", "theorem2", "skill"}


# How differences are judged.


def table(kind: str, printed: dict[str, float], measured: dict[str, float], runs: int = 1) -> Table:
    rows = list(measured)
    reference = {"synthetic": "Oracle MAP", "real": VOTE}.get(kind, "")
    return Table(
        "Error",
        rows,
        ["N = 10,000"],
        {(row, "N = 10,000"): value for row, value in printed.items()},
        {(row, "N = 10,000"): Measured(value, 0.0, runs) for row, value in measured.items()},
        kind,
        reference,
    )


def test_synthetic_cells_are_judged_by_the_ratio_to_the_oracle() -> None:
    twice_as_hard = table(
        "synthetic",
        {VOTE: 6.0, "Alg. 2 MAP": 1.2, "Oracle MAP": 1.0},
        {VOTE: 12.0, "Alg. 2 MAP": 2.0, FUSE: 2.0, "Oracle MAP": 2.0},
    )
    found = {one.row: one for one in differences(twice_as_hard, 2)}
    assert set(found) == {"Alg. 2 MAP", "Oracle MAP"}
    assert found["Alg. 2 MAP"].better
    assert "1 × the oracle, printed 1.2 ×" in found["Alg. 2 MAP"].cells[0]
    assert not found["Oracle MAP"].better
    assert found["Oracle MAP"].cells == ["N = 10,000 (2.00 %, printed 1.00 %)"]
    assert reproduced(twice_as_hard) == 1


def test_times_are_judged_by_seconds_and_real_cells_by_the_vote() -> None:
    times = table("time", {OURS: 10.0, EM: 1.0}, {OURS: 0.5, EM: 1.05, PLAIN: 9.0})
    (faster,) = differences(times, 2)
    assert (faster.row, faster.better, faster.cells) == (OURS, True, ["N = 10,000 (20 × as fast)"])
    real = table(
        "real",
        {VOTE: 30.0, EM: 40.0, "Alg. 2 MAP": 29.0},
        {VOTE: 31.0, EM: 31.0, "Alg. 2 MAP": 30.1},
    )
    found = {one.row: one.better for one in differences(real, 2)}
    assert found == {VOTE: False, EM: True}
    same = table("crowd", {VOTE: 30.0, EM: 40.0, FUSE: 29.0}, {VOTE: 31.0, EM: 39.9, FUSE: 28.0})
    found = {one.row: one.better for one in differences(same, 2)}
    assert found == {VOTE: False, FUSE: True}
    assert reproduced(same) == 1


def test_an_oracle_without_error_leaves_nothing_to_compare() -> None:
    perfect = table("synthetic", {VOTE: 6.0, "Oracle MAP": 1.0}, {VOTE: 0.0, "Oracle MAP": 0.0})
    assert differences(perfect, 2) == []
    assert reproduced(perfect) == 0


def test_where_the_paper_is_close_to_its_oracle_we_must_be_too() -> None:
    where = "N = 10,000"
    printed = {("Alg. 2 MAP", where): 1.13, ("Oracle MAP", where): 1.11}
    printed |= {("Alg. 2 ML", where): 3.0, ("Oracle ML", where): 1.0}
    for ours, holds in ((2.0, True), (2.04, True), (2.1, False)):
        measured = {
            ("Alg. 2 MAP", where): Measured(ours, 0, 1),
            ("Alg. 2 ML", where): Measured(9, 0, 1),
        }
        measured |= {(f"Oracle {rule}", where): Measured(2.0, 0, 1) for rule in ("MAP", "ML")}
        shown = Table("", [], [where], printed, measured, "synthetic", "Oracle MAP")
        (check,) = two_classes._close_cells("Table I", shown)
        assert check.holds is holds


def test_a_row_by_ml_has_errors_of_its_own(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    found: Found = {
        "error": 1.0,
        "error_ml": 2.0,
        "all_error": 3.0,
        "all_error_ml": 4.0,
        "seconds": 5.0,
    }
    results.add(Task("adult", OURS, filtered=True), found)
    where = {"source": "adult", "filtered": True}
    for row, field, value in (
        ("Alg. 2 MAP", "error", 1),
        ("Alg. 2 ML", "error", 2),
        ("Alg. 2 MAP", "all_error", 3),
        ("Alg. 2 ML", "all_error", 4),
        (OURS, "seconds", 5),
    ):
        measured = cell(results, row, field, **where)
        assert measured is not None
        assert measured.mean == value
    section = EXPERIMENTS["table9"].section(results, FULL)
    assert section.tables[0].measured["Alg. 2 ML", "adult"].mean == 4
    assert section.tables[1].measured["Alg. 2 ML", "adult"].mean == 2


def test_known_truth_by_name() -> None:
    drawn = simulate(5, 3, 2, np.random.default_rng(0))
    truth = np.array([0, -1, 1, -1, 0])
    assert Known(drawn.responses, truth).named_truth() == {0: 0, 2: 1, 4: 0}


def test_a_section_without_results_is_empty_not_wrong(tmp_path: Path) -> None:
    nothing = Results(tmp_path / "results.jsonl")
    for experiment in EXPERIMENTS.values():
        section = experiment.section(nothing, SMOKE)
        assert isinstance(section, Section)
        assert all(not table.measured for table in section.tables)


@pytest.mark.parametrize(("classes", "annotators"), [(2, 4), (3, 5), (4, 6)])
def test_plain_algorithm_1_ends_where_the_library_does(classes: int, annotators: int) -> None:
    """Two programs that share nothing but the paper."""
    for seed in range(3):
        rng = np.random.default_rng([seed, classes])
        responses = simulate(3000, annotators, classes, rng, skill=0.5).responses
        plain = PlainAlgorithm1(tolerance=1e-8, max_sweeps=3000).fit(responses)
        ours = BlindEnsemble(shrinkage=None, tolerance=1e-8).fit(responses)
        moments = MomentCounts.count(responses).moments()
        one, other = (
            moments.objective(each.model_.confusions, each.model_.prior) for each in (plain, ours)
        )
        assert one == pytest.approx(other, rel=1e-4)
        np.testing.assert_allclose(plain.model_.confusions, ours.model_.confusions, atol=0.01)
        np.testing.assert_allclose(plain.posteriors_, ours.posteriors_, atol=0.02)
