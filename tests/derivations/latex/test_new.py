"""A paper in, a document out: what is true is proved, what was planted is refuted, what an author wrote is kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
PAPERS = Path(__file__).with_name("papers")
LINE = re.compile(r"^(?P<verdict>[a-z-]+)(?: \((?P<severity>\w+)\))?\s+(?P<id>\S+)\s+Line (?P<line>\d+)")


def run(*arguments: object, expected: int = 0) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "ATTENTION_PROOFS_DOCUMENTS"}
    done = subprocess.run(
        [sys.executable, "-m", "derivations", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def verdicts(output: str) -> dict[int, str]:
    """The verdict on each equation by its line in the paper."""
    found = [LINE.match(line) for line in output.splitlines()]
    return {int(match["line"]): match["verdict"] for match in found if match}


@pytest.mark.parametrize("paper", [*sorted(EXAMPLES.glob("*.tex")), *sorted(PAPERS.glob("*.tex"))], ids=lambda path: path.stem)
def test_planted_errors_are_refuted_and_nothing_else(paper: Path, tmp_path: Path) -> None:
    found = verdicts(run("new", paper, tmp_path / paper.stem))
    lines = paper.read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(lines, start=1) if "% planted" in line}
    assert {line for line, verdict in found.items() if verdict in ("refuted", "corrected")} == planted
    counts = Counter(found.values())
    assert counts["proved"] + counts["definition"] + len(planted) >= 0.7 * len(found)


PAPER = r"""\documentclass{article}\begin{document}\section{One}
Let $s \in \mathbb{R}^m$.
\begin{equation} p_j = \frac{e^{s_j}}{\sum_{l=1}^m e^{s_l}} \label{weights} \end{equation}
\begin{equation} \sum_j p_j = 1 \end{equation}
\end{document}
"""


def test_what_an_author_wrote_is_kept(tmp_path: Path) -> None:
    paper, folder = tmp_path / "paper.tex", tmp_path / "mine"
    paper.write_text(PAPER, encoding="utf-8")
    run("new", paper, folder)
    notation, section = folder / "notation.py", folder / "section1.py"
    notation.write_text(notation.read_text().replace('"vector m"', '"positive vector m"'))
    section.write_text(section.read_text() + "\nOWN = 1  # a remark\n")
    paper.write_text(
        PAPER.replace(r"\sum_j p_j = 1", r"\sum_j p_j = 2").replace(
            r"\end{document}", r"\begin{equation} p_j \ge t \end{equation}\end{document}"
        ),
        encoding="utf-8",
    )
    found = verdicts(run("new", paper, folder))
    assert list(found.values()) == ["definition", "corrected", "open"]
    assert "positive vector m" in notation.read_text()
    assert '"t": "?"' in notation.read_text()
    assert "OWN = 1  # a remark" in section.read_text()


CHAIN = r"""\documentclass{article}\begin{document}\section{One}
Let $s \in \mathbb{R}^m$ and $\epsilon \in (0,1)$, $n \ge 2$.
\begin{equation} Z = \sum_{l=1}^m e^{s_l} = \sum_{l=1}^m e^{2s_l} \end{equation}
\begin{equation} \epsilon < 1 \end{equation}
\begin{equation} n - 1 > 0 \end{equation}
\end{document}
"""


def test_a_definition_vouches_for_its_first_link_only(tmp_path: Path) -> None:
    """What is said of a new symbol beside its definition is proved or refuted, and what is said of numbers is kept."""
    paper, folder = tmp_path / "paper.tex", tmp_path / "mine"
    paper.write_text(CHAIN, encoding="utf-8")
    assert next(iter(verdicts(run("new", paper, folder)).values())) in ("refuted", "corrected")
    notation = (folder / "notation.py").read_text()
    assert '"positive < 1"' in notation
    assert '"size >= 2"' in notation or '"real >= 2"' in notation


def test_an_author_cannot_call_a_statement_a_definition(tmp_path: Path) -> None:
    paper, folder = tmp_path / "paper.tex", tmp_path / "mine"
    paper.write_text(PAPER, encoding="utf-8")
    run("new", paper, folder)
    section = folder / "section1.py"
    section.write_text(
        section.read_text()
        .replace("sum_j p_j = 1", "sum_j p_j = 2")
        .replace('title="Equation (2)", line=4', 'title="Equation (2)", line=4, defines=True')
    )
    assert "defines=True)" in section.read_text().split("mine.2")[-1]
    assert verdicts(run("--document", folder, "read", "mine"))[4] in ("refuted", "corrected")


def test_the_document_can_be_verified_and_shown(tmp_path: Path) -> None:
    paper, folder = tmp_path / "paper.tex", tmp_path / "mine"
    paper.write_text(PAPER, encoding="utf-8")
    run("new", paper, folder)
    told = run("--document", folder, "verify", "mine", "--json", tmp_path / "ledger.json")
    assert "mine: 2 claims: 1 proved, 1 definition" in told
    assert "section1.py" in run("--document", folder, "show", "mine.2", "--json", tmp_path / "ledger.json")


@pytest.mark.parametrize(
    ("paper", "folder", "why"),
    [
        ("none.tex", "mine", "PAPER: expected a LaTeX file in UTF-8"),
        ("paper.tex", "Mine", "FOLDER: expected a name in small letters"),
        ("paper.tex", "none/mine", "FOLDER: expected a folder in an existing one"),
        ("empty.tex", "mine", "PAPER: expected numbered or labelled equations, got none"),
    ],
)
def test_bad_input_is_one_line(paper: str, folder: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    (tmp_path / "empty.tex").write_text(r"\begin{document}$a = b$\end{document}", encoding="utf-8")
    told = run("new", tmp_path / paper, tmp_path / folder, expected=2)
    assert told.startswith("error: " + why)
    assert len(told.splitlines()) == 1
    assert not (tmp_path / folder).exists()


ROOTS = r"""\documentclass{article}\begin{document}\section{Roots}
Let $x \in \mathbb{R}$.
\begin{equation} \sqrt{x^4 + 2 x^2 + 1} = x^2 + 1 \end{equation}
\begin{equation} \sqrt{x^4 + 2 x^2 + 1} = x^2 - 1 \end{equation}
\end{document}
"""


def test_a_vote_nobody_wrote_confirms_what_the_kernel_cannot_decide(tmp_path: Path) -> None:
    """`verify` evaluates both sides of what was read, and never confirms what is false."""
    paper, folder, ledger = tmp_path / "roots.tex", tmp_path / "roots", tmp_path / "ledger.json"
    paper.write_text(ROOTS, encoding="utf-8")
    assert set(verdicts(run("new", paper, folder)).values()) == {"open", "refuted"}
    run("--document", folder, "verify", "roots", "--json", ledger)
    found = {row["id"]: row["verdict"] for row in json.loads(ledger.read_text(encoding="utf-8"))["claims"]}
    assert found == {"roots.1": "confirmed", "roots.2": "refuted"}
