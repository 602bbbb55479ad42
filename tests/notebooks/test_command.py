"""`python -m derivations notebooks`, and the display of claims in notebooks."""

import os
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import pytest
import sympy as sp
from click.testing import CliRunner, Result
from rich.console import Console
from rich.progress import Progress

from derivations.calculus.variables import scalar
from derivations.records import rendering
from derivations.records.claims import Correction, Evidence, Kind, Layer, Outcome, Severity, Statement, Step, Witness
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import Examination
from derivations.relations import Equation
from derivations.report.formulas import mathml
from derivations.run import notebooks
from derivations.run.notebooks import show

GOOD = """# %% [markdown]
# # A small one

# %%
from derivations.run.notebooks import show

show("eot.59")
"""
BAD = GOOD + "\n# %%\nassert 1 + 1 == 3, 'a planted fault'\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two notebooks that replace ours."""
    path = tmp_path / "notebooks"
    path.mkdir()
    (path / "good.py").write_text(GOOD, encoding="utf-8")
    (path / "bad.py").write_text(BAD, encoding="utf-8")
    monkeypatch.setattr(notebooks, "FOLDER", path)
    return path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(notebooks.notebooks, arguments)


def test_all_are_copied_without_running(tmp_path: Path) -> None:
    result = call("--no-run", "--output", str(tmp_path / "new" / "copies"))
    assert result.exit_code == 0, result.output
    stems = {path.stem for path in notebooks.FOLDER.glob("*.py")}
    copies = tmp_path / "new" / "copies"
    assert len(stems) >= 8
    assert {path.name for path in copies.iterdir()} == {f"{stem}.{kind}" for stem in stems for kind in ("ipynb", "html")}
    for path in copies.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not [cell for cell in notebook.cells if cell.get("outputs")]


def test_copies_contain_the_output_and_fetch_nothing(folder: Path, tmp_path: Path) -> None:
    result = call("good", "--output", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    notebook = nbformat.read(tmp_path / "out" / "good.ipynb", as_version=4)
    nbformat.validate(notebook)
    shown = notebook.cells[-1].outputs[0].data["text/html"]
    assert 'data-claim="eot.59"' in shown
    assert r"\frac" in shown
    page = (tmp_path / "out" / "good.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert r"$\displaystyle" not in page
    assert not re.findall(r'(?:src|href)="https?:', page)
    assert "<title>good</title>" in page


def test_a_failing_notebook_is_named_and_old_copies_are_preserved(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.ipynb").write_text("old", encoding="utf-8")
    result = call("bad", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert result.stderr.strip() == "notebooks: bad failed in cell 3: AssertionError: a planted fault"
    assert (tmp_path / "bad.ipynb").read_text(encoding="utf-8") == "old"
    assert not (tmp_path / "bad.html").exists()


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("import os; os._exit(1)", "in cell 1: Kernel died"),
        ("import time; time.sleep(60)", "in cell 1: A cell timed out"),
        ("raise ValueError('first line\\nsecond line')", "in cell 1: ValueError: first line"),
        ("assert 1 > 2", "in cell 1: AssertionError"),
    ],
)
def test_the_reason_for_a_failed_run_is_shown(cell: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "SECONDS", 2)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    with pytest.raises(RuntimeError) as caught:
        notebooks.execute(notebook)
    assert str(caught.value).splitlines()[0].startswith(reason)


def test_every_cell_that_has_run_is_counted() -> None:
    """The kernel listens on files in a folder of its own, so that no other kernel takes its ports."""
    transport = "import ipykernel, json\njson.load(open(ipykernel.get_connection_file()))['transport']"
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# text"),
            *(nbformat.v4.new_code_cell(source) for source in ("1 + 1", "", transport)),
        ]
    )
    counts: list[int] = []
    notebooks.execute(notebook, lambda: counts.append(sum(bool(cell.get("outputs")) for cell in notebook.cells)))
    assert counts == [1, 2]
    assert notebooks._cells(notebook) == 2
    if os.name == "posix":
        assert notebook.cells[-1].outputs[0].data["text/plain"] == "'ipc'"


class Bar(Progress):
    """A progress bar that is not forgotten."""

    made: ClassVar[list[Progress]] = []

    def __init__(self, *columns: Any, **options: Any) -> None:
        super().__init__(*columns, **options)
        self.made.append(self)


@pytest.mark.parametrize(("options", "total"), [((), 3), (("--no-run",), 2)])
def test_the_bar_is_full_at_the_end(
    options: tuple[str, ...], total: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts cells, or notebooks that are copied as they are, and goes away."""
    monkeypatch.setattr(Bar, "made", [])
    monkeypatch.setattr(notebooks, "Progress", Bar)
    monkeypatch.setattr(notebooks, "execute", lambda notebook, done: [done() for _ in range(notebooks._cells(notebook))])
    monkeypatch.setattr(notebooks, "page", lambda *_: "")
    result = call(*options, "--output", str(tmp_path))
    (bar,) = Bar.made
    assert [(task.completed, task.total, task.description) for task in bar.tasks] == [(total, total, "good")]
    assert result.output.strip() == f"2 notebooks are in {tmp_path}, as .ipynb and .html"


def test_a_failure_is_an_error_message_on_a_terminal_too(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("in cell 1: ValueError\nand its traceback")

    monkeypatch.setattr(notebooks, "execute", failing)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Console(force_terminal=True, force_interactive=True)
    monkeypatch.setattr(notebooks, "Progress", partial(Progress, console=terminal))
    result = call("good", "--output", str(tmp_path / "new"))
    assert (result.exit_code, result.stderr) == (1, "notebooks: good failed in cell 1: ValueError\n")
    assert result.output.endswith(result.stderr), "the bar goes away before, else it takes a line of the message with it"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ot_atention",), "NAME: expected a notebook, got ot_atention; did you mean ot_attention?"),
        (("zzz",), "NAME: expected a notebook, got zzz; accepted: a_paper_of_your_own"),
        (("../secrets",), "NAME: expected a notebook, got ../secrets"),
        (("--output", __file__), "is a file"),
    ],
)
def test_bad_arguments_are_reported_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("module", notebooks.EXTRA)
def test_a_missing_extra_is_reported(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    result = call("ot_attention")
    assert result.exit_code == 2
    assert f"expected an install with the extra [notebooks], got one without {module}" in result.output


def test_no_notebooks_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "FOLDER", tmp_path)
    result = call()
    assert result.exit_code == 2
    assert "expected an editable install of a checkout, got none" in result.output


# ── a claim on a page ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_claim_is_shown_completely() -> None:
    shown = show("eot.s7.fisher-scaled")
    page, text = shown._repr_html_(), str(shown)
    entry = entries()["eot.s7.fisher-scaled"]
    assert entry.correction is not None
    assert shown.examination.evidence.witness is not None
    for part in ("refuted", entry.correction.severity, rendering.witness(shown.examination.evidence.witness), *entry.twins):
        assert part in page
        assert part in text or part == entry.correction.severity
    steps = [*shown.examination.steps, *shown.examination.repair_steps]
    assert page.count("<li>✓") + page.count("<summary>✓") == len(steps)
    assert page.count("✗") == len(entry.twins)


def test_failed_steps_and_surviving_twins_are_marked() -> None:
    entry = entries()["eot.59"]
    wrong = next(iter(entry.twins.values()))
    broken = replace(entry, derivation=lambda: iter([wrong()]), twins={"the claim itself": lambda: entry.printed()})
    page = notebooks.Shown(broken, notebooks.examine(broken))._repr_html_()
    assert "✗ (" in page
    assert "<b>not refuted</b>" in page
    assert "<b>refuted</b>" in page


def test_markup_in_a_claim_is_escaped() -> None:
    page = show("deciphering.9")._repr_html_()
    assert "α &gt; 0" in page
    assert "M(λ) < ∞" not in page


def test_an_unknown_claim_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^id: expected a claim, got eot\.4666; did you mean"):
        show("eot.4666")


STEPS = (
    Step("x < " + 86 * "y", "", True),  # the longest that is shown
    Step("x < " + 87 * "y", "(3)", True),
    Step("x < y", "by <b>", False, "y - x remains"),
    Step("x = x", "", True, latex="x"),
)
SHOWN = f"""\
<div class="claim" data-claim="eot.x1"><p><b><code>eot.x1</code></b> A &lt; title</p>
<p>stated:</p><p><span class="formula">$\\displaystyle x &lt; 2$</span></p><p>What it says.</p>
<p>given: x &gt; 0</p>
<p>symbolic layer: <b>refuted</b> — one &lt; point</p>
<p>derivation:</p><ol>
<li>✓ <code style="overflow-wrap: anywhere">x &lt; {86 * "y"}</code> — by normal form</li>
<li><details><summary>✓ (3)</summary><code style="overflow-wrap: anywhere">x &lt; {87 * "y"}</code></details></li>
<li>✗ (y - x remains) <code style="overflow-wrap: anywhere">x &lt; y</code> — by &lt;b&gt;</li>
<li>✓ {mathml("x")} — by normal form</li>
</ol>
<p>witness: <b>at x = 1: 1 ≠ 2</b></p>
<p>correct (under: x = 2), hypothesis:</p><p><span class="formula">$\\displaystyle x = 2$</span></p><p>What is true.</p>
<p>its derivation:</p><ol>
<li>✓ <code style="overflow-wrap: anywhere">2 = 2</code> — counted</li>
</ol>
<p>wrong versions, which have to fail:</p><ul>
<li>the sign: ✗ at x = 1: 1.00000000000 ≠ -1.00000000000</li>
<li>the &lt; same: <b>not refuted</b></li>
</ul>
</div>"""
LITTLE = """\
<div class="claim" data-claim="eot.x1"><p><b><code>eot.x1</code></b> A &lt; title</p>
<p>stated:</p><p><span class="formula">$\\displaystyle x &lt; 2$</span></p><p>What it says.</p>
<p>symbolic layer: <b>n/a</b> — left open</p>
</div>"""


def test_the_page_of_a_claim() -> None:
    x = scalar("x")
    claim = Entry("eot.x1", Kind.IDENTITY, "A < title", "x < 2", (), (), None, "What it says.")
    nothing = Evidence("eot.x1", Layer.SYMBOLIC, Outcome.NOT_APPLICABLE, "", detail="left open")
    assert notebooks.Shown(claim, Examination(nothing))._repr_html_() == LITTLE
    claim.hypotheses = ("x > 0",)
    claim.correction = Correction(Statement("x = 2", "What is true."), Severity.HYPOTHESIS, "x = 2")
    claim.twins = {"the sign": lambda: Equation(x, -x, at={x: sp.S(1)}), "the < same": lambda: Equation(x, x)}
    found = Evidence(
        "eot.x1",
        Layer.SYMBOLIC,
        Outcome.REFUTED,
        "one < point",
        detail="not shown",
        derivation=STEPS,
        witness=Witness({"x": "1"}, "1", "≠", "2"),
        repair=(Step("2 = 2", "counted", True),),
    )
    page = notebooks.Shown(claim, Examination(found))._repr_html_()
    assert re.sub(r"\n?(<li>|</[ou]l>)", r"\n\1", page) == SHOWN


def test_a_claim_of_the_print_says_so() -> None:
    assert "<p>printed:</p>" in show("eot.59")._repr_html_()


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("eot.4", ["eot.41", "eot.42", "eot.43", "eot.44"], "did you mean eot.44 or eot.43 or eot.42?"),
        ("x", [f"eot.{n}" for n in range(19)], "accepted: " + ", ".join(f"eot.{n}" for n in range(19))),
        ("x", [f"eot.{n}" for n in range(20)], "accepted: see `python -m derivations list`"),
    ],
)
def test_what_may_have_been_meant(name: str, names: list[str], hint: str) -> None:
    """Three similar names, or all of them if there are less than twenty."""
    assert notebooks._hint(name, names) == hint
