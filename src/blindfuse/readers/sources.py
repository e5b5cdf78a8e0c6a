"""Find the files to read: paths, patterns, folders, archives, compressed files, pipes and URLs."""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob, has_magic
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any
from zipfile import ZipFile

import fsspec
import polars as pl
from fsspec.compression import compr

from blindfuse.errors import BadFile, BadParameter, BlindfuseError, list_names, suggest
from blindfuse.files import too_large_message, unpacked_limit

FileInput = str | os.PathLike[str] | IO[bytes]
"""A path or a binary stream."""

HEAD_BYTES = 1 << 20
"""Number of bytes that file types and columns are detected from."""

_TEXT_EXTENSIONS = ("csv", "tsv", "tab", "txt")
OTHER_EXTENSIONS = (
    *("json", "jsonl", "ndjson", "parquet", "pq", "feather", "arrow", "ipc", "xlsx", "eval"),
)
"""Extensions of the files that are read from folders and archives: of delimited text, and others
that hold none."""

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
"""What fsspec calls compressions and archives, by the first bytes of their files."""
_ARCHIVES_OF_TOOLS = (".xlsx", ".eval")
"""Archives that are one file to their users."""
_HUGGING_FACE = {"state.json", "dataset_info.json"}
"""What ``save_to_disk`` of Hugging Face's datasets writes beside its Arrow files."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

EXPORT = "Export the table as CSV (in Excel: File, Save As, CSV UTF-8)."
"""What to do about files that are not read."""


@dataclass(frozen=True)
class Source:
    """A file to read: its name, and its path or, if it was unpacked or piped, its bytes.

    ``table`` is the table of a database that the user named.
    """

    name: str
    content: Path | bytes
    table: str | None = None

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
    with damage(source.name, "UTF-16 text"):
        return Source(source.name, source.read().decode("utf-16").encode())


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
    elif "::" in str(file) and not os.path.exists(file):
        database, _, table = str(file).rpartition("::")
        for source in _find(database):
            yield replace(source, table=table)
    else:
        for path in _find_files(Path(file)):
            yield from _open(path)


def needed(module: str, extra: str, name: str) -> Any:
    """Return an optional package; raise BadFile that names the extra if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise BadFile(
            f"{name} needs {module.partition('.')[0]}, which is not installed. Run: "
            f"pip install 'blindfuse[{extra}]'"
        ) from None


@contextmanager
def damage(name: str, kind: str) -> Iterator[None]:
    """Raise BadFile where a file cannot be read; every library has errors of its own."""
    try:
        yield
    except (BlindfuseError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(
            f"{name} is a damaged or locked {kind} file: {reason}. Export it again."
        ) from None


def refuse_bombs(source: Source) -> None:
    """Raise BadFile if an archive that another package reads unpacks to too much, or is damaged."""
    with damage(source.name, source.extension), ZipFile(io.BytesIO(source.read())) as archive:
        if sum(member.file_size for member in archive.infolist()) > unpacked_limit(source.size):
            raise BadFile(too_large_message(source.name, "more"))


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
    if os.path.isfile(path) or (os.path.exists(path) and path.is_fifo()):  # <(zcat votes.csv.gz)
        return [path]
    if (path / "dataset_dict.json").is_file():
        splits = list_names(sorted(part.name for part in path.iterdir() if part.is_dir()))
        raise BadFile(f"{path} has the splits {splits}. Pass the folder of one of them.")
    if os.path.isdir(path):
        files = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file.name))
        if {file.name for file in files} >= _HUGGING_FACE:
            files = [file for file in files if file.suffix == ".arrow"]
        missing = f"The folder {path} contains {_NO_TABLE}"
    else:
        matches = map(Path, sorted(glob(str(path), recursive=True)))
        files, missing = [match for match in matches if match.is_file()], _not_found(path)
    if not files:
        raise BadFile(missing)
    return files


def _not_found(path: Path) -> str:
    if os.path.exists(path):
        return f"{path} is not a file with data. Choose a file, a folder or a pipe."
    if has_magic(str(path)):
        return f"No file matches {path}. Check the pattern."
    if not path.parent.is_dir():
        return f"{path} is not found. The folder {path.parent} does not exist."
    return f"{path} is not found: {suggest(path.name, sorted(os.listdir(path.parent)))}"


_EXTENSIONS = _TEXT_EXTENSIONS + OTHER_EXTENSIONS
_NO_TABLE = f"no file that can be read: none ends in one of {', '.join(_EXTENSIONS)}. {EXPORT}"


def _is_table(name: str) -> bool:
    return not name.startswith(".") and _uncompressed(name.lower()).suffix[1:] in _EXTENSIONS


def _uncompressed(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst") else path


def _open(path: Path) -> Iterator[Source]:
    """Return a plain file by its path, and the content of others."""
    name = os.fsencode(path).decode("utf-8", "replace")
    try:
        if name == str(path) and path.is_file():  # Polars opens no other names, and no pipes
            source = Source(_printable(name), path)
            if _packing(name, source.head) is None:
                yield source
                return
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{name} cannot be read: {error.strerror}. Check the file.") from None
    yield from _unpack(name, data)


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _packing(name: str, data: bytes) -> str | None:
    """Return what fsspec calls the compression or the archive; None for other content."""
    if data.startswith(b"ustar", 257):
        return "tar"
    if name.lower().endswith(_ARCHIVES_OF_TOOLS):
        return None
    return next((what for magic, what in _PACKED.items() if data.startswith(magic)), None)


def _unpack(name: str, data: bytes) -> Iterator[Source]:
    """Return the content itself, or the files that it unpacks to, archives within it included."""
    return _Unpacker(unpacked_limit(len(data))).sources(_printable(name), data)


@dataclass
class _Unpacker:
    """Unpacks a file, and what is packed within it, to ``limit`` bytes in all."""

    limit: int

    def sources(self, name: str, data: bytes) -> Iterator[Source]:
        what = _packing(name, data)
        if what is None:
            yield Source(name, data)
            return
        with damage(name, what):
            for member, content in self._members(name, what, data):
                yield from self.sources(_printable(member), content)

    def _members(self, name: str, what: str, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Return the names and contents of the files in an archive, or of a compressed file."""
        if what not in ("zip", "tar"):
            if what not in compr:
                needed("zstandard", "files", name)
            with compr[what](io.BytesIO(data), mode="rb") as unpacked:
                yield name, self._read(name, unpacked)
            return
        archive = fsspec.filesystem(what, fo=io.BytesIO(data))
        paths = [path for path in sorted(archive.find("")) if _is_table(PurePosixPath(path).name)]
        if not paths:
            raise BadFile(f"The archive {name} contains {_NO_TABLE}")
        for path in paths:
            if not path.startswith("__MACOSX"):
                with archive.open(path) as unpacked:
                    yield f"{name}: {path}", self._read(name, unpacked)

    def _read(self, name: str, unpacked: IO[bytes]) -> bytes:
        """Read in blocks; raise BadFile as soon as there are too many bytes in all."""
        data = bytearray()
        while block := unpacked.read(HEAD_BYTES):
            data += block
            self.limit -= len(block)
            if self.limit < 0:
                raise BadFile(too_large_message(name, "more"))
        return bytes(data)
