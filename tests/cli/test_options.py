"""Values of options that several commands share."""

from typing import get_args

import pytest

from blindfuse.cli.fuse import fuse_command
from blindfuse.readers.reading import READERS
from blindfuse.responses.rows import Repeats
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_classes_keep_the_users_order_and_may_be_unreported() -> None:
    options = ("--classes", 'dog, cat,cow,"a, b"')
    header = succeed("fuse", "votes.csv", *options, "-o", "-").stdout.splitlines()[0]
    assert header.endswith(',p_dog,p_cat,p_cow,"p_a, b"')
    assert "'dog'" in refuse("fuse", "votes.csv", "--classes", "cat,cow")


def test_choices_are_those_of_the_package() -> None:
    choices = {each.name: getattr(each.type, "choices", None) for each in fuse_command.params}
    assert choices["format"] == tuple(READERS)
    assert choices["repeats"] == get_args(Repeats)
