"""Files in parts: the same answers, the same labels, whatever the file and the parts."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from blindfuse import BadFile, fuse, read, simulate
from blindfuse.cli.main import blindfuse as program
from blindfuse.cli.system import free_memory
from blindfuse.readers import partitions
from blindfuse.readers.partitions import read_in_parts


def votes(seed: int = 0) -> pl.DataFrame:
    """Answers in no order, some given twice, some empty, with names that must stay text."""
    rng = np.random.default_rng(seed)
    responses = simulate(800, 6, 3, rng, missing=0.2, skill=0.5).responses
    frame = pl.DataFrame(
        {
            "image": [f"{n:04d}" for n in responses.item_of_response()],
            "worker": [f"w,{m}" for m in responses.by_item.codes],
            "answer": [["cat", "dog", "1e5"][k] for k in responses.by_item.labels],
        }
    )
    again = frame.sample(40, seed=seed).with_columns(answer=pl.lit("dog"))
    empty = frame.sample(10, seed=seed + 1).with_columns(answer=pl.lit(None, pl.String))
    return pl.concat([frame, again, empty]).sample(fraction=1.0, shuffle=True, seed=seed)


def written(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


def cells(responses: Any) -> dict[tuple[str, str], str]:
    items = responses.items[responses.item_of_response()]
    annotators = responses.annotators[responses.by_item.codes]
    labels = responses.classes[responses.by_item.labels]
    return {(i, a): k for i, a, k in zip(items, annotators, labels, strict=True)}


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_parts_hold_the_same_answers(tmp_path: Path, ending: str) -> None:
    for seed in range(3):
        path = written(votes(seed), tmp_path / f"votes{seed}.{ending}")
        whole = read(path)
        size = path.stat().st_size
        for part_bytes in (size // 7, 2 * size):
            with read_in_parts(path, part_bytes=part_bytes) as found:
                tables = list(found())
                assert len(tables) == len(found.files) <= 8
                assert (len(tables) > 2) == (part_bytes < size)
                assert found.columns == whole.columns
                folder = found.files[0].parents[1]
            assert not folder.exists()
            together: dict[tuple[str, str], str] = {}
            for table in tables:
                assert not together.keys() & cells(table).keys()
                assert not {i for i, _ in together} & {i for i, _ in cells(table)}
                together |= cells(table)
            assert together == cells(whole.responses)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    frame = votes()
    paths = [written(frame[at::3], tmp_path / f"{at}.csv") for at in range(3)]
    with read_in_parts(paths, part_bytes=20_000) as found:
        together = {cell: label for table in found() for cell, label in cells(table).items()}
    assert together.keys() == cells(read(paths).responses).keys()


@pytest.mark.parametrize("name", ["votes.csv.gz", "votes.json"])
def test_what_cannot_be_scanned_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("gz"):
        votes().write_csv(path, compression="gzip")
    else:
        path.write_bytes(votes().write_ndjson().encode())
    with pytest.raises(BadFile, match="cannot be read in parts"), read_in_parts(path):
        pass


def test_rows_that_are_too_long_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label\n" + "i,a,x\n" * 50 + "i,a,x,y,z\n" + "j,b,y\n" * 50)
    with pytest.raises(BadFile, match=r"votes\.csv cannot be read in parts"), read_in_parts(path):
        pass


class TestCommand:
    def run(self, *arguments: Any) -> Any:
        return CliRunner().invoke(program, [str(argument) for argument in arguments])

    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
    def test_labels_are_those_of_the_file_read_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
    ) -> None:
        monkeypatch.setattr(partitions, "PART_BYTES", 8_000)
        path = written(votes(), tmp_path / "votes.csv")
        output = tmp_path / f"fused.{ending}"
        annotators, model = tmp_path / "annotators.csv", tmp_path / "model.npz"
        done = self.run(
            *("fuse", path, "--in-parts", "-o", output),
            *("--annotators", annotators, "--model", model),
        )
        assert done.exit_code == 0, done.output
        assert "parts" in done.output
        whole = fuse(read(path).responses)
        found = (
            pl.read_ndjson(output)
            if ending == "jsonl"
            else pl.read_csv(output, infer_schema=False, separator="\t" if ending == "tsv" else ",")
        )
        labels = dict(zip(whole.responses.items, whole.predict(whole.responses), strict=True))
        assert dict(zip(found["item"], found["label"], strict=True)) == labels
        assert found.height == len(labels)
        assert annotators.exists()
        assert model.exists()

    def test_a_file_larger_than_memory_is_read_in_parts_by_itself(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = written(votes(), tmp_path / "votes.csv")
        monkeypatch.setattr("blindfuse.cli.input_options.ROOM", 10**12)
        done = self.run("fuse", path, "-o", tmp_path / "fused.csv")
        assert done.exit_code == 0, done.output
        assert "parts" in done.output

    def test_what_it_cannot_do_in_parts_it_says_why_it_would_and_how_not_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, page = written(votes(), tmp_path / "votes.csv"), tmp_path / "report.html"
        monkeypatch.setattr("blindfuse.cli.input_options.ROOM", 10**12)
        done = self.run("fuse", path, "--report", page)
        assert done.exit_code == 2
        assert "memory are free. --whole reads them at once" in " ".join(done.output.split())
        done = self.run("fuse", path, "--report", page, "--whole")
        assert done.exit_code == 0, done.output
        assert page.exists()

    def test_memory_that_the_system_would_give_up_is_free(self) -> None:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert 0.5 * free < free_memory() <= total

    def test_where_nothing_is_told_all_of_the_machine_is_free(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(self: Path) -> str:
            raise FileNotFoundError

        monkeypatch.setattr(Path, "read_text", missing)
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert free_memory() == total
        monkeypatch.setattr(os, "sysconf_names", {})
        assert free_memory() == math.inf

    @pytest.mark.parametrize(
        "more",
        [
            ["--report", "report.html"],
            ["--json"],
            ["-o", "-"],
            ["-o", "fused.parquet"],
            ["-o", "fused.csv.gz"],
            ["--format", "wide"],
            ["--question", "which"],
        ],
    )
    def test_what_needs_all_at_once_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        path = written(votes(), tmp_path / "votes.csv")
        done = self.run("fuse", path, "--in-parts", *more)
        assert done.exit_code == 2
        assert [one.name for one in tmp_path.iterdir()] == ["votes.csv"]
