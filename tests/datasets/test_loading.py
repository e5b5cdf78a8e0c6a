"""Datasets by name: from a folder, or downloaded from a server that may fail in every way."""

import csv
import errno
import gc
import gzip
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from blindfuse import BadParameter, BlindfuseError, DownloadFailed
from blindfuse.datasets import downloading, load, load_features
from blindfuse.datasets.converting import CONVERTERS
from blindfuse.datasets.downloading import Source, sources
from blindfuse.datasets.features import poker_classes, poker_hands
from tests.conftest import SHARED

# pooch leaves the socket of a connection that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Rows = list[dict[str, str]]
TINY = {
    "crowd.txt": b"1\t1\t2\n1\t2\t1\n1\t3\t2\n2\t1\t1\n2\t2\t1\n",
    "truth.txt": b"1\t2\n2\t1\n",
}


class Server:
    """A server of ``files`` by path; ``broken`` ones end in the middle."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.broken: set[str] = set()
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
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

    def put(self, source: Source, body: bytes) -> str:
        path = source.url.removeprefix(self.url)
        self.files[path] = body
        return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """Raw files come from here, and the cache is a folder of this test."""
    found = Server()
    monkeypatch.setattr(downloading, "HOST", found.url)
    monkeypatch.setenv("BLINDFUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BLINDFUSE_DATA", raising=False)
    yield found
    found.http.shutdown()
    found.http.server_close()
    gc.collect()


@pytest.fixture
def tiny(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The set "bird", but of two items: the paths at which the server has its files."""
    wanted = [
        Source("bird", "who/what", "c" * 40, name, len(body), hashlib.sha256(body).hexdigest())
        for name, body in TINY.items()
    ]
    monkeypatch.setattr(downloading, "sources", lambda: {"bird": wanted})
    return [server.put(source, TINY[source.path]) for source in wanted]


def left_behind(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def test_a_set_is_downloaded_once_and_kept(server: Server, tiny: list[str]) -> None:
    first, second = load("bird"), load("bird")
    assert server.asked == tiny
    for crowd in (first, second):
        assert crowd.responses.matrix().tolist() == [[1, 0, 1], [0, 0, -1]]
        assert crowd.truth.tolist() == [1, 0]
        assert crowd.responses.items.tolist() == ["1", "2"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_wrong_hash_a_missing_file_and_a_broken_connection_leave_nothing(
    server: Server, tiny: list[str], which: int, tmp_path: Path
) -> None:
    good = server.files[tiny[which]]

    def refused(words: str) -> None:
        with pytest.raises(DownloadFailed, match=words) as raised:
            load("bird")
        assert left_behind(tmp_path) == []
        assert "'bird'" in str(raised.value)
        assert "BLINDFUSE_DATA" in str(raised.value)
        assert "crowd/bird/labels.csv.gz" in str(raised.value)

    server.files[tiny[which]] = good.replace(b"2", b"1")
    refused("another SHA-256")
    del server.files[tiny[which]]
    refused("answers 404")
    server.files[tiny[which]] = good
    server.broken.add(tiny[which])
    refused("connection failed")
    server.broken.clear()
    assert load("bird").responses.n_responses == 5


def test_no_server_at_all(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(DownloadFailed, match="Check the network"):
        load("bird")
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("step", ["_write", "_keep"])
def test_a_full_disk_leaves_nothing(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, step: str, tmp_path: Path
) -> None:
    real: Callable[..., None] = getattr(downloading, step)

    def full(*arguments: Any) -> None:
        if step == "_write":
            real(*arguments)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(downloading, step, full)
    with pytest.raises(DownloadFailed, match=r"No space left on device\. Make room, or set BLIND"):
        load("bird")
    assert left_behind(tmp_path) == []
    monkeypatch.setattr(downloading, step, real)
    assert load("bird").responses.n_items == 2


def test_a_disk_that_fills_while_a_file_comes(
    server: Server, tiny: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pooch

    def download(_: Any, url: str, output: str, *__: Any) -> None:
        Path(output).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    with pytest.raises(DownloadFailed, match="Make room"):
        load("bird")
    assert left_behind(tmp_path) == []


def test_a_name_that_nobody_knows(server: Server) -> None:
    with pytest.raises(BadParameter, match=r"no dataset 'brid': did you mean 'bird'\?"):
        load("brid")
    with pytest.raises(BadParameter, match=r"no feature set 'minst': did you mean 'mnist'\?"):
        load_features("minst")


def test_a_folder_is_taken_before_the_network(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="only none"):
        load("bird", tmp_path)
    with pytest.raises(BadParameter, match="only none"):
        load_features("magic", tmp_path)
    assert server.asked == []


# The files in the shared folder were converted from the pinned ones. Written back in the format of
# the source they must have the pinned hash, so that what is tested is the real file, byte by byte.


def shared(name: str) -> tuple[Rows, Rows]:
    folder = SHARED / "crowd" / name
    if not folder.is_dir():
        pytest.skip(f"the crowd set {name!r} is not on this machine")
    found = []
    for table in ("labels", "truth"):
        with gzip.open(folder / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            found.append(list(csv.DictReader(file)))
    return found[0], found[1]


def lines(rows: Rows, columns: str, separator: str, header: str = "") -> list[str]:
    return [
        *filter(None, [header]),
        *(separator.join(row[c] for c in columns.split()) for row in rows),
    ]


def as_zhang(name: str) -> list[list[str]]:
    labels, truth = shared(name)
    if name == "dog":  # its truth comes once per answer
        true = {row["item"]: row for row in truth}
        truth = [true[row["item"]] for row in labels]
    return [lines(labels, "item annotator label", "\t"), lines(truth, "item label", "\t")]


def as_headed(name: str) -> list[list[str]]:
    labels, truth = shared(name)
    heads = {"product": ("question,worker,answer", "question,truth")}
    of_labels, of_truth = heads.get(name, ("item,worker,label", "item,truth"))
    return [
        lines(labels, "item annotator label", ",", of_labels),
        lines(truth, "item label", ",", of_truth),
    ]


def as_barzan(name: str) -> list[list[str]]:
    labels, truth = shared(name)
    return [lines(labels, "annotator item label", "\t"), lines(truth, "item label", "\t")]


def as_toolkit(name: str) -> list[list[str]]:
    labels, truth = shared(name)
    true = {row["item"]: row["label"] for row in truth}
    return [
        [f"{row['annotator']},{row['item']},{row['label']},{true[row['item']]}" for row in labels]
    ]


def as_matrix(name: str) -> list[list[str]]:
    labels, truth = shared(name)
    cells = [["-1"] * 59 for _ in truth]
    for row in labels:
        cells[int(row["item"])][int(row["annotator"])] = row["label"]
    return [[" ".join(row) for row in cells], [row["label"] for row in truth]]


RAW: dict[str, Callable[[str], list[list[str]]]] = {
    **dict.fromkeys(("bird", "trec", "rte", "web", "dog"), as_zhang),
    **dict.fromkeys(("fact_eval", "product"), as_headed),
    "barzan": as_barzan,
    "sp": as_toolkit,
    "labelme": as_matrix,
}


def with_the_pinned_hash(text: list[str], source: Source) -> bytes:
    for ending in ("\n", "\r\n"):
        for last in (ending, ""):
            body = (ending.join(text) + last).encode()
            if hashlib.sha256(body).hexdigest() == source.sha256:
                assert len(body) == source.bytes
                return body
    raise AssertionError(f"{source.path} could not be written as it was")


@pytest.mark.parametrize("name", RAW)
def test_the_pinned_files_become_the_documented_layout(server: Server, name: str) -> None:
    for text, source in zip(RAW[name](name), sources()[name], strict=True):
        server.put(source, with_the_pinned_hash(text, source))
    ours, theirs = load(name), load(name, SHARED)
    assert len(server.asked) == len(sources()[name])
    for attribute in ("items", "annotators", "classes"):
        mine, other = (getattr(crowd.responses, attribute) for crowd in (ours, theirs))
        assert mine.tolist() == other.tolist()
    assert ours.truth.tolist() == theirs.truth.tolist()
    assert ours.responses.by_item.codes.tolist() == theirs.responses.by_item.codes.tolist()
    assert ours.responses.by_item.labels.tolist() == theirs.responses.by_item.labels.tolist()


def converted(name: str, folder: Path, *texts: str, names: tuple[str, ...] = ()) -> Any:
    raw = []
    for place, text in enumerate(texts):
        raw.append(folder / (names[place] if names else str(place)))
        raw[-1].write_text(text, encoding="utf-8")
    return CONVERTERS[name](raw)


def test_adult_sites_differ_by_more_than_case_and_the_last_answer_counts(tmp_path: Path) -> None:
    labels = "w1\thttp://A.com\tG\nw2\thttp://b.com\tX\nw1\thttp://a.com\tP\n"
    gold = "http://B.com\tX\nhttp://never-seen.com\tG\nhttp://a.COM\tP\n"
    tables = converted("adult", tmp_path, labels, gold)
    assert tables.labels == [("site0", "w1", "P"), ("site1", "w2", "X")]
    assert tables.truth == [("site1", "X"), ("site0", "P")]


def test_temp_and_the_toolkit_carry_the_truth_in_every_line(tmp_path: Path) -> None:
    snow = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\nx\tw\t4_0\t1\t2\n"
    assert converted("temp", tmp_path, snow) == ([("4_0", "w", "1")], [("4_0", "2")])
    timed = "w,81,0,2,14\nv,81,1,2,5\n"
    assert converted("cf_amt_weather", tmp_path, timed) == (
        [("81", "w", "0"), ("81", "v", "1")],
        [("81", "2")],
    )


def test_judges_are_joined_by_text_and_scores_that_are_no_numbers_are_missing(
    tmp_path: Path,
) -> None:
    one = (
        'raw_output,parsed_output,model,text,label\nx,5.0,m,"a, b",1\nx,Answer:::,m,c,0\nx,,m,d,0\n'
    )
    two = "text,label,raw_output,parsed_output,model\nc,0,x,4.9,m\nd,0,x,9,m\n"
    tables = converted(
        "judges_toxicity", tmp_path, one, two, names=("00-Judge-1.csv", "01-Judge-2b.csv")
    )
    assert tables.labels == [("0", "Judge-1", "1"), ("1", "Judge-2b", "0"), ("2", "Judge-2b", "1")]
    assert tables.truth == [("0", "1"), ("1", "0"), ("2", "0")]


def test_the_table_of_sources_is_the_shared_one() -> None:
    theirs = SHARED / "SOURCES.csv"
    if not theirs.is_file():
        pytest.skip("the shared folder is not on this machine")
    with theirs.open() as file:
        rows = list(csv.DictReader(file))
    flat = [source for of_set in sources().values() for source in of_set]
    assert sorted((s.path, s.commit, s.sha256, str(s.bytes)) for s in flat) == sorted(
        (row["path"], row["commit"], row["sha256"], row["bytes"]) for row in rows
    )
    assert set(CONVERTERS) == {source.dataset for source in flat} - {"magic"}


def test_magic_from_its_pinned_file(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"1.5,2,3,h\n4,5,6,g\n"
    source = Source("magic", "a/b", "c" * 40, "m.data", 1, hashlib.sha256(body).hexdigest())
    monkeypatch.setattr(downloading, "sources", lambda: {"magic": [source]})
    server.put(source, body)
    features, classes = load_features("magic")
    assert features.tolist() == [[1.5, 2, 3], [4, 5, 6]]
    assert classes.tolist() == [1, 0]


def test_poker_hands_are_worth_what_uci_says() -> None:
    path = SHARED / "uci" / "poker_real_subset.npz"
    if not path.is_file():
        pytest.skip("the poker hands of UCI are not on this machine")
    with np.load(path) as stored:
        assert np.array_equal(poker_classes(stored["X"]), stored["y"])


def test_generated_poker_hands_are_hands() -> None:
    hands, classes = poker_hands(20_000)
    cards = hands[:, 0::2].astype(int) * 13 + hands[:, 1::2]
    assert all(len(set(hand)) == 5 for hand in cards.tolist())
    assert (hands[:, 0::2].min(), hands[:, 0::2].max()) == (1, 4)
    assert (hands[:, 1::2].min(), hands[:, 1::2].max()) == (1, 13)
    shares = np.bincount(classes, minlength=10) / len(classes)
    assert shares[:4] == pytest.approx([0.5012, 0.4226, 0.0475, 0.0211], abs=0.01)
    assert np.bincount(cards.ravel() - 14).std() < 100  # each of the 52 comes about as often


@pytest.mark.parametrize(("name", "shape"), [("connect4", (67_557, 42)), ("dota2", (102_944, 116))])
def test_a_uci_set_that_has_changed_is_refused(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    shape: tuple[int, int],
    tmp_path: Path,
) -> None:
    class Frame:
        def __init__(self, values: Any) -> None:
            self.values = np.asarray(values)

        def to_numpy(self, dtype: Any = None) -> Any:
            return self.values.astype(dtype) if dtype else self.values

    class DatasetNotFoundError(Exception):
        pass

    board = ["b", "o", "x"] if name == "connect4" else [-1, 0, 1]
    outcome = ["win"] if name == "connect4" else [-1]
    fake: Any = ModuleType("ucimlrepo")
    fake.DatasetNotFoundError = DatasetNotFoundError

    def fetch(rows: int) -> Any:
        cells = np.resize(np.array(board), (rows, shape[1]))
        data = SimpleNamespace(features=Frame(cells), targets=Frame(np.resize(outcome, (rows, 1))))
        return lambda id: SimpleNamespace(data=data)

    monkeypatch.setitem(sys.modules, "ucimlrepo", fake)
    fake.fetch_ucirepo = fetch(3)
    with pytest.raises(DownloadFailed, match="its source has changed"):
        load_features(name)
    assert left_behind(tmp_path) == []
    fake.fetch_ucirepo = fetch(shape[0])
    features, classes = load_features(name)
    assert features.shape == shape
    assert features[0, :3].tolist() == ([0, 1, 2] if name == "connect4" else [-1, 0, 1])
    assert set(classes.tolist()) == ({2} if name == "connect4" else {0})


def test_without_the_library_that_fetches_it_says_what_to_install(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    with pytest.raises(BlindfuseError, match=r"pip install 'blindfuse\[datasets\]'"):
        load_features("dota2")
