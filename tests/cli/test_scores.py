"""``blindfuse fuse --scores`` and ``--abstentions``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from blindfuse.simulation import simulate_scores
from tests.support.cli import succeed

DRAWN = simulate_scores(120, 4, 11, 2, np.random.default_rng(0), separation=2.5)
SCORES = DRAWN.responses.matrix()
JUDGES = ["judge-a", "judge-b", "judge-c", "judge-d"]


def write_long(path: Path) -> None:
    lines = [
        f"r{item},{judge},{SCORES[item, m]}"
        for item in range(120)
        for m, judge in enumerate(JUDGES)
    ]
    path.write_text("\n".join(["item,judge,score", *lines]))


def write_wide(path: Path) -> None:
    lines = [",".join([f"r{item}", *map(str, SCORES[item])]) for item in range(120)]
    path.write_text("\n".join([",".join(["id", *JUDGES]), *lines]))


def write_nested(path: Path) -> None:
    objects = [
        {"id": f"r{item}", "scores": dict(zip(JUDGES, SCORES[item].tolist(), strict=True))}
        for item in range(120)
    ]
    path.write_text("\n".join(map(json.dumps, objects)))


@pytest.mark.parametrize(
    ("name", "write"),
    [("long.csv", write_long), ("wide.csv", write_wide), ("nested.jsonl", write_nested)],
)
def test_scores_are_read_from_long_wide_and_nested_files(
    tmp_path: Path, name: str, write: object
) -> None:
    write(tmp_path / name)  # type: ignore[operator]
    output = tmp_path / "fused.csv"
    result = succeed("fuse", tmp_path / name, "--scores", "--classes", "fail,pass", "-o", output)
    assert "11 levels of the score" in result.output
    with output.open() as file:
        labels = {row["item"]: row["label"] for row in csv.DictReader(file)}
    truth = ["fail" if k == 0 else "pass" for k in DRAWN.truth]
    wrong = [labels[f"r{item}"] != truth[item] for item in range(120)]
    assert np.mean(wrong) < 0.06


@pytest.mark.parametrize("factor", [1, 100])
def test_a_saved_model_divides_new_real_scores_into_its_levels(tmp_path: Path, factor: int) -> None:
    """With the factor 100, one judge uses a scale of its own."""
    real = SCORES + np.random.default_rng(1).random(SCORES.shape)
    real[:, 0] *= factor
    for name, rows in (("old.csv", range(120)), ("new.csv", range(7))):
        lines = [
            f"r{item},{judge},{real[item, m]:.6f}"
            for item in rows
            for m, judge in enumerate(JUDGES)
        ]
        (tmp_path / name).write_text("\n".join(["item,judge,score", *lines]))
    model, fused, again = (tmp_path / name for name in ("model.npz", "fused.csv", "again.csv"))
    options = "--scores", "--classes", "fail,pass", "--model", model, "-o", fused
    succeed("fuse", tmp_path / "old.csv", *options)
    succeed("predict", model, tmp_path / "new.csv", "-o", again)
    old, new = (
        [row["label"] for row in csv.DictReader(path.read_text().splitlines())]
        for path in (fused, again)
    )
    assert new == old[:7]
    assert set(new) == {"fail", "pass"}


@pytest.mark.parametrize("option", ["--numbers", "--scores"])
def test_scores_of_failed_judges_are_noted(tmp_path: Path, option: str) -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(1, 6, (40, 4))
    scores[::10, 0] = -1
    rows = [f"q{n},j{m},{one}\n" for (n, m), one in np.ndenumerate(scores)]
    path = tmp_path / "scores.csv"
    path.write_text("item,judge,score\n" + "".join(rows))
    stderr = succeed("fuse", path, option).stderr
    assert stderr.count("If they mark missing ratings, pass --missing -1") == 1
    assert "If they mark" not in succeed("fuse", path, option, "--missing", "-1").stderr
