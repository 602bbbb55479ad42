"""Every notebook runs from its first cell to its last."""

from pathlib import Path

import jupytext
import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    figures = []
    monkeypatch.setattr(plt, "show", lambda: figures.append(plt.get_fignums()))
    notebook = jupytext.read(path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, path.name, "exec"), namespace)
    plt.close("all")
    assert notebook.cells
    assert capsys.readouterr().out
    assert figures
