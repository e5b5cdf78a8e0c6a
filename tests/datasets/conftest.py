"""A local server of raw files that can fail, and a cache folder per test."""

import gc
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from blindfuse.datasets import downloading
from blindfuse.datasets.downloading import PinnedFile

TINY = {
    "crowd.txt": b"1\t1\t2\n1\t2\t1\n1\t3\t2\n2\t1\t1\n2\t2\t1\n",
    "truth.txt": b"1\t2\n2\t1\n",
}
"""Raw files of a dataset of two items."""


class Server:
    """A server of ``files`` by path. Those in ``broken`` are cut off in the middle."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.broken: set[str] = set()
        self.requested: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requested.append(self.path)
                body = outer.files.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if self.path in outer.broken else body)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def put(self, file: PinnedFile, body: bytes) -> str:
        path = file.url.removeprefix(self.url)
        self.files[path] = body
        return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """Serve raw files from here, and keep the cache in a folder of this test."""
    server = Server()
    monkeypatch.setattr(downloading, "HOST", server.url)
    monkeypatch.setenv("BLINDFUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BLINDFUSE_DATA", raising=False)
    yield server
    server.http.shutdown()
    server.http.server_close()
    gc.collect()


@pytest.fixture
def tiny(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the dataset "bird" by ``TINY``; return the paths of its files on the server."""
    wanted = [
        PinnedFile(
            "bird", "owner/name", "c" * 40, name, len(body), hashlib.sha256(body).hexdigest()
        )
        for name, body in TINY.items()
    ]
    monkeypatch.setattr(downloading, "pinned_files", lambda: {"bird": wanted})
    return [server.put(file, TINY[file.path]) for file in wanted]
