"""What the rule of fuse does on tables with a truth and on variants of them, measured once.

``make calibration`` and the sections that compare fuse with the majority vote read the same
measurements. They are kept in the dataset cache (BLINDFUSE_CACHE), under a digest of the package's
source: a run that was interrupted resumes, and a changed rule is measured again.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import blindfuse
from blindfuse import NotConverged, Responses
from blindfuse.diagnostics.expected_error import Features
from blindfuse.diagnostics.items import rate_items
from blindfuse.files import cache_folder
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.rule import decide_labels
from blindfuse.model.posteriors import vote_posteriors
from blindfuse.responses.canonical import canonicalize
from experiments.calibration_tables import KINDS, Table
from experiments.table_variants import variants_of

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MAX_LOSS = 0.3
"""Points by which fuse may be worse than the vote in any case."""


@dataclass(frozen=True)
class PairedErrors:
    """Errors of the vote and of fuse on the same items, and their difference, in points.

    ``noise`` is the standard error of the difference. Of c tied classes, the vote's label is right
    with probability 1/c.
    """

    vote: float
    fused: float
    noise: float

    @property
    def difference(self) -> float:
        return self.fused - self.vote

    @property
    def limit(self) -> float:
        """The largest difference that is allowed, in points."""
        return max(MAX_LOSS, 2 * self.noise)

    @property
    def is_above(self) -> bool:
        return self.difference > self.limit


@dataclass(frozen=True)
class ListedItems:
    """The share of items that need another label, and the error of these and of the others.

    An error is None if no such item has a truth.
    """

    share: float
    error: float | None
    error_of_others: float | None


@dataclass(frozen=True)
class Record:
    """What was measured of a table, or of a variant of it, with ``n_known`` items with a truth.

    ``variant`` is empty for the table as it is. ``features`` and ``expected`` are None if the
    responses do not tell.
    """

    name: str
    variant: str
    family: str
    method: str
    errors: PairedErrors
    n_known: int
    responses_per_item: float
    listed: ListedItems
    features: Features | None
    expected: float | None

    @property
    def error(self) -> float:
        """The share of wrong labels."""
        return self.errors.fused / 100

    @property
    def is_generated(self) -> bool:
        return self.family in KINDS


@dataclass(frozen=True, eq=False)
class Case:
    """A table or a variant of it: its evidence, and the true classes in canonical order."""

    name: str
    variant: str
    family: str
    evidence: Evidence
    truth: Codes


def make_case(table: Table, variant: str, responses: Responses, truth: Codes) -> Case:
    """The responses in canonical order; true classes are −1 if unknown, K if nobody reports them.

    That is the order in which ``fuse`` decides.
    """
    canonical = canonicalize(responses)
    codes = np.append(np.argsort(canonical.classes), [len(canonical.classes), -1])
    evidence = Evidence(canonical.responses)
    return Case(table.name, variant, table.family, evidence, codes[truth[canonical.items]])


def cases_of(table: Table, variant_seed: int | None = None) -> Iterator[Case]:
    """The table as it is, or one draw of each of its variants if a seed is given."""
    responses, truth = table.load()
    if variant_seed is None:
        yield make_case(table, "", responses, truth)
        return
    for variant, varied, codes in variants_of(table.name, responses, truth, variant_seed):
        yield make_case(table, variant, varied, codes)


def measure(case: Case) -> Record:
    """Apply the rule, and compare its labels with the truth."""
    evidence, truth = case.evidence, case.truth
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        decision = decide_labels(evidence)
    expected = decision.expected_error
    return Record(
        case.name,
        case.variant,
        case.family,
        decision.method,
        compare_errors(vote_posteriors(evidence.responses), decision.posteriors, truth),
        int(np.count_nonzero(truth >= 0)),
        float(evidence.responses.responses_per_item.mean()),
        _listed_items(
            rate_items(evidence.responses, decision.model, decision.posteriors).needs_another_label,
            wrong_labels(decision.posteriors, truth),
            truth >= 0,
        ),
        decision.features,
        None if expected is None else expected.value,
    )


def _listed_items(
    listed: NDArray[np.bool_], wrong: Floats, known: NDArray[np.bool_]
) -> ListedItems:
    errors = [
        float(wrong[chosen].mean()) if chosen.any() else None
        for chosen in (listed & known, ~listed & known)
    ]
    return ListedItems(float(listed.mean()), *errors)


def compare_errors(votes: Floats, posteriors: Floats, truth: Codes) -> PairedErrors:
    """Errors of two methods on the items ``[item]`` whose truth is known (not −1)."""
    known = truth >= 0
    by_vote, by_fuse = (wrong_labels(scores, truth)[known] for scores in (votes, posteriors))
    noise = np.std(by_fuse - by_vote) / np.sqrt(max(len(by_vote), 1))
    return PairedErrors(100 * by_vote.mean(), 100 * by_fuse.mean(), float(100 * noise))


def wrong_labels(scores: Floats, truth: Codes) -> Floats:
    """The probability that the label is wrong if ties are broken at random, ``[item]``.

    A true class of K or more is one that nobody reports.
    """
    K = scores.shape[1]
    largest = scores == scores.max(axis=1, keepdims=True)
    right = largest[np.arange(len(truth)), np.minimum(truth, K - 1)] & (truth < K)
    return np.asarray(1 - right / largest.sum(axis=1))


def measure_tables(tables: Iterable[Table], variant_seed: int | None = None) -> list[Record]:
    """Measure the tables as they are, or their variants, unless that was done before."""
    path = cache_path("measured")
    done = {key: [_read(one) for one in found] for key, found in read_cache(path).items()}
    records = []
    for table in tables:
        key = f"{table.name} | {variant_seed}"
        if key not in done:
            done[key] = [measure(case) for case in cases_of(table, variant_seed)]
            add_to_cache(path, key, [asdict(record) for record in done[key]])
        records += done[key]
    return records


def _read(stored: dict[str, object]) -> Record:
    """A record from its stored form."""
    kinds = {"errors": PairedErrors, "listed": ListedItems, "features": Features}
    for name, kind in kinds.items():
        if stored[name] is not None:
            stored[name] = kind(**stored[name])  # type: ignore[arg-type]
    return Record(**stored)  # type: ignore[arg-type]


def cache_path(name: str) -> Path:
    """The file of measurements of this name and of the present source."""
    source = Path(blindfuse.__file__).parent
    digest = hashlib.sha256()
    for folder in ("diagnostics", "estimators", "fusion", "model", "moments", "solver"):
        for path in sorted((source / folder).glob("*.py")):
            digest.update(path.read_bytes())
    path = cache_folder() / "benchmarks" / f"{name}-{digest.hexdigest()[:12]}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read_cache(path: Path) -> dict[str, list[dict[str, object]]]:
    """What was stored under each key."""
    if not path.exists():
        return {}
    return dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def add_to_cache(path: Path, key: str, stored: list[dict[str, object]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps([key, stored]) + "\n")
