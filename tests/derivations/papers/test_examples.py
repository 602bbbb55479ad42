"""The folders beside the worked papers are the output of `new`, and running it again changes nothing."""

import shutil
from pathlib import Path

import pytest

from derivations.papers.new import create

EXAMPLES = Path(__file__).parents[3] / "examples"
PAPERS = sorted(EXAMPLES.glob("*.tex"))


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}


def test_every_paper_has_its_folder() -> None:
    assert len(PAPERS) == 2
    assert {path.stem for path in PAPERS} == {path.parent.name for path in EXAMPLES.glob("*/__init__.py")}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.stem)
def test_the_stored_folder_is_the_one_made_from_the_paper(paper: Path, tmp_path: Path) -> None:
    create(paper, tmp_path / paper.stem)
    assert texts(tmp_path / paper.stem) == texts(EXAMPLES / paper.stem)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.stem)
def test_making_it_again_changes_nothing(paper: Path, tmp_path: Path) -> None:
    copy = tmp_path / paper.stem
    shutil.copytree(EXAMPLES / paper.stem, copy, ignore=shutil.ignore_patterns("__pycache__"))
    create(paper, copy)
    assert texts(copy) == texts(EXAMPLES / paper.stem)


def test_a_change_of_the_paper_shows(tmp_path: Path) -> None:
    """Control: another equation gives another folder."""
    paper = tmp_path / PAPERS[0].name
    paper.write_text(PAPERS[0].read_text(encoding="utf-8").replace(r"\sum_k p_k = 1.", r"\sum_k p_k = 2."), encoding="utf-8")
    create(paper, tmp_path / paper.stem)
    assert texts(tmp_path / paper.stem) != texts(EXAMPLES / paper.stem)
