"""`blindfuse audit` and `blindfuse fuse --checked`."""

import json
from pathlib import Path

import polars as pl
import pytest

from blindfuse import audit, fuse, plan_audit, read_gold
from tests.support.cli import read_votes, refuse, succeed, write_gold

pytestmark = pytest.mark.usefixtures("folder")


def fill_in(source: str = "to_check.csv", target: str = "checked.csv", count: int = 1000) -> None:
    """Fill in the labels of the first rows from truth.csv."""
    truth = read_gold("truth.csv")
    frame = pl.read_csv(source, schema_overrides={"label": pl.String})
    labels = [truth[item] if n < count else None for n, item in enumerate(frame["item"])]
    frame.with_columns(pl.Series("label", labels, pl.String)).write_csv(target)


def test_a_plan_is_that_of_plan_audit() -> None:
    result = succeed("audit", "votes.csv", "--budget", "40", "-o", "to_check.csv")
    plan = plan_audit(fuse(read_votes()), 40)
    frame = pl.read_csv("to_check.csv")
    assert frame.columns == [
        *("item", "label", "responses", "stratum", "stratum_size", "probability", "n_strata")
    ]
    assert frame["item"].to_list() == plan.items.tolist()
    assert frame["probability"].to_list() == pytest.approx(plan.probability.tolist(), abs=1e-5)
    assert frame["label"].null_count() == 40
    assert frame["responses"][0].count(": ") >= 1
    assert "40 of 300 items to check, from 6 strata" in result.stdout
    assert "20 more rows" in result.stdout
    assert "Fill in the column label" in result.stderr
    assert "add `-o to_check.csv`" in succeed("audit", "votes.csv").stderr


def test_checked_labels_give_the_figures_of_audit() -> None:
    succeed("audit", "votes.csv", "--budget", "60", "-o", "to_check.csv")
    fill_in()
    result = succeed("audit", "votes.csv", "--checked", "checked.csv", "-o", "estimates.csv")
    fusion = fuse(read_votes())
    plan, truth = plan_audit(fusion, 60), read_gold("truth.csv")
    expected = audit(fusion, plan, {item: truth[item] for item in plan.items})
    error = f"{100 * expected.error.value:.1f} %"
    assert error in result.stdout
    assert "60 of 300 items, a stratified random sample" in " ".join(result.stdout.split())
    frame = pl.read_csv("estimates.csv")
    (row,) = frame.filter(quantity="error", name="fuse").rows()
    assert row[2:] == pytest.approx(
        (expected.error.value, expected.error.low, expected.error.high), abs=1e-6
    )
    document = json.loads(
        succeed("audit", "votes.csv", "--checked", "checked.csv", "--json").stdout
    )
    assert document["n_checked"] == 60
    assert document["estimates"][0]["value"] == pytest.approx(expected.error.value, abs=1e-6)


def test_a_plan_is_extended_and_keeps_its_labels() -> None:
    succeed("audit", "votes.csv", "--budget", "40", "--seed", "3", "-o", "to_check.csv")
    fill_in(count=25)
    options = ("--checked", "checked.csv", "--more", "20", "--seed", "3")
    succeed("audit", "votes.csv", *options, "-o", "more.csv")
    first, more = pl.read_csv("checked.csv"), pl.read_csv("more.csv")
    assert more["item"].to_list() == plan_audit(fuse(read_votes()), 40, 3).more(20).items.tolist()
    assert more["label"][:40].to_list() == first["label"].to_list()
    assert more["label"][40:].null_count() == 20
    assert more["probability"].min() > first["probability"].min()  # type: ignore[operator]


def test_label_studio_tasks_can_be_checked_there() -> None:
    succeed("audit", "votes.csv", "--budget", "30", "--label-studio", "tasks.json")
    tasks, truth = json.loads(Path("tasks.json").read_text()), read_gold("truth.csv")
    assert set(tasks[0]) == {"data"}
    for number, task in enumerate(tasks):
        choices = {"choices": [truth[task["data"]["item"]]]}
        result = {"from_name": "l", "to_name": "t", "type": "choices", "value": choices}
        task |= {"id": number, "annotations": [{"completed_by": 1, "result": [result]}]}
    Path("export.json").write_text(json.dumps(tasks))
    text = succeed("audit", "votes.csv", "--checked", "export.json").stdout
    assert "30 of 300 items, a stratified random sample" in " ".join(text.split())


def test_a_list_of_ones_own() -> None:
    write_gold(40)
    text = " ".join(succeed("audit", "votes.csv", "--checked", "gold.csv").stdout.split())
    assert "valid for items like those only" in text
    message = refuse("audit", "votes.csv", "--checked", "gold.csv", "--more", "5", "-o", "x.csv")
    assert "does not say how its items were drawn" in message


def test_the_report_has_an_audit_section() -> None:
    succeed("audit", "votes.csv", "--budget", "40", "-o", "to_check.csv")
    fill_in()
    succeed("audit", "votes.csv", "--checked", "checked.csv", "--report", "audit.html")
    page = Path("audit.html").read_text()
    assert 'id="audit"' in page
    assert "error measured on 40 checked items" in page


def test_fuse_uses_checked_labels() -> None:
    succeed("audit", "votes.csv", "--budget", "50", "-o", "to_check.csv")
    fill_in()
    result = succeed("fuse", "votes.csv", "--checked", "checked.csv", "-o", "fused.csv")
    assert "On 50 checked items" in " ".join(result.stdout.split())
    fused = dict(pl.read_csv("fused.csv").select("item", "label").iter_rows())
    checked = dict(pl.read_csv("checked.csv").select("item", "label").iter_rows())
    assert all(fused[item] == label for item, label in checked.items())
    message = refuse("fuse", "votes.csv", "--checked", "checked.csv", "--partitioned")
    assert "--partitioned and --checked exclude each other" in message


def test_files_of_another_fusion_are_used_as_they_are() -> None:
    succeed("audit", "votes.csv", "--budget", "40", "-o", "to_check.csv")
    fill_in()
    frame = pl.read_csv("checked.csv").with_columns(pl.col("stratum_size") + 1)
    frame.write_csv("other.csv")
    result = succeed("audit", "votes.csv", "--checked", "other.csv")
    assert "are not those of this fusion" in result.stderr
    message = refuse("audit", "votes.csv", "--checked", "other.csv", "--more", "5", "-o", "x.csv")
    assert "cannot be extended" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "--budget 0 must be an integer of at least 1"),
        (["--budget", "301"], "--budget 301 is too large"),
        (["--more", "5"], "--more needs --checked"),
        (["--report", "a.html"], "--report needs --checked"),
        (["--checked", "to_check.csv"], "has no labels"),
        (
            ["--checked", "to_check.csv", "--budget", "5"],
            "--checked and --budget exclude each other",
        ),
        (
            ["--checked", "to_check.csv", "--label-studio", "t.json"],
            "--checked and --label-studio exclude",
        ),
        (["--checked", "to_check.csv", "--more", "0"], "--more 0 must be"),
        (["--checked", "to_check.csv", "--more", "271"], "270 items are left"),
        (["--gold", "truth.csv"], "Every item has a gold label"),
    ],
)
def test_bad_options_are_refused(options: list[str], message: str) -> None:
    succeed("audit", "votes.csv", "--budget", "30", "-o", "to_check.csv", "-q")
    assert message in refuse("audit", "votes.csv", *options)
