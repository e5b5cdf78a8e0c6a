"""Find the files to read: paths, patterns, folders, archives, compressed files and pipes."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import IO, Any

from blindfuse.errors import BadFile, BadParameter, BlindfuseError, list_names
from blindfuse.files import too_large_message, unpacked_limit

FileInput = str | os.PathLike[str] | IO[bytes]
"""A path or a binary stream."""

HEAD_BYTES = 1 << 20
"""Number of bytes that file types and columns are detected from."""

MAX_MEMBERS = 10_000
"""Maximum number of files in an archive."""

_EXTENSIONS = [
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
_BLOCK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_COMPRESSIONS: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    _GZIP: ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
"""Compressed files by their first bytes: the name of the compression, and what reads it."""
_COMPRESSED = (".gz", ".bz2", ".xz")
_REFUSED = {
    b"\x28\xb5\x2f\xfd": ("Zstandard", "unzstd"),
    b"7z\xbc\xaf\x27\x1c": ("7-Zip", "7z x"),
    b"Rar!": ("RAR", "unrar x"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Office file", ""),
    b"SQLite format 3": ("an SQLite database", ""),
    b"\x93NUMPY": ("a NumPy array", ""),
    b"\x80\x04\x95": ("a Python pickle", ""),
    b"\x80\x05\x95": ("a Python pickle", ""),
    b"\x89HDF": ("an HDF5 file", ""),
    b"\x89PNG": ("an image", ""),
    b"%PDF": ("a PDF document", ""),
    b"Obj\x01": ("an Avro file", ""),
    b"$FL2": ("an SPSS file", ""),
    b"<stata_dta>": ("a Stata file", ""),
    b"RDX3": ("an R data file", ""),
}
"""First bytes of files that are not read: what they are, and the program that unpacks them."""
_LFS_POINTER = b"version https://git-lfs"
_TAR = b"ustar"
_TAR_PLACE = 257
"""Where a tar archive says that it is one."""
_SPREADSHEETS = {
    "xl/workbook.xml": "an Excel workbook",
    "xl/workbook.bin": "an Excel workbook",
    "content.xml": "an OpenDocument spreadsheet",
    "Index/Document.iwa": "a Numbers spreadsheet",
}
"""Members by which spreadsheets are recognized among zip archives."""
_ZIP = b"PK\x03\x04", b"PK\x05\x06"


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
        name = _uncompressed(self.name.lower())
        return name.rpartition(".")[2] if "." in name else ""

    @property
    def stem(self) -> str:
        """The name without folders and extensions: ``ann`` for ``export.zip: out/ann.jsonl``."""
        name = PurePosixPath(self.name.rpartition(": ")[2].replace(os.sep, "/")).name
        return PurePosixPath(_uncompressed(name)).stem


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
    found = [source for one in inputs for source in _find(one)]
    if not found:
        raise BadParameter("No file is given. Pass one or more paths.")
    for source in found:
        if not source.head.strip():
            raise BadFile(f"{source.name} is empty. Export it again.")
    return found


def _find(file: FileInput) -> list[Source]:
    if hasattr(file, "read"):
        return _unpack(str(getattr(file, "name", "stream")), _require_bytes(file.read()))
    if not isinstance(file, str | os.PathLike):
        raise BadParameter(f"{file!r} is not a path. Pass a path, '-', or a binary stream.")
    if file == "-":
        return _unpack("standard input", sys.stdin.buffer.read())
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", str(file)):
        raise BadFile(f"{file} is a URL. Download the file first, and pass its path.")
    path = _expanded(Path(file))
    if _is_pipe(path):
        return _unpack(str(path), path.read_bytes())
    files = _find_files(path)
    return [source for path in files for source in _unpack(str(path), path)]


def _expanded(path: Path) -> Path:
    """Return the path with the home folder in place of ``~``, if there is one."""
    try:
        return path if path.exists() else path.expanduser()
    except (OSError, RuntimeError, ValueError):
        return path


def _is_pipe(path: Path) -> bool:
    """Return whether this is a pipe, as ``<(zcat votes.csv.gz)`` makes one."""
    try:
        return path.is_fifo()
    except (OSError, ValueError):
        return False


def _find_files(path: Path) -> list[Path]:
    """Return the file itself, the tables in a folder, or the files that match a pattern."""
    if path.is_dir():
        files = [one for one in sorted(path.iterdir()) if one.is_file() and _is_table(one.name)]
        if not files:
            raise BadFile(f"The folder {path} contains no {_readable_file()}")
        return files
    if path.is_file():
        return [path]
    matches = sorted(glob(str(path), recursive=True)) if has_magic(str(path)) else []
    files = [Path(match) for match in matches if Path(match).is_file()]
    if not files:
        raise BadFile(_not_found(path))
    return files


def _require_bytes(data: Any) -> bytes:
    if not isinstance(data, bytes):
        raise BadParameter("The stream yields text. Open it in binary mode, with 'rb'.")
    return data


def _not_found(path: Path) -> str:
    if path.is_symlink() and not path.exists():
        return f"{path} is a link to {os.readlink(path)}, which is not found. Check the link."
    if path.exists():
        return f"{path} is not a file with data. Choose a file, a folder or a pipe."
    names = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = get_close_matches(path.name, names, 1)
    if has_magic(str(path)):
        return f"No file matches {path}. Check the pattern."
    if close:
        hint = f"Did you mean {str(path.with_name(close[0]))!r}?"
    elif path.parent.is_dir():
        hint = "Check the path."
    else:
        hint = f"The folder {path.parent} does not exist."
    return f"{path} is not found. {hint}"


def _uncompressed(name: str) -> str:
    ending = next((one for one in _COMPRESSED if name.lower().endswith(one)), "")
    return name.removesuffix(name[len(name) - len(ending) :]) if ending else name


def _is_table(name: str) -> bool:
    plain = _uncompressed(name.lower())
    return not name.startswith(".") and plain.rpartition(".")[2] in _EXTENSIONS


def _readable_file() -> str:
    return f"file that can be read. Its name must end in one of {', '.join(_EXTENSIONS)}."


def _unpack(name: str, content: Path | bytes) -> list[Source]:
    """Return the file itself, the content of a compressed file, or the members of an archive."""
    name = _printable(name)
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            start = file.read(16)
            file.seek(0)
            _refuse_unsupported(name, start)
            if start.startswith(tuple(_COMPRESSIONS)):
                data = _uncompress(name, file, unpacked_limit(size))
                _refuse_archives(name, data)
                return [Source(name, data)]
            if start.startswith(_ZIP):
                return _unpack_zip(name, file, unpacked_limit(size))
            _refuse_archives(name, file.read(_TAR_PLACE + len(_TAR)))
    except OSError as error:
        raise BadFile(
            f"{name} cannot be read: {error.strerror or error}. Check the file."
        ) from None
    return [Source(name, _readable(content))]


def _readable(content: Path | bytes) -> Path | bytes:
    """Return the content itself if the name of its file is not UTF-8, which Polars cannot open."""
    if isinstance(content, bytes):
        return content
    try:
        str(content).encode()
    except UnicodeEncodeError:
        return content.read_bytes()
    return content


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _refuse_unsupported(name: str, start: bytes) -> None:
    """Raise BadFile for archives and databases that are recognized, but not read."""
    for magic, (what, program) in _REFUSED.items():
        if start.startswith(magic) and program:
            raise BadFile(f"{name} is compressed by {what}. Unpack it with `{program} {name}`.")
        if start.startswith(magic):
            raise BadFile(f"{name} is {what}. Export the table as CSV.")


def _refuse_archives(name: str, data: bytes) -> None:
    """Raise BadFile for content that has to be unpacked or fetched first."""
    if data[_TAR_PLACE:].startswith(_TAR):
        raise BadFile(f"{name} is a tar archive. Unpack it with `tar -xf {name}`.")
    if data.startswith(tuple(_COMPRESSIONS)):
        raise BadFile(f"{name} is compressed twice. Unpack it first.")
    if data.startswith(_LFS_POINTER):
        raise BadFile(f"{name} is a pointer to a file of Git LFS. Fetch it with `git lfs pull`.")


def _uncompress(name: str, file: IO[bytes], limit: int) -> bytes:
    start = file.read(8)
    file.seek(0)
    what, reader = next(one for magic, one in _COMPRESSIONS.items() if start.startswith(magic))
    try:
        with reader(file) as unpacked:
            return _read_at_most(name, unpacked, limit)
    except EOFError:
        raise BadFile(f"{name} is truncated {what} data. Download or export it again.") from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BadFile(
            f"{name} is damaged {what} data ({error}). Download or export it again."
        ) from None


def _unpack_zip(name: str, file: IO[bytes], limit: int) -> list[Source]:
    """Return the tables in a zip archive, sorted by name; nothing is written to disk."""
    remaining, found = limit, list[Source]()
    try:
        with zipfile.ZipFile(file) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            _check_members(name, [one.filename for one in members])
            _refuse_spreadsheets(name, {one.filename for one in members})
            for member in sorted(members, key=lambda one: one.filename):
                base = PurePosixPath(member.filename).name
                if member.filename.startswith("__MACOSX/") or not _is_table(base):
                    continue
                with archive.open(member) as unpacked:
                    data = _read_at_most(name, unpacked, remaining)
                remaining -= len(data)
                member_name = _printable(f"{name}: {member.filename}")
                found.append(_member(name, member_name, data, remaining))
                remaining -= len(found[-1].read()) - len(data)
    except (BlindfuseError, OSError, MemoryError):
        raise
    except (RuntimeError, NotImplementedError) as error:  # a password, or a rare compression
        raise BadFile(f"{name} cannot be unpacked ({error}). Unpack it first.") from None
    except Exception as error:  # zipfile and its decompressors have no common base error
        raise BadFile(
            f"{name} is a damaged zip archive ({error}). Download or export it again."
        ) from None
    if not found:
        raise BadFile(f"The archive {name} contains no {_readable_file()}")
    return found


def _refuse_spreadsheets(name: str, members: set[str]) -> None:
    """Raise BadFile for spreadsheets, which are zip archives of XML."""
    for member, what in _SPREADSHEETS.items():
        if member in members:
            raise BadFile(
                f"{name} is {what}. Save the sheet with the responses as CSV UTF-8 (in Excel: "
                "File, Save As), or pass the frame of pandas.read_excel to fuse in Python."
            )


def _member(archive: str, name: str, data: bytes, limit: int) -> Source:
    """Return one file of an archive. It may be compressed, but not be an archive."""
    if data.startswith(_ZIP):
        raise BadFile(f"{name} is an archive within an archive. Unpack {archive} first.")
    is_packed = data.startswith(tuple(_COMPRESSIONS))
    return Source(name, _uncompress(name, io.BytesIO(data), limit) if is_packed else data)


def _check_members(name: str, members: Sequence[str]) -> None:
    paths = [one.replace("\\", "/") for one in members]
    outside = [one for one in paths if one.startswith("/") or ".." in one.split("/")]
    if outside:
        raise BadFile(
            f"{name} contains paths outside of the archive: {list_names(outside)}. "
            "Unpack it yourself if you trust it."
        )
    if len(members) > MAX_MEMBERS:
        raise BadFile(
            f"{name} contains {len(members):,} files, but at most {MAX_MEMBERS:,} are read. "
            "Unpack it and join them."
        )


def _read_at_most(name: str, unpacked: IO[bytes], limit: int) -> bytes:
    """Read in blocks; raise BadFile as soon as there are more than ``limit`` bytes."""
    data = bytearray()
    while block := unpacked.read(_BLOCK_BYTES):
        data += block
        if len(data) > limit:
            raise BadFile(too_large_message(name, "more"))
    return bytes(data)
