"""Where bytes come from: files, patterns, folders, archives, gzip and pipes."""

import gzip
import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any

from blindfuse.errors import BadFile, BadParameter, BlindfuseError, naming

Given = str | os.PathLike[str] | IO[bytes]

HEAD = 1 << 20
"""So many bytes are looked at to tell what a file is."""

ROOMY = 1 << 28
RATIO = 200
"""An archive may grow to ROOMY bytes, or to RATIO times its size; tables shrink to a tenth."""

MOST_MEMBERS = 10_000

_ENDINGS = [
    "csv",
    "tsv",
    "tab",
    "txt",
    "json",
    "jsonl",
    "ndjson",
    "parquet",
    "pq",
    "feather",
    "arrow",
    "ipc",
]
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04", b"PK\x05\x06"


@dataclass(frozen=True)
class Source:
    """Bytes with a name: a plain file that stays where it is, or what was unpacked or piped."""

    name: str
    content: Path | bytes

    @cached_property
    def head(self) -> bytes:
        """The first bytes."""
        if isinstance(self.content, bytes):
            return self.content[:HEAD]
        with self.content.open("rb") as file:
            return file.read(HEAD)

    @property
    def is_short(self) -> bool:
        """Whether the head is all there is."""
        return len(self.head) < HEAD

    def read(self) -> bytes:
        """All bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    @property
    def ending(self) -> str:
        """What the name ends in, without ``.gz``: ``csv`` for ``crowd.csv.gz``."""
        name = self.name.lower().removesuffix(".gz")
        return name.rpartition(".")[2] if "." in name else ""

    @property
    def stem(self) -> str:
        """The name without folders and endings: ``ann`` for ``export.zip: out/ann.jsonl``."""
        name = PurePosixPath(self.name.rpartition(": ")[2].replace(os.sep, "/")).name
        name = name[:-3] if name.lower().endswith(".gz") else name
        return PurePosixPath(name).stem


def sources(given: Given | Iterable[Given]) -> list[Source]:
    """Every file that is meant; none of them empty."""
    several = isinstance(given, Iterable) and not isinstance(given, str | os.PathLike | io.IOBase)
    listed: list[Any] = list(given) if several else [given]  # type: ignore[arg-type]
    found = [source for one in listed for source in _one(one)]
    if not found:
        raise BadParameter("No file is given. Pass the path of one, or of several.")
    for source in found:
        if not source.head.strip():
            raise BadFile(f"{source.name} is empty. Export it again.")
    return found


def _one(given: Given) -> list[Source]:
    if hasattr(given, "read"):
        return _unpacked(str(getattr(given, "name", "stream")), _binary(given.read()))
    if not isinstance(given, str | os.PathLike):
        raise BadParameter(f"{given!r} is no path. Pass a path, '-', or a binary stream.")
    if given == "-":
        return _unpacked("standard input", sys.stdin.buffer.read())
    path = Path(given)
    if path.is_dir():
        files = [one for one in sorted(path.iterdir()) if one.is_file() and _is_table(one.name)]
        if not files:
            raise BadFile(f"The folder {path} holds no file that can be read{_readable()}")
        return [source for file in files for source in _unpacked(str(file), file)]
    if path.is_file():
        return _unpacked(str(path), path)
    matches = sorted(glob(str(path), recursive=True)) if has_magic(str(path)) else []
    files = [Path(match) for match in matches if Path(match).is_file()]
    if not files:
        raise BadFile(_not_found(path))
    return [source for file in files for source in _unpacked(str(file), file)]


def _binary(data: Any) -> bytes:
    if not isinstance(data, bytes):
        raise BadParameter("The stream gives text. Open it in binary mode, with 'rb'.")
    return data


def _not_found(path: Path) -> str:
    near = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = get_close_matches(path.name, near, 1)
    if has_magic(str(path)):
        hint = "Check the pattern."
    elif close:
        hint = f"Did you mean {str(path.with_name(close[0]))!r}?"
    else:
        hint = "Check the path." if path.parent.is_dir() else f"There is no folder {path.parent}."
    return f"{path} is not found. {hint}"


def _is_table(name: str) -> bool:
    plain = name.lower().removesuffix(".gz")
    return not name.startswith(".") and plain.rpartition(".")[2] in _ENDINGS


def _readable() -> str:
    return f": its name must end in one of {', '.join(_ENDINGS)}."


def _unpacked(name: str, content: Path | bytes) -> list[Source]:
    """The file itself; what gzip holds; or the members of a zip archive."""
    name = _printable(name)
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            start = file.read(4)
            file.seek(0)
            if start.startswith(_GZIP):
                return [Source(name, _gunzipped(name, file, _allowance(size)))]
            if start.startswith(_ZIP):
                return _members(name, file, _allowance(size))
    except OSError as error:
        raise BadFile(f"{name} cannot be read: {error.strerror or error}.") from None
    return [Source(name, content)]


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _gunzipped(name: str, file: IO[bytes], most: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unpacking:
            return _bounded(name, unpacking, most)
    except EOFError:
        raise BadFile(f"{name} ends in the middle of its gzip data. Fetch it again.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadFile(f"{name} is damaged gzip data ({error}). Fetch it again.") from None


def _members(name: str, file: IO[bytes], most: int) -> list[Source]:
    """The tables in a zip archive, in the order of their names; nothing is written to disk."""
    left, found = most, list[Source]()
    try:
        with zipfile.ZipFile(file) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            _refuse_members(name, [one.filename for one in members])
            for member in sorted(members, key=lambda one: one.filename):
                base = PurePosixPath(member.filename).name
                if member.filename.startswith("__MACOSX/") or not _is_table(base):
                    continue
                with archive.open(member) as unpacking:
                    data = _bounded(name, unpacking, left)
                left -= len(data)
                found.append(_member(name, _printable(f"{name}: {member.filename}"), data, left))
                left -= len(found[-1].read()) - len(data)
    except (BlindfuseError, OSError, MemoryError):
        raise
    except (RuntimeError, NotImplementedError) as error:  # a password, or a rare compression
        raise BadFile(f"{name} cannot be unpacked ({error}). Unpack it first.") from None
    except Exception as error:  # zipfile and its decompressors have no error in common
        raise BadFile(f"{name} is a damaged zip archive ({error}). Fetch it again.") from None
    if not found:
        raise BadFile(f"The archive {name} holds no file that can be read{_readable()}")
    return found


def _member(archive: str, name: str, data: bytes, most: int) -> Source:
    """One file of an archive; a table may be packed once more, but not an archive."""
    if data.startswith(_ZIP):
        raise BadFile(f"{name} is an archive within an archive. Unpack {archive} first.")
    packed = data.startswith(_GZIP)
    return Source(name, _gunzipped(name, io.BytesIO(data), most) if packed else data)


def _refuse_members(name: str, members: Sequence[str]) -> None:
    paths = [one.replace("\\", "/") for one in members]
    outside = [one for one in paths if one.startswith("/") or ".." in one.split("/")]
    if outside:
        raise BadFile(
            f"{name} holds paths outside of itself: {naming(outside)}. Such archives are not read."
        )
    if len(members) > MOST_MEMBERS:
        raise BadFile(
            f"{name} holds {len(members):,} files: at most {MOST_MEMBERS:,} are read. "
            "Unpack it and join them."
        )


def _allowance(size: int) -> int:
    return max(ROOMY, RATIO * size)


def _bounded(name: str, unpacking: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    """What is unpacked piece by piece, or an error as soon as it is more than ``most`` bytes."""
    data = bytearray()
    while piece := unpacking.read(_PIECE):
        data += piece
        if len(data) > most:
            raise BadFile(
                f"{name} unpacks to more than {RATIO} times its size, as no table does. "
                "If it is right, unpack it first."
            )
    return bytes(data)
