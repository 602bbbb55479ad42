"""`python -m derivations notebooks`, and the display of claims in notebooks."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from derivations import notebooks, rendering
from derivations.catalogue import entries
from derivations.notebooks import show

GOOD = '''# %% [markdown]
# # A small one

# %%
from derivations.notebooks import show

show("eot.59")
'''
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


@pytest.mark.parametrize(("cell", "reason"), [
    ("import os; os._exit(1)", "in cell 1: Kernel died"),
    ("import time; time.sleep(60)", "in cell 1: A cell timed out"),
    ("raise ValueError('first line\\nsecond line')", "in cell 1: ValueError: first line"),
    ("assert 1 > 2", "in cell 1: AssertionError"),
])
def test_the_reason_for_a_failed_run_is_shown(cell: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "SECONDS", 2)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    with pytest.raises(RuntimeError) as caught:
        notebooks.execute(notebook)
    assert str(caught.value).splitlines()[0].startswith(reason)


def test_every_cell_that_runs_is_counted() -> None:
    sources = ["1 + 1", "", "2 + 2"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# text"),
                                               *(nbformat.v4.new_code_cell(source) for source in sources)])
    done: list[int] = []
    notebooks.execute(notebook, lambda: done.append(1))
    assert len(done) == notebooks._cells(notebook) == 2


@pytest.mark.parametrize(("arguments", "message"), [
    (("ot_atention",), "NAME: expected a notebook, got ot_atention; did you mean ot_attention?"),
    (("zzz",), "NAME: expected a notebook, got zzz; accepted: a_paper_of_your_own"),
    (("../secrets",), "NAME: expected a notebook, got ../secrets"),
    (("--output", __file__), "is a file"),
])
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
