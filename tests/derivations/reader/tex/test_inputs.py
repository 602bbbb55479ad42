"""Papers of several files: what is input is read where it stands, and what is missing is an error."""

from pathlib import Path

import pytest

from derivations.papers.new import JOINED, create
from derivations.reader.tex.inputs import joined
from derivations.reader.tex.paper import read_paper

MAIN = r"""\documentclass{article}
\input{glyphtounicode}
%\input{forgotten}
\input macros
\begin{document}
\section{One}
\input{sections/one.tex}
\include{sections/two}
\end{document}
"""


def write(folder: Path, **files: str) -> Path:
    (folder / "sections").mkdir()
    contents = {
        "main": MAIN,
        "macros": r"\newcommand{\half}{\frac12}",
        "sections/one": r"\begin{equation} a = \half \end{equation}",
        "sections/two": r"\section{Two}\subfile{sections/three}",
        "sections/three": r"\documentclass{subfiles}\begin{document}\[ b = 2 a \]\end{document}",
    }
    for name, text in {**contents, **files}.items():
        (folder / f"{name}.tex").write_text(text, encoding="utf-8")
    return folder / "main.tex"


def test_files_are_read_where_they_are_input(tmp_path: Path) -> None:
    paper = read_paper(write(tmp_path))
    assert [(each.latex, each.section) for each in paper.formulas] == [(r"a = \frac12", 1), ("b = 2 a", 2)]
    assert [title for title, _ in paper.sections] == ["One", "Two"]


def test_the_folder_of_a_paper_in_several_files_has_it_in_one(tmp_path: Path) -> None:
    """Claims name lines of this file."""
    paper = write(tmp_path)
    first, _ = create(paper, tmp_path / "mine")
    text = (tmp_path / "mine" / JOINED).read_text(encoding="utf-8")
    assert text == joined(paper)
    assert r"a = \half" in text.splitlines()[first.formula.line - 1]
    assert f"References {JOINED}" in (tmp_path / "mine" / "section1.py").read_text(encoding="utf-8")


def test_a_paper_in_one_file_is_not_copied(tmp_path: Path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(r"\begin{document}\begin{equation} a = b \end{equation}\end{document}", encoding="utf-8")
    create(paper, tmp_path / "mine")
    assert not (tmp_path / "mine" / JOINED).exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"\input{none}", "missing none.tex in .*, which one.tex inputs"),
        (r"\input{../../outside}", "missing ../../outside.tex in .*, which one.tex inputs"),
        (r"\input{main}", "expected files that do not name each other, got main.tex inside of itself"),
    ],
)
def test_missing_files_and_circles_are_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "outside.tex").write_text("a", encoding="utf-8")
    folder = tmp_path / "deep"
    folder.mkdir()
    with pytest.raises(ValueError, match=why):
        joined(write(folder, **{"sections/one": text}))


def test_equations_without_a_number_are_counted_in_their_section(tmp_path: Path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(
        r"\begin{document}\[ a = b \] \section{One} \[ a = b \] \[ a = c \] \[ a = d \tag{7} \]"
        r"\section{Two} \[ a = b \] \[ a = e \tag{7} \] \end{document}",
        encoding="utf-8",
    )
    assert [each.id for each in create(paper, tmp_path / "mine")] == [
        "mine.s0.1",
        "mine.s1.1",
        "mine.s1.2",
        "mine.7",
        "mine.s2.1",
        "mine.7-2",
    ]
