"""Datasets in a local folder."""

from pathlib import Path

import pytest

from blindfuse import BadParameter
from blindfuse.datasets import load, load_features
from tests.datasets.conftest import Server

# pooch leaves the socket of a broken connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_a_given_folder_is_used_instead_of_the_network(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="only none"):
        load("bird", tmp_path)
    with pytest.raises(BadParameter, match="only none"):
        load_features("magic", tmp_path)
    assert server.requested == []
