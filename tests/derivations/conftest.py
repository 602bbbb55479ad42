"""The tests use the shortcuts of the kernel, as a run does."""

from collections.abc import Iterator

import pytest

from derivations.calculus.quick import shortcuts


@pytest.fixture(scope="package", autouse=True)
def _shortcuts() -> Iterator[None]:
    with shortcuts():
        yield
