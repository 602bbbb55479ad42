"""Each test draws the same numbers, whichever tests a worker ran before it; those of derivations run as `verify` does."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def generators() -> list[tuple[Any, str, Any]]:
    """The generators of random numbers that test modules have."""
    torch = sys.modules.get("torch")
    kinds = (np.random.Generator, np.random.RandomState, *([torch.Generator] if torch else []))
    return [
        (module, name, value)
        for key, module in [*sys.modules.items()]
        if key.partition(".")[0] == "tests"
        for name, value in vars(module).items()
        if isinstance(value, kinds)
    ]


@pytest.fixture(autouse=True)
def same_draws(generators: list[tuple[Any, str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed PyTorch and NumPy, and give each test its own copies of the generators."""
    np.random.seed(0)  # noqa: NPY002
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
    for module, name, generator in generators:
        copied = getattr(generator, "clone_state", lambda generator=generator: deepcopy(generator))
        monkeypatch.setattr(module, name, copied())


SYMBOLIC = tuple(Path(__file__).with_name(name) for name in ("attacks", "derivations", "fuzz"))


@pytest.fixture(scope="module", autouse=True)
def _shortcuts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let SymPy have the shortcuts of the kernel in the tests of what uses them."""
    if not any(folder in request.path.parents for folder in SYMBOLIC):
        yield
        return
    from derivations.calculus.quick import shortcuts

    with shortcuts():
        yield
