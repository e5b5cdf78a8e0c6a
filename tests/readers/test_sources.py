"""Paths, patterns, folders, archives, gzip and pipes, and those that cannot be read."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blindfuse import BadFile, BadParameter, files, read
from tests.support.damaged_files import WIDE
from tests.support.reader_files import (
    LONG,
    WRITERS,
    Rows,
    as_archive,
    assert_refused,
    labels_by_name,
    stream,
    write_file,
)


def test_patterns_folders_archives_and_several_files_are_read(tmp_path: Path) -> None:
    one = write_file(tmp_path, "a.csv", "item,annotator,label\n1,ann,x\n")
    two = write_file(tmp_path, "b.csv.gz", gzip.compress(b"label,item,annotator\ny,1,bob\n"))
    write_file(tmp_path, "README.md", "not a table")
    packed = tmp_path / "all.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sub/b.csv", "item,annotator,label\n1,ann,x\n1,bob,y\n")
        archive.writestr("notes.md", "not a table")
    expected = {("1", "ann"): "x", ("1", "bob"): "y"}
    for paths in ([one, str(two)], str(tmp_path / "*.csv*"), tmp_path, packed):
        found: Any = read(paths)  # type: ignore[arg-type]
        assert labels_by_name(found.responses) == expected


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (LONG.encode(), gzip.compress(LONG.encode())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert len(labels_by_name(read("-").responses)) == 3


def test_an_existing_file_name_with_brackets_is_not_a_pattern(tmp_path: Path) -> None:
    for name, content in (("a[1].csv", LONG.encode()), ("b[1].parquet", b"")):
        rows: Rows = [("007", "ann", "1e5"), ("007", "bob", "x"), ("1e5", "ann", "x")]
        path = write_file(tmp_path, name, content or WRITERS["Parquet"](rows))
        assert len(labels_by_name(read(path).responses)) == 3


def test_paths_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    write_file(tmp_path, "crowd.csv", LONG)
    assert_refused(
        lambda: read(tmp_path / "crowds.csv"), "not found", "did you mean", "'crowd.csv'?"
    )
    assert_refused(lambda: read(tmp_path / "no" / "a.csv"), "The folder", "does not exist")
    assert_refused(lambda: read(str(tmp_path / "*.tsv")), "No file matches", "*.tsv", "pattern")
    (tmp_path / "empty").mkdir()
    assert_refused(lambda: read(tmp_path / "empty"), "contains no file")
    assert_refused(lambda: read([]), "No file is given", kind=BadParameter)
    assert_refused(lambda: read(3), "3 is not a path", kind=BadParameter)  # type: ignore[call-overload]
    assert_refused(lambda: read(io.StringIO(LONG)), "binary", kind=BadParameter)


@pytest.mark.parametrize("content", [b"", b" \n\n", gzip.compress(b"", mtime=0)])
def test_empty_files_are_refused(tmp_path: Path, content: bytes) -> None:
    assert_refused(lambda: read(write_file(tmp_path, "a.csv", content)), "a.csv is empty")


def test_decompression_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 20)
    zeros = b"0" * (1 << 24)
    members = {f"{n}.csv": b"0" * (1 << 19) for n in range(40)}
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        assert_refused(lambda: read(stream(compress(zeros))), "200 times its size")  # noqa: B023
    for archive in ({"a.csv": zeros}, members):
        assert_refused(lambda: read(stream(as_archive(archive))), "200 times its")  # noqa: B023


def test_gzip_members_of_an_archive_share_its_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten members of a megabyte each, all zeros, are small in gzip and smaller in zip."""
    packed = gzip.compress(b"item,a,b\n" + b"0,0,0\n" * 200_000)
    archive = as_archive({f"{n}.csv.gz": packed for n in range(10)})
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 22)
    monkeypatch.setattr(files, "MAX_UNPACKED_RATIO", 1)
    with pytest.raises(BadFile, match="unpacks to more than the limit"):
        read(io.BytesIO(archive))
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        assert len(members.namelist()) == 10


@pytest.mark.parametrize("name", ["../a.csv", "x/../../a.csv", "x\\a.csv", "über/a.csv"])
def test_archives_are_read_whatever_the_folders_of_their_members(name: str) -> None:
    assert read(stream(as_archive({name: LONG.encode()}))).responses.n_items == 2


def test_damaged_and_locked_archives_are_refused(tmp_path: Path) -> None:
    packed = as_archive({"a.csv": LONG.encode() * 100})
    assert_refused(
        lambda: read(write_file(tmp_path, "a.zip", packed[:-30])), "damaged or locked zip"
    )
    assert_refused(lambda: read(stream(as_archive({"a.md": b"x"}))), "contains no file")
    locked = bytearray(packed)
    locked[6] |= 1
    locked[packed.index(b"PK\x01\x02") + 8] |= 1
    assert_refused(lambda: read(stream(bytes(locked))), "damaged or locked zip")


def test_archives_within_archives_are_read() -> None:
    expected = labels_by_name(read(io.BytesIO(WIDE)).responses)
    packed = WIDE
    for _ in range(3):
        packed = gzip.compress(as_archive({"a.csv": packed}))
        assert labels_by_name(read(io.BytesIO(packed)).responses) == expected


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_read_and_damaged_ones_refused(compress: Any) -> None:
    data = compress(LONG.encode() * 3)
    assert read(stream(data)).responses.n_items == 2
    for cut in range(7, len(data), 5):
        assert_refused(lambda: read(stream(data[:cut])))  # noqa: B023
    wrong = bytearray(data)
    wrong[len(data) // 2] ^= 0xFF
    with contextlib.suppress(BadFile):
        assert read(stream(bytes(wrong))).responses.n_items == 2


def test_pipes_links_and_home_folders_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "votes.csv").write_text(LONG)
    expected = labels_by_name(read(tmp_path / "votes.csv").responses)
    assert labels_by_name(read("~/votes.csv").responses) == expected
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, LONG)
        assert labels_by_name(read(pipe).responses) == expected


def test_what_is_not_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.csv").symlink_to("gone.csv")
    assert_refused(lambda: read(tmp_path / "broken.csv"), "broken.csv is not found")
    assert_refused(lambda: read("/dev/null"), "/dev/null is not a file with data")
    for url in ("https://example.com/votes.csv", "s3://bucket/votes.csv", "file:///votes.csv"):
        assert_refused(lambda: read(url), f"{url} cannot be opened", "Download")  # noqa: B023
