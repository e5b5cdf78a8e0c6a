"""``blindfuse fuse --multi-label``: its table, its files, its notes and what it refuses."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import SetFusion, fuse_sets
from blindfuse.metrics import masi_alpha
from tests.support.cli import refuse, succeed
from tests.support.multi_label import simulate_sets

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def fusion(folder: Path) -> SetFusion:
    """Sets of six classes in tags.csv, and their fusion."""
    drawn = simulate_sets(n_items=80, n_annotators=8, n_classes=6, seed=0)
    items = [f"i{n}" for n in drawn.items]
    annotators = [f"a{m}" for m in drawn.annotators]
    sets = [["abcdef"[k] for k in members] for members in drawn.sets]
    cells = ["|".join(members) or None for members in sets]
    pl.DataFrame({"item": items, "annotator": annotators, "label": cells}).write_csv("tags.csv")
    return fuse_sets(items, annotators, sets)


def test_the_table_has_sets_with_probabilities(fusion: SetFusion) -> None:
    result = succeed("fuse", "tags.csv", "--multi-label", "-o", "fused.csv")
    assert "empty cells read as empty sets" in result.stderr
    assert "separated at '|'" in result.stderr
    agreement = masi_alpha(fusion.responses)
    assert f"{agreement.value:.2f} (95 %" in result.stdout
    written = pl.read_csv("fused.csv")
    classes = [f"p_{name}" for name in "abcdef"]
    assert written.columns == ["item", "labels", "probability", "needs_another_label", *classes]
    assert written["item"].to_list() == fusion.items.tolist()
    labels = ["|".join(members) or None for members in fusion.sets]
    assert written["labels"].fill_null("").to_list() == [label or "" for label in labels]
    np.testing.assert_allclose(written["probability"], fusion.confidence, atol=1e-6)
    np.testing.assert_allclose(written.select(classes).to_numpy(), fusion.posteriors, atol=1e-6)


def test_annotators_report_and_json(fusion: SetFusion) -> None:
    succeed(
        *("fuse", "tags.csv", "--multi-label", "--annotators", "a.csv"),
        *("--report", "r.html", "--quiet"),
    )
    table = pl.read_csv("a.csv")
    by_name = dict(zip(fusion.annotators.names.tolist(), fusion.annotators.recall, strict=True))
    for row in table.to_dicts():
        assert row["recall"] == pytest.approx(by_name[row["annotator"]], abs=1e-6)
    assert table["f1"].is_sorted()
    assert "tags.csv" in Path("r.html").read_text(encoding="utf-8")
    result = succeed("fuse", "tags.csv", "--multi-label", "--json")
    document = json.loads(result.stdout)
    assert [tuple(row["labels"]) for row in document["items"]] == list(fusion.sets)
    assert document["classes"] == list("abcdef")
    assert document["why"] == fusion.why
    assert document["agreement"]["Krippendorff’s α (MASI)"]["value"] == pytest.approx(
        masi_alpha(fusion.responses).value
    )


@pytest.mark.usefixtures("fusion")
def test_gold_sets_are_held_fixed() -> None:
    Path("gold.csv").write_text("item,label\ni0,a|b\ni1,\ni999,c\n", encoding="utf-8")
    result = succeed("fuse", "tags.csv", "--multi-label", "--gold", "gold.csv", "-o", "fused.csv")
    assert "1 gold items without responses were skipped: 'i999'" in result.stderr
    rows = {row["item"]: row for row in pl.read_csv("fused.csv").to_dicts()}
    assert (rows["i0"]["labels"], rows["i0"]["probability"]) == ("a|b", 1.0)
    assert (rows["i1"]["labels"] or "", rows["i1"]["probability"]) == ("", 1.0)
    Path("other.csv").write_text("item,label\nq,a\n", encoding="utf-8")
    assert "No item in other.csv has responses" in refuse(
        "fuse", "tags.csv", "--multi-label", "--gold", "other.csv"
    )


@pytest.mark.usefixtures("folder")
def test_classes_that_contain_the_separator_are_written_as_lists() -> None:
    Path("odd.csv").write_text("item,annotator,label\n1,a,x|y;z\n1,b,x|y\n", encoding="utf-8")
    succeed("fuse", "odd.csv", "--multi-label", "--separator", ";", "-o", "fused.csv")
    assert json.loads(pl.read_csv("fused.csv")["labels"][0])[0] == "x|y"


@pytest.mark.usefixtures("fusion")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--multi-label", "--numbers"], "--numbers and --multi-label exclude each other"),
        (["--multi-label", "--model", "m.npz"], "--multi-label and --model exclude"),
        (["--multi-label", "--method", "MACE"], "--multi-label and --method exclude"),
        (["--multi-label", "--ordered"], "--multi-label and --ordered exclude"),
        (["--multi-label", "--partitioned"], "--multi-label and --partitioned exclude"),
        (["--separator", ";"], "--separator is for --multi-label"),
        (["--multi-label", "--classes", "a,b"], "are not among the classes"),
        (["--multi-label", "--format", "wide", "--label", "label"], "leave out --label"),
    ],
)
def test_other_options_are_refused(options: list[str], message: str) -> None:
    assert message in refuse("fuse", "tags.csv", *options)


@pytest.mark.usefixtures("fusion")
def test_plain_fusion_names_the_option() -> None:
    assert "--multi-label" in succeed("fuse", "tags.csv").stderr
