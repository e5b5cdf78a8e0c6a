from pathlib import Path

from experiments.catalogue import EXPERIMENTS
from experiments.experiment import row_summary
from experiments.methods import ALG_2
from experiments.results import Results
from experiments.scale import FULL
from experiments.tasks import Measurements, Task


def test_ml_rows_have_their_own_errors(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    measurements: Measurements = {
        "error": 1.0,
        "error_ml": 2.0,
        "all_error": 3.0,
        "all_error_ml": 4.0,
        "seconds": 5.0,
    }
    results.add(Task("adult", ALG_2, filtered=True), measurements)
    where = {"source": "adult", "filtered": True}
    for row, field, value in (
        ("Alg. 2 MAP", "error", 1),
        ("Alg. 2 ML", "error", 2),
        ("Alg. 2 MAP", "all_error", 3),
        ("Alg. 2 ML", "all_error", 4),
        (ALG_2, "seconds", 5),
    ):
        summary = row_summary(results, row, field, **where)
        assert summary is not None
        assert summary.mean == value
    section = EXPERIMENTS["table9"].section(results, FULL)
    assert section.tables[0].measured["Alg. 2 ML", "adult"].mean == 4
    assert section.tables[1].measured["Alg. 2 ML", "adult"].mean == 2
