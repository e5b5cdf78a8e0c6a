"""doccano exports: one file per annotator."""

import json
import zipfile
from pathlib import Path

from blindfuse import read
from tests.support.reader_files import has_note, labels_by_name, write_file
from tests.support.tool_exports import DOCCANO


def test_folders_and_archives_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for annotator, records in DOCCANO.items():
            text = "\n".join(map(json.dumps, records))
            write_file(folder, f"{annotator}.jsonl", text)
            archive.writestr(f"{annotator}.jsonl", text)
    for path in (folder, tmp_path / "export.zip"):
        found = read(path)
        assert found.format == "doccano"
        assert labels_by_name(found.responses) == {
            ("1", "ann"): "x",
            ("1", "bob"): "y",
            ("2", "bob"): "x",
        }
        assert has_note(found, "1 response with several labels")
        assert has_note(found, "1 empty label treated as missing")
