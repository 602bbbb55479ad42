"""The API reference is built from docstrings."""

import importlib
from pathlib import Path

import pdoc
import pytest

PUBLIC = {
    "derivations.judge.verdicts": ("judge", "worst"),
    "derivations.records.claims": ("Claim", "Verdict"),
    "numerics.one_sided": ("plan", "log_partition"),
    "numerics.transport": ("sinkhorn", "diagnose"),
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    pdoc.pdoc(*PUBLIC, output_directory=folder)
    return folder


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_described(reference: Path, module: str) -> None:
    page = reference.joinpath(*module.split(".")).with_suffix(".html").read_text(encoding="utf-8")
    for name in PUBLIC[module]:
        assert f'id="{name}"' in page
        opening = " ".join(getattr(importlib.import_module(module), name).__doc__.split()[:3])
        assert opening in page, f"{module}.{name} is not described"
