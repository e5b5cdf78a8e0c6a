"""Every public call on public and generated tables, on files and on the command line.

:mod:`same_results` runs them. What a version lacks is left out.
"""

import csv
import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import blindfuse as bf

Calls = Iterator[tuple[str, Callable[[], dict[str, Any]]]]
"""Names, and functions that return what is to be compared."""

LARGE = 60_000
"""Responses above which slow methods are left out."""
SLOW = {"BayesianDawidSkene", "GLAD", "LatentSubtypes", "MMSR", "SingleBest"}
FUSION = """labels posteriors method model.confusions model.prior expected_error.value
    expected_error.low expected_error.high expected_error.if_independent is_gold history
    item_ratings.confidence item_ratings.margin item_ratings.gain item_ratings.needs_another_label
    why summary() responses.items responses.annotators responses.classes"""
SETS = "sets posteriors method needs_another_label why summary()"
NUMBERS = """items values low high standard_errors method annotators.bias annotators.scale
    annotators.noise why notes summary()"""
CLUSTERS = "labels posteriors confidence agreement model.confusions summary()"
FITTED = "labels_ posteriors_ model_.confusions model_.prior"
AUDIT = "error errors differences class_shares better_method posteriors summary()"
TABLE = "items annotators classes symbols responses_per_item notes"
COMMANDS = """fuse {long} -o {out} --annotators {also} | fuse {long} --json | annotators {long}
    fuse {long} --ordered --gold {truth} -o {out} | fuse {long} --abstentions -o {out}
    fuse {long} --method mace -o {out} --model {model} | predict {model} {long} -o {out}
    fuse {numbers} --numbers -o {out} --annotators {also} | fuse {numbers} --numbers --json
    fuse {sets} --multi-label -o {out} --annotators {also} | fuse {sets} --multi-label --json
    fuse {numbers} --scores -o {out} | compare {long} --truth {truth} --method kos
    next {long} --budget 20 -o {out} | audit {long} --budget 20 -o {out} | cluster {wide} -o {out}
    fuse {long} --partitioned -o {out} | methods --json"""


def shown(value: Any, names: str) -> dict[str, Any]:
    """The attributes of these names, as far as there are any; those with ``()`` are called."""
    found = {}
    for name in names.split():
        part = value
        for step in name.removesuffix("()").split("."):
            part = getattr(part, step, None)
        found[name] = part() if name.endswith("()") and part is not None else part
    return found


def run(names: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> dict[str, Any]:
    """What is shown of what a call returns."""
    return shown(call(*arguments, **options), names)


def shown_table(responses: Any) -> dict[str, Any]:
    """The names in a table and, unless it is large, its matrix."""
    small = responses.n_items * responses.n_annotators < 5_000_000
    return shown(responses, TABLE) | ({"matrix": responses.matrix()} if small else {})


def calls_of(table: Any, truth: dict[Any, Any]) -> Calls:
    """Every call on one table: classes, numbers, sets, or a matrix of clusterings."""
    if isinstance(table, np.ndarray):
        for k in (2, 4, None):
            yield f"fuse_clusters-{k}", partial(run, CLUSTERS, bf.fuse_clusters, table, k)
    elif isinstance(table, bf.ResponseSets):
        gold = {item: truth[item] for item in list(truth)[:3]}
        yield "fuse_sets", partial(run, SETS, bf.fuse_sets, table)
        yield "fuse_sets-gold", partial(run, SETS, bf.fuse_sets, table, gold=gold)
    elif isinstance(table, bf.Numbers):
        fit = partial(bf.fuse_numbers, table)
        for method in ("auto", "mean", "median", "standardized mean", "one factor"):
            yield f"fuse_numbers-{method}", partial(run, NUMBERS, fit, method=method)
        gold = dict(list(truth.items())[:12])
        yield "fuse_numbers-gold", partial(run, NUMBERS, fit, gold=gold)
        yield "predict", lambda: {"values": fit().predict(table)}
    else:
        yield from label_calls(table, truth)


def label_calls(responses: Any, truth: dict[Any, Any]) -> Calls:
    """Every method and every call on one table of classes."""
    known = dict(list(truth.items())[: max(1, len(truth) // 10)])
    middle = (responses.n_items + 1) // 2
    parts = np.arange(middle), np.arange(middle, responses.n_items)
    chunks = [responses.select_items(part) for part in parts if len(part)]
    fused = cache(lambda: bf.fuse(responses))
    is_small = responses.n_responses <= LARGE

    def saved() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            fused().save(Path(folder) / "model.npz")
            model = bf.Model.load(Path(folder) / "model.npz")
        return {
            "loaded": model.posteriors(chunks[0]),
            "fused": fused().predict_proba(chunks[0]),
            "labels": fused().predict(chunks[0]),
        }

    def audited() -> dict[str, Any]:
        plan = bf.plan_audit(fused(), budget=min(30, responses.n_items), seed=1)
        checks = {item: truth.get(item, fused().labels[0]) for item in plan.items.tolist()}
        result = bf.audit(fused(), plan, checks)
        again = bf.fuse(responses, checked=result)
        mine = {"labels": again.labels, "checked_posteriors": again.posteriors}
        return shown(plan, "items probability strata sizes") | shown(result, AUDIT) | mine

    def streamed() -> dict[str, Any]:
        stream = bf.fuse_stream(chunks, max_responses=responses.n_responses // 2 + 1)
        return {str(n): chunk.posteriors for n, chunk in enumerate(stream)}

    def compared() -> dict[str, Any]:
        rows = bf.compare(responses, known, fused=fused())
        return {row.method: [row.error or -1, row.differs or -1] for row in rows}

    def diagnosed() -> dict[str, Any]:
        found = bf.diagnose(responses, fused().model, fused().posteriors)
        return {part.heading: part.text for part in found.paragraphs()}

    def with_prior() -> bf.Fusion:
        return bf.fuse(chunks[0], prior_model=fused().model)

    def asked() -> bf.LabelRequests:
        return bf.next_labels(fused(), 20, max_per_annotator=9)

    methods = import_module("blindfuse.estimators.registry").METHODS
    for name in [name for name in methods if is_small or name not in SLOW]:
        yield (
            f"method-{name}",
            partial(run, FITTED, lambda make: make().fit(responses), methods[name]),
        )
    yield "table", partial(shown_table, responses)
    yield "fuse", partial(run, FUSION, fused)
    options: dict[str, dict[str, Any]] = {
        "ordered": {"ordered": True},
        "abstentions": {"abstentions": True},
        "gold": {"gold": known},
        "checked": {"checked": known},
        "method": {"method": bf.DawidSkene()},
    }
    for name, option in options.items():
        yield f"fuse-{name}", partial(run, FUSION, bf.fuse, responses, **option)
    yield "fuse-prior_model", partial(run, FUSION, with_prior)
    yield "next_labels", partial(run, "items annotators gains", asked)
    yield from (("diagnose", diagnosed), ("saved", saved), ("audit", audited))
    yield from (("fuse_stream", streamed), *([("compare", compared)] if is_small else []))


def read_table(path: Path) -> list[list[str]]:
    """The rows of a compressed CSV file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def public_tables(data: Path, most: int, first: int) -> Iterator[tuple[str, Calls]]:
    """The tables of a folder with at most so many responses, and the first of ensembles."""
    for path in sorted(data.glob("crowd/*/labels.csv.gz")) + sorted(data.glob("scores/*/scores*")):
        rows, truth = read_table(path), dict(read_table(path.parent / "truth.csv.gz"))
        if len(rows) > most:
            continue
        items, annotators, values = zip(*rows, strict=True)
        table: Any
        if path.parent.parent.name == "crowd":
            table = bf.Responses.from_long(items, annotators, values)
            kept = set(table.classes.tolist())
            truth = {item: label for item, label in truth.items() if label in kept}
        else:
            numbers = np.array([float(value or "nan") for value in values])
            table = bf.Numbers.from_long(items, annotators, numbers)
            truth = {item: float(value) for item, value in truth.items()}  # type: ignore[misc]
        yield f"{path.parent.parent.name}-{path.parent.name}", calls_of(table, truth)
    for path in [*sorted(data.glob("ensembles/*")), *sorted(data.glob("probabilities/*"))]:
        stored = np.load(path)
        key = "answers" if "answers" in stored else "probabilities"
        part = stored[key][: first // stored[key].shape[1]]
        make = bf.Responses.from_matrix if part.ndim == 2 else bf.Responses.from_probabilities
        table = make(part, classes=np.arange(int(stored["truth"].max()) + 1))
        known = dict(enumerate(stored["truth"][: len(part)].tolist()))
        yield f"{path.parent.name}-{path.stem}", calls_of(table, known)


def generated_table(seed: int) -> tuple[str, Any, dict[Any, Any]]:
    """One table of the family whose turn it is: its family, the table and the truth."""
    rng = np.random.default_rng(seed)
    K, M, N = (int(rng.integers(*ends)) for ends in ((2, 6), (3, 12), (20, 150)))
    simulate = partial(bf.simulate, rng=rng)
    groups: dict[str, Any] = {"dependent_groups": [[0, 1, 2]], "copy_probability": 0.8}
    families: dict[str, Callable[[], Any]] = {
        "complete": lambda: simulate(N, M, K, skill=0.3),
        "sparse": lambda: simulate(4 * N, 3 * M, K, skill=0.3, missing=0.8),
        "classes": lambda: simulate(3 * N, M, 12, skill=0.5),
        "ties": lambda: simulate(N, 4, 2),
        "copies": lambda: simulate(N, 8, K, skill=0.4, **groups),
        "adversaries": lambda: simulate(N, 9, K, skill=0.5, adversaries=0.25),
        "rare": lambda: simulate(N, M, 3, skill=0.4, prior=[0.9, 0.08, 0.02]),
        "two": lambda: simulate(N, 2, K, skill=0.4),
        "item": lambda: simulate(1, M, K, skill=0.4),
        "scores": lambda: bf.simulate_scores(N, M, 11, 2, rng, missing=0.2),
    }
    kinds = [*families, "one_sided", "no_signal", "probabilities", "clusters", "sets", "number"]
    family = kinds[seed % len(kinds)]
    if family in families:
        drawn = families[family]()
        names = drawn.responses.classes[drawn.truth].tolist()
        return family, drawn.responses, dict(enumerate(names))
    if family == "number":
        ratings = bf.simulate_numbers(N, M, seed=seed)
        return family, ratings.numbers, dict(enumerate(ratings.truth.tolist()))
    codes = rng.integers(0, K, N)
    right = rng.random((N, M)) < 0.6
    votes = np.where(right, codes[:, None], rng.integers(0, K, (N, M)))
    table: Any = (votes + np.arange(M)) % K
    truth: dict[Any, Any] = dict(enumerate(codes.tolist()))
    if family == "one_sided":
        table = bf.Responses.from_matrix(np.where(votes == np.arange(M) % K, votes, -1))
    elif family == "no_signal":
        table = bf.Responses.from_matrix(rng.integers(0, K, (N, M)))
    elif family == "probabilities":
        noisy = rng.dirichlet(np.ones(K), (N, M)) + right[..., None] * np.eye(K)[votes]
        table = bf.Responses.from_probabilities(noisy / noisy.sum(axis=2, keepdims=True))
    elif family == "sets":
        member = rng.random((N, 6)) < 0.3
        cells = [np.flatnonzero(row ^ (rng.random(6) < 0.15)) for row in member for _ in range(M)]
        columns = np.repeat(np.arange(N), M), np.tile(np.arange(M), N)
        table = bf.ResponseSets.from_long(*columns, [cell.tolist() for cell in cells])
        truth = {n: np.flatnonzero(row).tolist() for n, row in enumerate(member)}
    return family, table, truth


def generated_tables(count: int) -> Iterator[tuple[str, Calls]]:
    """So many generated tables, one of each family in turn."""
    for seed in range(count):
        family, table, truth = generated_table(seed)
        yield f"generated-{seed:03d}-{family}", calls_of(table, truth)


def keep_files(folder: Path) -> None:
    """Keep the files that tests/ has, as many programs write them, with the options to read."""
    tried = import_module("tests.support.tried_files")
    cases = [("read", case.source, case.files, dict(case.options)) for case in tried.TRIED_FILES]
    cases += [("read_sets", name, dict([file]), {}) for name, file in tried.SET_FILES.items()]
    for n, (call, source, files, options) in enumerate(cases):
        prefix = "sets: " if call == "read_sets" else ""
        name = re.sub(r"\W|_", "_", prefix + source)[:60]
        case = folder / f"read-{n:03d}-{name}"
        case.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            (case / file).write_bytes(content)
        text = json.dumps([call, list(files), options])
        (case / "call.json").write_text(text, encoding="utf-8")


def file_calls(folder: Path) -> Calls:
    """``read`` and ``read_sets`` of the files that were kept."""

    def run(case: Path) -> dict[str, Any]:
        call, files, options = json.loads((case / "call.json").read_text(encoding="utf-8"))
        # Sets were read by a function of their own before version 0.3.
        read: Callable[..., Any] = getattr(bf, call, partial(bf.read, kind="sets"))
        found = read([case / file for file in files], **options)
        table = found.responses
        notes = shown(found, "format columns gold questions notes")
        if call == "read":
            return notes | shown_table(table)
        return notes | shown(bf.fuse_sets(table), SETS) | {"shares": table.shares()}

    yield from ((case.name, partial(run, case)) for case in sorted(folder.iterdir()))


def command_calls() -> Calls:
    """The files that commands write, on simulated tables."""
    folder = Path(tempfile.mkdtemp())
    votes = bf.simulate(80, 6, 3, np.random.default_rng(7), skill=0.5, missing=0.2)
    rows = [(n, m, k) for (n, m), k in np.ndenumerate(votes.responses.matrix()) if k >= 0]
    tables: dict[str, list[tuple[Any, ...]]] = {
        "long": [("item", "annotator", "label"), *((n, f"a{m}", "xyz"[k]) for n, m, k in rows)],
        "truth": [("item", "label"), *((n, "xyz"[k]) for n, k in enumerate(votes.truth[:20]))],
        "numbers": [("item", "annotator", "score"), *((n, f"a{m}", k + m / 4) for n, m, k in rows)],
        "sets": [
            ("item", "annotator", "label"),
            *((n, m, "|".join("xyz"[k:])) for n, m, k in rows),
        ],
        "wide": [("item", "u", "v", "w"), *((n, n % 3, n % 2, n % 3 + 4) for n in range(60))],
    }
    paths = {name: folder / f"{name}.csv" for name in [*tables, "out", "also"]}
    for name, table in tables.items():
        with paths[name].open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)

    def run(command: str) -> dict[str, Any]:
        written = [paths["out"], paths["also"]]
        for path in written:
            path.unlink(missing_ok=True)
        words = command.format(**paths, model=folder / "model.npz").split()
        words = [sys.executable, "-m", "blindfuse", *words, "--force"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        texts = [path.read_text(encoding="utf-8") for path in written if path.exists()]
        said = {name: getattr(done, name).replace(str(folder), "") for name in ("stdout", "stderr")}
        return {"code": done.returncode, "files": texts, **said}

    for command in COMMANDS.replace("\n", "|").split("|"):
        yield command.strip().replace(" ", "_"), partial(run, command)
