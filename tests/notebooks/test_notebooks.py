"""Every notebook runs from its first to its last cell in a separate kernel, and a wrong number in it is detected.

The kernels are forked from a process with the slow imports; those of `test_command.py` import everything themselves.
"""

import os
import re
import signal
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from jupyter_client.provisioning import local_provisioner

from derivations.register.catalogue import entries
from derivations.run.notebooks import FOLDER, execute
from tests.processes import FORKS, surround

NOTEBOOKS = sorted(FOLDER.glob("*.py"))

STORIES = {
    "a_paper_of_your_own",
    "attention_as_entropic_transport",
    "backward_pass_and_fisher_geometry",
    "fenchel_duality_and_small_alpha",
    "how_far_is_your_model",
    "how_to_add_a_claim",
    "ot_attention",
    "sinkhorn_linear_and_flash",
    "what_t5_and_bert_really_do",
    "what_the_papers_could_have_said",
}

WRONG = {
    "a_paper_of_your_own": ("(one * np.log(one / other)).sum()", "(one * np.log(other / one)).sum()"),
    "attention_as_entropic_transport": ("one_sided.plan(s, tau).numpy()", "one_sided.plan(s, 1.01 * tau).numpy()"),
    "backward_pass_and_fisher_geometry": ("jacobian, tau_ * definition", "jacobian, definition / tau_"),
    "fenchel_duality_and_small_alpha": ("+ alpha / 2 * (mu", "+ alpha * (mu"),
    "how_far_is_your_model": ("(u @ t + z).numpy() - theirs.mean", "(u @ t - z).numpy() - theirs.mean"),
    "how_to_add_a_claim": ("one_sided.plan(x, t / 2)", "one_sided.plan(x, t / 2.001)"),
    "ot_attention": ("cost.numpy(), alpha, gamma, centre", "cost.numpy(), alpha, 1.01 * gamma, centre"),
    "sinkhorn_linear_and_flash": (
        "-scores.numpy(), np.full(n, 1 / n), np.full(n, 1 / n), tau)",
        "-scores.numpy(), np.full(n, 1 / n), np.full(n, 1 / n), 1.01 * tau)",
    ),
    "what_t5_and_bert_really_do": (
        "GeneralizedAttention.from_bert(m)) for _, m",
        "GeneralizedAttention.from_bert(calls[0][1])) for _, m",
    ),
    "what_the_papers_could_have_said": ("loss >= tau / 2 * distance**2 - SLACK", "loss >= 0.6 * tau * distance**2 - SLACK"),
}
"""A line of each notebook, and the same with a wrong number or sign in it."""

STRICT = "import warnings\nwarnings.simplefilter('error')\nwarnings.filterwarnings('ignore', module='ipykernel')"


def prepared(source: str) -> Any:
    """The notebook with a first cell that turns warnings into errors, except those of the kernel itself."""
    notebook = jupytext.reads(source, fmt="py:percent")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    return notebook


class Forked:
    """A kernel, with those parts of `subprocess.Popen` that its manager uses."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], *, env: dict[str, str], cwd: str, **_: Any) -> None:
        receiver, sender = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=kernel, args=(command[3:], Path(cwd), env, sender))
        self.process.start()
        self.pid = receiver.recv()  # not before it leads a group, which its manager may kill

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def kernel(arguments: list[str], folder: Path, environment: dict[str, str], sender: Connection) -> None:
    """What `python -m ipykernel_launcher` does, but for its imports."""
    os.setsid()
    sender.send(os.getpid())
    surround(folder, environment)
    import matplotlib
    from ipykernel.kernelapp import launch_new_instance

    matplotlib.rcParams["backend"] = environment["MPLBACKEND"]
    launch_new_instance(arguments)


@pytest.fixture
def forked_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_provisioner, "launch_kernel", Forked)


def everything(notebook: Any) -> list[Any]:
    """All outputs of a notebook."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def outputs(notebook: Any, mime: str) -> list[str]:
    """The outputs of one type of a notebook's cells."""
    return [output.data[mime] for output in everything(notebook) if mime in output.get("data", {})]


def of_examples() -> set[str]:
    """The ids of the claims in the folders of the worked papers, which are loaded only for a notebook that names them."""
    sections = [path.read_text(encoding="utf-8") for path in (FOLDER.parent / "examples").glob("*/section*.py")]
    return {id for text in sections for id in re.findall(r'^equation\("([^"]+)"', text, re.MULTILINE)}


def test_every_notebook_has_its_text() -> None:
    assert {path.stem for path in NOTEBOOKS} == STORIES == set(WRONG)


@pytest.mark.usefixtures("forked_kernels")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    notebook = prepared(path.read_text(encoding="utf-8"))
    execute(notebook)
    nbformat.validate(notebook)
    assert len(outputs(notebook, "image/png")) >= 1
    assert any('class="claim"' in page for page in outputs(notebook, "text/html"))
    streams = [output for output in everything(notebook) if output.output_type == "stream"]
    assert any(character.isdigit() for output in streams for character in output.text)
    assert {output.name for output in streams} == {"stdout"}


def failure(cells: list[str]) -> tuple[int, str]:
    """The number of the first cell that fails, and the exception's name, in a process of its own.

    It is forked from one that has imported what takes long, which a kernel would import again.
    """
    receiver, sender = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=in_turn, args=(cells, sender))
    process.start()
    sender.close()
    number, name = receiver.recv()
    process.join(60)
    return number, name


def in_turn(cells: list[str], sender: Connection) -> None:
    """Run cells as a kernel does, without output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(FOLDER)
    os.environ["MPLBACKEND"] = "agg"
    from matplotlib import pyplot

    pyplot.show = lambda: pyplot.close("all")
    warnings.simplefilter("error")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        try:
            exec(cell, names)
        except Exception as error:
            return sender.send((number, type(error).__name__))
    return sender.send((0, ""))


def code(source: str) -> list[str]:
    """The code cells of a notebook; the display of claims is tested elsewhere."""
    source = re.sub(r"(?m)^show\(.*\)$", "pass", source)
    return [cell.source for cell in jupytext.reads(source, fmt="py:percent").cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_wrong_number_is_detected(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    right, wrong = WRONG[path.stem]
    assert source.count(right) == 1
    number, name = failure(code(source.replace(right, wrong)))
    assert name == "AssertionError", number


def test_cells_run_in_turn_until_one_fails() -> None:
    assert failure(["a = 1", "assert a == 1"]) == (0, "")
    assert failure(["a = 1", "assert a == 2", "b"]) == (2, "AssertionError")
    assert failure(["import warnings", "warnings.warn('a')"]) == (2, "UserWarning")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_text(path: Path) -> None:
    """A notebook is a py:percent script with no outputs, minimal metadata, a title, an end, and existing claims."""
    source = path.read_text(encoding="utf-8")
    notebook = jupytext.reads(source, fmt="py:percent")
    assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert set(notebook.metadata) <= {"jupytext", "kernelspec"}
    assert source.count("# ---\n") == 2
    assert not {tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])} - {"parameters"}
    assert all(set(cell.metadata) <= {"tags", "lines_to_next_cell"} for cell in notebook.cells)
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert words[0].startswith("# ")
    assert "## Try yourself" in words[-1]
    assert "\nassert " in source or "assert_close" in source
    cited = re.findall(r"`(?:show\(\")?((?:eot|deciphering|inference|geometric|beyond)\.[\w.-]+)", source)
    cited += re.findall(r'show\("([^"]+)"\)', source)
    assert len(cited) >= 3
    assert not {id for id in cited if ".s3.example-" not in id} - {*entries(), *of_examples()}
