"""The installed package works in an empty folder: no checkout is needed to verify, show, report or compare."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from derivations.register.catalogue import entries

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "tests" / "external_document" / "tiny_paper"
CHAPTER = [id for id, entry in entries().items() if entry.module == "derivations.documents.geometric.section6_softmax"]
SOURCES = ("derivations", "evidence", "numerics", "pyproject.toml", "README.md", "LICENSE")


def run(command: list[str], folder: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "CI": ""} | ({"PYTHONPATH": str(site)} if site else {})
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=surroundings)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel unpacked, as an installation has it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(folder),
        str(source),
    ]
    built = run(pip, source)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder, and in it a chapter verified by what is installed."""
    folder = tmp_path_factory.mktemp("elsewhere")
    result = derivations(folder, site, "verify", *CHAPTER, "-n", "0")
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def derivations(folder: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "derivations", *arguments], folder, site)


def test_the_wheel_contains_the_tested_code(site: Path, folder: Path) -> None:
    code = "import derivations, evidence, numerics; print(derivations.__file__, evidence.__file__, numerics.__file__)"
    output = run([sys.executable, "-c", code], folder, site).stdout.split()
    assert len(output) == 3
    assert all(Path(path).is_relative_to(site) for path in output)
    assert [path.name for path in folder.iterdir()] == ["ledger.json"]


def test_show_report_and_regress_read_the_ledger(site: Path, folder: Path) -> None:
    shown = derivations(folder, site, "show", CHAPTER[0])
    assert shown.returncode == 0, shown.stderr
    assert "verdict    " in shown.stdout
    assert derivations(folder, site, "report", "--output", "pages").returncode == 0
    assert (folder / "pages" / "index.html").is_file()
    compared = derivations(folder, site, "regress")
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_an_outside_paper(site: Path, tmp_path: Path) -> None:
    shutil.copytree(PAPER, tmp_path / "tiny_paper", ignore=shutil.ignore_patterns("__pycache__"))
    result = derivations(tmp_path, site, "--document", "tiny_paper", "verify", "tiny_paper", "-n", "0")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "tiny_paper: 3 claims: 1 proved, 1 corrected, 1 definition" in result.stdout
