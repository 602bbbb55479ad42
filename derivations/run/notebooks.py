"""Display a claim in a notebook, and convert the notebooks to .ipynb and HTML.

The notebooks are `notebooks/*.py` in the py:percent format, without outputs; `python -m derivations notebooks` runs them and
writes copies for other tools.  The dependencies, the extra [notebooks], are imported when the command runs.
"""

import copy
import difflib
import importlib
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from derivations.files import write_whole
from derivations.records import rendering
from derivations.records.claims import Step, Witness
from derivations.register import source_lines as printed
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import Examination, examine
from derivations.report.formulas import mathml
from derivations.run.showing import describe

FOLDER = Path(__file__).parents[2] / "notebooks"
EXTRA = ("ipykernel", "jupytext", "nbclient", "nbconvert", "nbformat")
SECONDS = 600
"""How long one cell may take."""

SHORT = 90
"""The longest formula that is shown without a click."""

FORMULA = re.compile(r'<span class="formula">\$\\displaystyle (.*?)\$</span>', re.DOTALL)
PAGE = "{% extends 'lab/index.html.j2' %}{% block html_head_js_mathjax %}{% endblock %}"
"""A notebook as nbconvert writes it, without the script that would fetch a typesetter of formulas."""


# ── one claim on a page ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Shown:
    """One claim with the symbolic layer's evidence; notebooks display it as HTML, `print` as text."""

    entry: Entry
    examination: Examination

    def __str__(self) -> str:
        """Return the claim as `python -m derivations show` prints it."""
        return describe(self.entry, None)

    def _repr_html_(self) -> str:
        claim, evidence = self.entry.claim, self.examination.evidence
        lines = [
            f'<div class="claim" data-claim="{claim.id}"><p><b><code>{claim.id}</code></b> {escape(claim.title)}</p>',
            _statement(str(printed.provenance(claim.id) or "stated"), claim.statement.latex, claim.statement.text),
        ]
        lines += [f"<p>given: {escape(hypothesis)}</p>" for hypothesis in claim.hypotheses]
        lines.append(f"<p>symbolic layer: <b>{evidence.outcome}</b> — {escape(evidence.scope or evidence.detail)}</p>")
        lines += _steps("derivation", self.examination.steps)
        if evidence.witness:
            lines.append(f"<p>witness: <b>{escape(rendering.witness(evidence.witness))}</b></p>")
        if claim.correction:
            under = rendering.hypothesis(claim.correction)
            statement = claim.correction.statement
            lines.append(_statement(f"correct{under}, {claim.correction.severity}", statement.latex, statement.text))
            lines += _steps("its derivation", self.examination.repair_steps)
        lines += self._twins()
        return "\n".join([*lines, "</div>"])

    def _twins(self) -> list[str]:
        if not self.entry.twins:
            return []
        items = []
        for name, make in self.entry.twins.items():
            witness = make().refute()
            items.append(f"<li>{escape(name)}: {_refutation(witness)}</li>")
        return ["<p>wrong versions, which have to fail:</p><ul>", *items, "</ul>"]


def _refutation(witness: Witness | None) -> str:
    return f"{rendering.mark(False)} {escape(rendering.witness(witness))}" if witness else "<b>not refuted</b>"


def show(id: str) -> Shown:
    """Examine the claim with this id; raises ValueError if it is unknown."""
    entry = entries().get(id)
    if entry is None:
        raise ValueError(f"id: expected a claim, got {id}; {_hint(id, list(entries()))}")
    return Shown(entry, examine(entry))


def _statement(label: str, latex: str, text: str) -> str:
    formula = f'<span class="formula">$\\displaystyle {escape(latex)}$</span>'
    return f"<p>{escape(label)}:</p><p>{formula}</p><p>{escape(text)}</p>"


def _steps(label: str, steps: Sequence[Step]) -> list[str]:
    if not steps:
        return []
    items = []
    for step in steps:
        mark = rendering.mark(step.holds) + ("" if step.holds else f" ({escape(step.detail)})")
        reason = escape(rendering.justification(step.reason))
        plain = f'<code style="overflow-wrap: anywhere">{escape(step.statement)}</code>'
        formula = str(mathml(step.latex)) if step.latex else plain
        inner = (
            f"{mark} {formula} — {reason}"
            if len(step.statement) <= SHORT
            else (f"<details><summary>{mark} {reason}</summary>{formula}</details>")
        )
        items.append(f"<li>{inner}</li>")
    return [f"<p>{label}:</p><ol>", *items, "</ol>"]


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("build/notebooks"),
    show_default=True,
    help="the folder to write to",
)
@click.option("--run/--no-run", default=True, show_default=True, help="whether to run them, or copy them without outputs")
def notebooks(names: tuple[str, ...], output: Path, run: bool) -> None:
    """Write the notebooks as .ipynb and HTML, with the outputs of a run."""
    paths = [_known(name) for name in names] or sorted(FOLDER.glob("*.py"))
    if not paths:
        raise click.UsageError(f"notebooks: expected an editable install of a checkout, got none at {FOLDER}")
    for module in EXTRA:
        try:
            importlib.import_module(module)
        except ImportError:
            raise click.UsageError(
                f"notebooks: expected an install with the extra [notebooks], got one without {module}"
            ) from None
    import jupytext
    import nbformat

    output.mkdir(parents=True, exist_ok=True)
    texts = {path.stem: jupytext.read(path) for path in paths}
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("", total=sum(_cells(notebook) for notebook in texts.values()) if run else len(texts))
        for name, notebook in texts.items():
            bar.update(task, description=name)
            if run:
                try:
                    execute(notebook, lambda: bar.advance(task))
                except RuntimeError as error:
                    bar.stop()
                    click.echo(f"notebooks: {name} failed {_first_line(str(error))}", err=True)
                    raise SystemExit(1) from None
            write_whole(output / f"{name}.ipynb", nbformat.writes(notebook))
            write_whole(output / f"{name}.html", page(notebook, name))
            bar.advance(task, 0 if run else 1)
    click.echo(f"{len(texts)} notebooks are in {output}, as .ipynb and .html")


def execute(notebook: Any, executed: Callable[[], object] | None = None) -> None:
    """Run a notebook in a separate kernel and store the outputs in it.

    Args:
        notebook: as jupytext or nbformat read it.
        executed: is called after every cell.

    Raises:
        RuntimeError: if a cell fails or takes too long; the message says which cell, and why.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    numbers: list[int] = []
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        # Sockets in a folder of its own: ports are chosen before they are taken, and kernels that start together collide.
        transport = "ipc" if os.name == "posix" else "tcp"
        config = Config({"KernelManager": {"transport": transport, "connection_file": str(Path(folder) / "kernel.json")}})
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            config=config,
            resources={"metadata": {"path": str(FOLDER)}},
            on_cell_start=lambda cell, cell_index: numbers.append(cell_index + 1),
            on_cell_executed=lambda cell, cell_index, execute_reply: executed() if executed else None,
        )
        # A profile of its own, too: kernels would share the file of their history, and a person's settings would be felt.
        environment = os.environ | {"IPYTHONDIR": folder, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            reason = f"{error.ename}: {_first_line(error.evalue)}".rstrip(": ")
            raise RuntimeError(f"in cell {numbers[-1]}: {reason}\n{error}") from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise RuntimeError(f"in cell {numbers[-1]}: {_first_line(str(error))}") from error


def page(notebook: Any, title: str) -> str:
    """Return a notebook as one self-contained HTML page: pictures are embedded, formulas are MathML."""
    from jinja2 import DictLoader
    from nbconvert import HTMLExporter

    shown = copy.deepcopy(notebook)
    for cell in shown.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = FORMULA.sub(lambda formula: mathml(unescape(formula[1])), output.data["text/html"])
    exporter = HTMLExporter(extra_loaders=[DictLoader({"page.html.j2": PAGE})], template_file="page.html.j2", require_js_url="")
    html: str = exporter.from_notebook_node(shown, {"metadata": {"name": title}})[0]
    return html


def _cells(notebook: Any) -> int:
    """Return the number of cells to execute."""
    return sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _known(name: str) -> Path:
    path = FOLDER / f"{name}.py"
    if not path.is_file():
        hint = _hint(name, sorted(path.stem for path in FOLDER.glob("*.py")))
        raise click.UsageError(f"NAME: expected a notebook, got {name}; {hint}")
    return path


def _hint(name: str, names: list[str]) -> str:
    close = difflib.get_close_matches(name, names, n=3)
    few = ", ".join(names) if len(names) < 20 else "see `python -m derivations list`"
    return f"did you mean {' or '.join(close)}?" if close else f"accepted: {few}"
