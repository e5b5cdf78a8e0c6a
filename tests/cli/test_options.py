"""Values of options that several commands share."""

import pytest

from blindfuse.cli.options import FORMATS
from blindfuse.readers.reading import READERS
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_classes_keep_the_users_order_and_may_be_unreported() -> None:
    options = ("--classes", 'dog, cat,cow,"a, b"')
    header = succeed("fuse", "votes.csv", *options, "-o", "-").stdout.splitlines()[0]
    assert header.endswith(',p_dog,p_cat,p_cow,"p_a, b"')
    assert "'dog'" in refuse("fuse", "votes.csv", "--classes", "cat,cow")


def test_formats_are_those_of_the_readers() -> None:
    assert tuple(READERS) == FORMATS
