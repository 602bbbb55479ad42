"""The layers share claim ids and nothing else: an import of one layer by another is found wherever it hides."""

import ast
from pathlib import Path

import pytest

from tests.lookups import HELPERS, VOTING, looks_up

ROOT = Path(__file__).parents[2]

CLOSED_FORMS = [f"numerics.{name}" for name in
                ("arguments", "attention", "continuous", "fisher", "flash", "linear", "mem", "one_sided", "ot_attention",
                 "priors", "regularizers", "transport")]
FORBIDDEN = [
    ("derivations", ("numerics", "torch", "cvxpy", "transformers", "tests", "ot", "entmax")),
    ("numerics", ("derivations", "tests", "ot", "entmax")),
    ("numerics.primal", ("torch", "transformers", "derivations", "numerics.models", "numerics.experiments", "ot",
                        *CLOSED_FORMS)),
    *[(name, ("numerics.primal", "numerics.models", "cvxpy", "derivations", "scipy", "entmax", "ot")) for name in CLOSED_FORMS],
]

PEERS = {("numerics.benchmarks.sinkhorn", "ot")}
"""What a benchmark measures itself against, where it is installed."""


def modules(root: Path) -> dict[str, str]:
    """Source of every module of both packages, by dotted name."""
    found = {}
    for package in ("derivations", "numerics"):
        for path in (root / package).rglob("*.py"):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path.read_text(encoding="utf-8")
    return found


def imports(name: str, source: str, known: set[str]) -> set[str]:
    """What a module imports, at the top or inside a function; `from a import b` counts as a.b when that is a module."""
    found: set[str] = set()
    package = name.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    return found


def reachable(start: str, sources: dict[str, str]) -> dict[str, str]:
    """Everything that a package imports, directly or through our own modules, with the module that imports it."""
    todo = [name for name in sources if name == start or name.startswith(f"{start}.")]
    seen, found = set(todo), {}
    while todo:
        name = todo.pop()
        for imported in imports(name, sources[name], set(sources)):
            found.setdefault(imported, name)
            if imported in sources and imported not in seen:
                seen.add(imported)
                todo.append(imported)
    return found


def crossings(layer: str, forbidden: tuple[str, ...], sources: dict[str, str]) -> list[str]:
    """Every forbidden import of a layer, in words."""
    return [
        f"{by} imports {name}"
        for name, by in reachable(layer, sources).items()
        if (by, name) not in PEERS and any(name == barred or name.startswith(f"{barred}.") for barred in forbidden)
    ]


@pytest.mark.parametrize(("layer", "forbidden"), FORBIDDEN, ids=[layer for layer, _ in FORBIDDEN])
def test_layers_do_not_know_each_other(layer: str, forbidden: tuple[str, ...]) -> None:
    sources = modules(ROOT)
    assert any(name.startswith(layer) for name in sources)
    assert not crossings(layer, forbidden, sources)


@pytest.mark.parametrize("line", [
    "import torch",
    "import torch.nn.functional as F",
    "from numerics import one_sided",
    "from numerics.one_sided import plan",
    "def late():\n    from numerics.one_sided import plan",
    "import importlib\nimportlib.import_module('numerics.one_sided')",
    "from ..one_sided import plan",
    "from numerics import helper",
])
def test_a_crossing_is_found(line: str) -> None:
    sources = modules(ROOT) | {"numerics.primal.smuggler": line, "numerics.helper": "import torch"}
    barred = dict(FORBIDDEN)["numerics.primal"]
    assert crossings("numerics.primal", barred, sources)


def private(name: str) -> bool:
    """Whether a name is its module's own."""
    return name.startswith("_") and not name.startswith("__")


def borrowed(name: str, source: str, known: set[str]) -> set[str]:
    """The private names of our other modules that a module imports, or reaches through one that it imports."""
    tree, found, ours = ast.parse(source), set(), {}
    package = name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            ours |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            full = {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
            ours |= {short: long for short, long in full.items() if long in known}
            if base in known or any(module.startswith(f"{base}.") for module in known):
                found |= {long for long in full.values() if private(long.rpartition(".")[2])}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and (module := ours.get(ast.unparse(node.value))):
            found.add(f"{module}.{node.attr}")
    return found


def test_no_module_uses_what_is_private_to_another() -> None:
    sources = modules(ROOT)
    assert {name: found for name, source in sources.items() if (found := borrowed(name, source, set(sources)))} == {}


@pytest.mark.parametrize("line", [
    "from numerics.one_sided import _logits",
    "from .one_sided import _logits",
    "def late():\n    from numerics.one_sided import _logits as logits",
    "from numerics import one_sided\none_sided._logits",
    "from numerics import one_sided as o\no._logits(1)",
    "import numerics.one_sided\nnumerics.one_sided._logits",
    "from numerics.experiments import _hidden",
])
def test_a_borrowed_private_name_is_found(line: str) -> None:
    assert borrowed("numerics.borrower", line, set(modules(ROOT)))


@pytest.mark.parametrize("package", VOTING)
def test_votes_do_not_look_up_what_they_are_held_against(package: str) -> None:
    voters = [path for path in (ROOT / package.replace(".", "/")).glob("*.py") if not path.name.startswith("test_")]
    assert len(voters) > 5
    voters += [(ROOT / name.replace(".", "/")).with_suffix(".py") for name in HELPERS]
    assert {path.name: found for path in voters if (found := looks_up(path.read_text(encoding="utf-8"), package))} == {}


@pytest.mark.parametrize("line", [
    "import sympy as sp",
    "from sympy import lambdify",
    "from tests.bridge import Value, evaluate",
    "from tests import bridge",
    "import derivations.catalogue",
    "from derivations.catalogue import entries",
    "def late():\n    from derivations.calculus.sums import normal",
    "__import__('derivations.catalogue')",
    "from derivations.claims import Layer, Evidence",
    "import tests.bridge",
    "from tests.layers import entries",
    "from tests.layers import *",
    "import tests.layers as t\nt.entries()",
    "from tests import layers\nlayers.entries()",
    "from tests.readings import sp",
    "from tests.fuzz.vocabulary import total",
    "from ..bridge import evaluate",
    "import sys\nsys.modules['derivations.catalogue'].entries()",
    "from importlib import import_module as f\nf('sympy')",
    "from tests.properties.test_claims import entries",
    "from tests.properties import test_claims\ntest_claims.entries()",
    "import dataclasses\ndataclasses.sys.modules['derivations.catalogue'].entries()",
    "from dataclasses import sys",
    "builtin = __builtins__",
    "choose.__globals__['sys']",
    "open('answer').read()",
    "import numpy as np\nnp.load('answer.npy')",
    "read = eval",
    "exec('import sympy')",
    "import pytest\npytest.importorskip('sympy')",
    "getattr(choose, '__glo' + 'bals__')",
])
def test_a_look_up_is_found(line: str) -> None:
    assert looks_up(f"from derivations.claims import Layer\n{line}")
