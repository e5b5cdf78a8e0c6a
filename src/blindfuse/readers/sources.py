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
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any

from blindfuse.errors import BadFile, BadParameter, BlindfuseError
from blindfuse.files import too_large_message, unpacked_limit

FileInput = str | os.PathLike[str] | IO[bytes]
"""A path or a binary stream."""

HEAD_BYTES = 1 << 20
"""Number of bytes that file types and columns are detected from."""

_EXTENSIONS = (
    *("csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson"),
    *("parquet", "pq", "feather", "arrow", "ipc"),
)
"""Extensions of the files that are read from folders and archives."""

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
"""What fsspec calls compressions, by the first bytes of their files."""
_COMPRESSED = (".gz", ".bz2", ".xz")
_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_TAR = b"ustar"
_TAR_PLACE = 257
"""Where a tar archive says that it is one."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


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
        return _uncompressed(PurePosixPath(self.name.lower())).suffix[1:]

    @property
    def stem(self) -> str:
        """The name without folders and extensions: ``ann`` for ``export.zip: out/ann.jsonl``."""
        name = self.name.rpartition(": ")[2].replace(os.sep, "/")
        return _uncompressed(PurePosixPath(name)).stem


def no_table_message(name: str) -> str:
    """Return the message about a file of a type that is not read."""
    return (
        f"{name} is not a text table, JSON, Parquet or Arrow file. Export the table as CSV (in "
        "Excel: File, Save As, CSV UTF-8)."
    )


def as_utf8(source: Source) -> Source:
    """Return a file of UTF-16 text as UTF-8, with or without a byte-order mark; others as is."""
    encoding = _utf16_encoding(source.head)
    if encoding is None:
        return source
    try:
        text = source.read().decode(encoding)
    except UnicodeDecodeError:
        raise BadFile(f"{source.name} is damaged UTF-16 text. Save it as UTF-8.") from None
    return Source(source.name, text.removeprefix("\ufeff").encode())


def _utf16_encoding(head: bytes) -> str | None:
    """Return the encoding of UTF-16 text, of which every other byte is mostly zero."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") and head[:4] != b"\xff\xfe\x00\x00":
        return "utf-16"
    start = head[:2000]
    n_pairs = len(start) // 2
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = start[first::2].count(0), start[1 - first :: 2].count(0)
        if n_pairs > 1 and 2 * zeros > n_pairs and not others:
            return encoding
    return None


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
            yield from _unpack(str(path), path)


def _fetch(url: str) -> bytes:
    """Return the bytes at a URL, by the file system of fsspec for its protocol."""
    import fsspec

    try:
        with fsspec.open(url) as file:
            return bytes(file.read())
    except Exception as error:  # every protocol has errors of its own
        raise BadFile(
            f"{url} cannot be opened ({error}). Download the file, and pass its path."
        ) from None


def _find_files(path: Path) -> list[Path]:
    """Return the file or pipe itself, the tables in a folder, or the files of a pattern."""
    if str(path).startswith("~") and not os.path.exists(path):
        path = Path(os.path.expanduser(path))
    if os.path.isdir(path):
        files = [file for file in sorted(path.iterdir()) if file.is_file() and _is_table(file)]
        if not files:
            raise BadFile(f"The folder {path} contains {_NO_TABLE}")
        return files
    if os.path.isfile(path) or _is_pipe(path):
        return [path]
    files = []
    if has_magic(str(path)):
        import fsspec

        matches = map(Path, fsspec.filesystem("file").glob(str(path)))
        files = [file for file in matches if file.is_file() and not file.name.startswith(".")]
    if not files:
        raise BadFile(_not_found(path))
    return files


def _is_pipe(path: Path) -> bool:
    """Return whether this is a pipe, as ``<(zcat votes.csv.gz)`` makes one."""
    try:
        return path.is_fifo()
    except (OSError, ValueError):
        return False


def _not_found(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"{path} is a link to {os.readlink(path)}, which is not found. Check the link."
    if os.path.exists(path):
        return f"{path} is not a file with data. Choose a file, a folder or a pipe."
    if has_magic(str(path)):
        return f"No file matches {path}. Check the pattern."
    if not path.parent.is_dir():
        return f"{path} is not found. The folder {path.parent} does not exist."
    close = get_close_matches(path.name, os.listdir(path.parent), 1)
    hint = f"Did you mean {str(path.with_name(close[0]))!r}?" if close else "Check the path."
    return f"{path} is not found. {hint}"


_NO_TABLE = (
    f"no file that can be read. Its name must end in one of {', '.join(_EXTENSIONS)}. Save a "
    "spreadsheet as CSV (in Excel: File, Save As, CSV UTF-8)."
)


def _is_table(path: PurePosixPath | Path) -> bool:
    extension = _uncompressed(PurePosixPath(path.name.lower())).suffix[1:]
    return not path.name.startswith(".") and extension in _EXTENSIONS


def _uncompressed(path: PurePosixPath) -> PurePosixPath:
    return path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path


def _unpack(name: str, content: Path | bytes) -> Iterator[Source]:
    """Return the file itself, the content of a compressed file, or the members of an archive."""
    name = _printable(name)
    try:
        if not isinstance(content, bytes) and _is_readable_by_polars(content):
            with content.open("rb") as file:
                start = file.read(_TAR_PLACE + len(_TAR))
            if not _is_compressed(start) and not _archive_type(start):
                yield Source(name, content)
                return
        data = content if isinstance(content, bytes) else content.read_bytes()
    except OSError as error:
        raise BadFile(f"{name} cannot be read: {error.strerror}. Check the file.") from None
    limit = unpacked_limit(len(data))
    if _is_compressed(data):
        data = _uncompress(name, data, limit)
    if _archive_type(data):
        yield from _members(name, data, limit)
    else:
        yield _plain_source(name, data)


def _is_readable_by_polars(path: Path) -> bool:
    """Return whether this is a regular file with a name in UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return path.is_file()


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _plain_source(name: str, data: bytes) -> Source:
    """Return unpacked content as a source, which must not be packed again."""
    if _is_compressed(data) or _archive_type(data):
        raise BadFile(f"{name} is an archive within an archive, or compressed twice. Unpack it.")
    return Source(name, data)


def _is_compressed(data: bytes) -> bool:
    return data.startswith(tuple(_COMPRESSIONS))


def _archive_type(data: bytes) -> str | None:
    """Return what fsspec calls the type of an archive; None for other content."""
    if data.startswith(_ZIP):
        return "zip"
    return "tar" if data[_TAR_PLACE:].startswith(_TAR) else None


def _uncompress(name: str, data: bytes, limit: int) -> bytes:
    from fsspec.compression import compr

    what = next(what for magic, what in _COMPRESSIONS.items() if data.startswith(magic))
    with _packed_errors(name, what), compr[what](io.BytesIO(data), mode="rb") as unpacked:
        return _read_at_most(name, unpacked, limit)


def _members(name: str, data: bytes, limit: int) -> list[Source]:
    """Return the tables in an archive, sorted by name; nothing is written to disk."""
    import fsspec

    what, sources = str(_archive_type(data)), []
    with _packed_errors(name, what):
        archive = fsspec.filesystem(what, fo=io.BytesIO(data))
        for path in map(PurePosixPath, sorted(archive.find(""))):
            if path.parts[0] == "__MACOSX" or not _is_table(path):
                continue
            with archive.open(str(path)) as unpacked:
                content = _read_at_most(name, unpacked, limit)
            limit -= len(content)
            if _is_compressed(content):
                content = _uncompress(f"{name}: {path}", content, limit)
                limit -= len(content)
            sources.append(_plain_source(_printable(f"{name}: {path}"), content))
    if not sources:
        raise BadFile(f"The archive {name} contains {_NO_TABLE}")
    return sources


@contextmanager
def _packed_errors(name: str, what: str) -> Iterator[None]:
    """Raise BadFile where a file cannot be unpacked."""
    try:
        yield
    except (BlindfuseError, MemoryError):
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
