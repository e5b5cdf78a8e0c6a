"""The formats that ``blindfuse.read`` knows."""

from blindfuse.readers import (
    argilla,
    doccano,
    indicators,
    judges,
    label_studio,
    long,
    mturk,
    prodigy,
    toloka,
    wide,
)
from blindfuse.readers.reader import Reader

_MODULES: tuple[Reader, ...] = (
    label_studio,
    toloka,
    mturk,
    prodigy,
    argilla,
    doccano,
    indicators,
    judges,
    long,
    wide,
)

READERS: dict[str, Reader] = {reader.NAME: reader for reader in _MODULES}
"""Every format by name, in the order in which they are tried. The last one accepts any table."""
