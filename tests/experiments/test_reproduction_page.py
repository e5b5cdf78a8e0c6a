import json
import re
from pathlib import Path

import pytest

from experiments.catalogue import EXPERIMENTS, required_tasks
from experiments.experiment import Section
from experiments.reproduction_page import cell_text, to_markdown
from experiments.results import Results
from experiments.runner import run_tasks
from experiments.scale import SMOKE
from tests.conftest import SHARED


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, dict[str, str]]:
    """Results of every experiment at the smallest scale, and the unavailable datasets."""
    folder = tmp_path_factory.mktemp("smoke")
    results = Results(folder / "results.jsonl")
    data = str(SHARED if SHARED.is_dir() else folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLINDFUSE_CACHE", str(folder / "cache"))
        return results, run_tasks(required_tasks(EXPERIMENTS.values(), SMOKE), results, data)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_page_shows_every_table_cell_check_and_figure(
    smoke: tuple[Results, dict[str, str]], name: str
) -> None:
    results, unavailable = smoke
    experiment = EXPERIMENTS[name]
    if any(task.source in unavailable for task in experiment.tasks(SMOKE)):
        pytest.skip(f"its datasets are not on this machine: {sorted(unavailable)}")
    section = experiment.section(results, SMOKE)
    assert section.tables
    page = to_markdown([section], results, SMOKE, {})
    for table in section.tables:
        assert table.measured
        for row in table.rows:
            cells = [cell_text(table, row, column) for column in table.columns]
            if any(cells):
                assert f"| {row} | " + " | ".join(cells) + " |" in page
    for check in section.checks:
        assert check.name in page
    for figure in section.figures:
        assert f"figures/{figure.name}.svg" in page
        assert len(json.loads(figure.chart.to_json())) > 0
    assert not re.search(r"\bnan\b|\binf\b|None", page)
    assert not re.search(r"/(?:tmp|home|root|work)/", page)


def test_a_section_without_results_has_empty_tables(tmp_path: Path) -> None:
    no_results = Results(tmp_path / "results.jsonl")
    for experiment in EXPERIMENTS.values():
        section = experiment.section(no_results, SMOKE)
        assert isinstance(section, Section)
        assert all(not table.measured for table in section.tables)
