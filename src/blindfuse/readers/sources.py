"""Find the files to read: paths, patterns, folders, archives, compressed files, pipes and URLs."""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any

import fsspec
from fsspec.compression import compr

from blindfuse.errors import BadFile, BadParameter, BlindfuseError
from blindfuse.files import too_large_message, unpacked_limit

FileInput = str | os.PathLike[str] | IO[bytes]
"""A path or a binary stream."""

HEAD_BYTES = 1 << 20
"""Number of bytes that file types and columns are detected from."""

TEXT_EXTENSIONS = ("csv", "tsv", "tab", "txt")
OTHER_EXTENSIONS = ("json", "jsonl", "ndjson", "parquet", "pq", "feather", "arrow", "ipc")
"""Extensions of the files that are read from folders and archives: of delimited text, and others
that hold none."""

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
"""What fsspec calls compressions, by the first bytes of their files."""
_COMPRESSED = (".gz", ".bz2", ".xz")
_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_TAR_PLACE = 257
"""Where a tar archive says that it is one."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

EXPORT = "Export the table as CSV (in Excel: File, Save As, CSV UTF-8)."
"""What to do about files that are not read."""


@dataclass(frozen=True)
class Source:
    """A file to read: its name, and its path or, if it was unpacked or piped, its bytes."""

    name: str
    content: Path | bytes

    @cached_property
    def head(self) -> bytes:
        """The first ``HEAD_BYTES`` bytes."""
        if isinstance(self.content, bytes):
            return self.content[:HEAD_BYTES]
        with self.content.open("rb") as file:
            return file.read(HEAD_BYTES)

    @property
    def fits_in_head(self) -> bool:
        """Whether the head is the complete content."""
        return len(self.head) < HEAD_BYTES

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def read(self) -> bytes:
        """Return all bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    @property
    def extension(self) -> str:
        """The extension in lower case, without ``.gz`` and the like: ``csv`` for ``a.csv.gz``."""
        return _uncompressed(self.name.lower()).suffix[1:]

    @property
    def stem(self) -> str:
        """The name without folders and extensions: ``ann`` for ``export.zip: out/ann.jsonl``."""
        return _uncompressed(self.name.rpartition(": ")[2].replace(os.sep, "/")).stem


def as_utf8(source: Source) -> Source:
    """Return a text file that begins with the mark of UTF-16 as UTF-8; other files as they are."""
    if source.head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return source
    try:
        return Source(source.name, source.read().decode("utf-16").encode())
    except UnicodeDecodeError:
        raise BadFile(f"{source.name} is damaged UTF-16 text. Save it as UTF-8.") from None


def find_sources(paths: FileInput | Iterable[FileInput]) -> list[Source]:
    """Return every file that the paths, patterns, folders, archives and streams refer to."""
    several = isinstance(paths, Iterable) and not isinstance(paths, str | os.PathLike | io.IOBase)
    inputs: list[Any] = list(paths) if several else [paths]  # type: ignore[arg-type]
    sources = [source for file in inputs for source in _find(file)]
    if not sources:
        raise BadParameter("No file is given. Pass one or more paths.")
    for source in sources:
        if not source.head.strip():
            raise BadFile(f"{source.name} is empty. Export it again.")
    return sources


def _find(file: FileInput) -> Iterator[Source]:
    if hasattr(file, "read"):
        content = file.read()
        if not isinstance(content, bytes):
            raise BadParameter("The stream yields text. Open it in binary mode, with 'rb'.")
        yield from _unpack(str(getattr(file, "name", "stream")), content)
    elif not isinstance(file, str | os.PathLike):
        raise BadParameter(f"{file!r} is not a path. Pass a path, '-', or a binary stream.")
    elif file == "-":
        yield from _unpack("standard input", sys.stdin.buffer.read())
    elif _URL.match(str(file)):
        yield from _unpack(str(file), _fetch(str(file)))
    else:
        for path in _find_files(Path(file)):
            yield from _open(path)


def _fetch(url: str) -> bytes:
    """Return the bytes at a URL, by the file system of fsspec for its protocol."""
    try:
        with fsspec.open(url) as file:
            return bytes(file.read())
    except Exception as error:  # every protocol has errors of its own
        raise BadFile(
            f"{url} cannot be opened ({error}). Download the file, and pass its path."
        ) from None


def _find_files(path: Path) -> list[Path]:
    """Return the file or pipe itself, the tables in a folder, or the files of a pattern."""
    if not os.path.exists(path):
        path = Path(os.path.expanduser(path))
    if os.path.isdir(path):
        files = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file.name))
        if not files:
            raise BadFile(f"The folder {path} contains {_NO_TABLE}")
        return files
    if os.path.isfile(path) or (os.path.exists(path) and path.is_fifo()):  # <(zcat votes.csv.gz)
        return [path]
    files = [
        Path(match) for match in sorted(glob(str(path), recursive=True)) if os.path.isfile(match)
    ]
    if not files:
        raise BadFile(_not_found(path))
    return files


def _not_found(path: Path) -> str:
    if os.path.exists(path):
        return f"{path} is not a file with data. Choose a file, a folder or a pipe."
    if has_magic(str(path)):
        return f"No file matches {path}. Check the pattern."
    if not path.parent.is_dir():
        return f"{path} is not found. The folder {path.parent} does not exist."
    close = get_close_matches(path.name, os.listdir(path.parent), 1)
    hint = f"Did you mean {str(path.with_name(close[0]))!r}?" if close else "Check the path."
    return f"{path} is not found. {hint}"


_EXTENSIONS = TEXT_EXTENSIONS + OTHER_EXTENSIONS
_NO_TABLE = f"no file that can be read: none ends in one of {', '.join(_EXTENSIONS)}. {EXPORT}"


def _is_table(name: str) -> bool:
    return not name.startswith(".") and _uncompressed(name.lower()).suffix[1:] in _EXTENSIONS


def _uncompressed(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path


def _open(path: Path) -> Iterator[Source]:
    """Return a plain file by its path, and the content of others."""
    name = os.fsencode(path).decode("utf-8", "replace")
    try:
        if name == str(path) and path.is_file():  # Polars opens no other names, and no pipes
            source = Source(_printable(name), path)
            if not _is_packed(source.head):
                yield source
                return
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{name} cannot be read: {error.strerror}. Check the file.") from None
    yield from _unpack(name, data)


def _unpack(name: str, data: bytes) -> Iterator[Source]:
    """Return the content itself, that of a compressed file, or the members of an archive."""
    name, limit = _printable(name), unpacked_limit(len(data))
    if _compression(data):
        data = _uncompress(name, data, limit)
    if not _archive_type(data):
        yield _plain_source(name, data)
        return
    what, members = str(_archive_type(data)), 0
    with _packed_errors(name, what):
        archive = fsspec.filesystem(what, fo=io.BytesIO(data))
        for path in sorted(archive.find("")):
            if not _is_table(PurePosixPath(path).name) or path.startswith("__MACOSX"):
                continue
            with archive.open(path) as unpacked:
                content = _read_at_most(name, unpacked, limit)
            limit, members = limit - len(content), members + 1
            if _compression(content):
                content = _uncompress(f"{name}: {path}", content, limit)
                limit -= len(content)
            yield _plain_source(_printable(f"{name}: {path}"), content)
    if not members:
        raise BadFile(f"The archive {name} contains {_NO_TABLE}")


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _plain_source(name: str, data: bytes) -> Source:
    """Return unpacked content as a source, which must not be packed again."""
    if _is_packed(data):
        raise BadFile(f"{name} is an archive within an archive, or compressed twice. Unpack it.")
    return Source(name, data)


def _is_packed(data: bytes) -> bool:
    return _compression(data) is not None or _archive_type(data) is not None


def _compression(data: bytes) -> str | None:
    return next((what for magic, what in _COMPRESSIONS.items() if data.startswith(magic)), None)


def _archive_type(data: bytes) -> str | None:
    """Return what fsspec calls the type of an archive; None for other content."""
    if data.startswith(_ZIP):
        return "zip"
    return "tar" if data.startswith(b"ustar", _TAR_PLACE) else None


def _uncompress(name: str, data: bytes, limit: int) -> bytes:
    what = str(_compression(data))
    with _packed_errors(name, what), compr[what](io.BytesIO(data), mode="rb") as unpacked:
        return _read_at_most(name, unpacked, limit)


@contextmanager
def _packed_errors(name: str, what: str) -> Iterator[None]:
    """Raise BadFile where a file cannot be unpacked."""
    try:
        yield
    except (BlindfuseError, MemoryError, GeneratorExit):
        raise
    except Exception as error:  # decompressors have no common base error
        raise BadFile(
            f"{name} is damaged or locked {what} data ({error}). Unpack it, or export it again."
        ) from None


def _read_at_most(name: str, unpacked: IO[bytes], limit: int) -> bytes:
    """Read in blocks; raise BadFile as soon as there are more than ``limit`` bytes."""
    data = bytearray()
    while block := unpacked.read(HEAD_BYTES):
        data += block
        if len(data) > limit:
            raise BadFile(too_large_message(name, "more"))
    return bytes(data)
