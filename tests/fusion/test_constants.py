"""The table of constants in docs/method.md states the values that the package has."""

import re
from pathlib import Path

import pytest

from blindfuse.diagnostics import expected_error, information, pairs
from blindfuse.estimators import held_out
from blindfuse.fusion import evidence, rule
from blindfuse.model import fused_model, shrinkage

PAGE = Path(__file__).parents[2] / "docs" / "method.md"
MODULES = rule, evidence, fused_model, shrinkage, held_out, pairs, information, expected_error
ROWS = re.findall(r"^\| `([A-Z_]+)` \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("name", "stated"), ROWS)
def test_the_page_states_the_value_of_each_constant(name: str, stated: str) -> None:
    value = next(vars(module)[name] for module in MODULES if name in vars(module))
    powers = {"10⁻⁹": 1e-9, "10⁻⁶": 1e-6}
    assert value == (powers[stated] if stated in powers else float(stated.replace(",", "")))


def test_the_rule_has_at_most_thirty_constants() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("| constant | value |")[1].split("\n\n")[0]
    assert 20 < table.count("\n|") - 1 <= 30
    for module in (rule, evidence, fused_model, expected_error, information):
        numbers = {name for name, value in vars(module).items() if isinstance(value, int | float)}
        named = {name for name in numbers if name.isupper()} - {"Z", "Z_95"}
        imported = {name for other in MODULES if other is not module for name in vars(other)}
        unstated = named - imported - {name for name, _ in ROWS} - {"BLOCK_ITEMS", "MIN_POSTERIOR"}
        assert not unstated, module.__name__
