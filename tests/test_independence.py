"""The layers share claim ids and nothing else: an import of one layer by another is found wherever it hides."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from derivations.records.claims import Layer
from evidence.lookups import VOTING, looks_up
from evidence.registry import CASES, load

ROOT = Path(__file__).parents[1]

CLOSED_FORMS = [
    f"numerics.{name}"
    for name in (
        "arguments",
        "attention",
        "continuous",
        "fenchel_young",
        "fisher",
        "flash",
        "linear",
        "mem",
        "modules",
        "one_sided",
        "ot_attention",
        "priors",
        "regularizers",
        "sparse_maps",
        "transport",
    )
]
FORBIDDEN = [
    ("derivations", ("evidence", "numerics", "torch", "cvxpy", "transformers", "tests", "ot", "entmax")),
    ("numerics", ("derivations", "evidence", "tests", "ot", "entmax")),
    ("evidence", ("tests",)),
    (
        "numerics.primal",
        (
            "torch",
            "transformers",
            "derivations",
            "numerics.models",
            "numerics.experiments",
            "ot",
            "numerics.linear_program",
            *CLOSED_FORMS,
        ),
    ),
    *[
        (f"numerics.precision.{name}", ("torch", "scipy", "numerics.primal", "numerics.models", *CLOSED_FORMS))
        for name in ("exact", "rows", "sparse", "attention", "solutions")
    ],
    *[(name, ("numerics.primal", "numerics.models", "cvxpy", "derivations", "scipy", "entmax", "ot")) for name in CLOSED_FORMS],
]

PEERS = {
    ("numerics.benchmarks.sinkhorn", "ot"),
    ("numerics.benchmarks.packages", "ot"),
    ("numerics.benchmarks.packages", "entmax"),
    ("numerics.network", "ot.lp"),
}
"""What a benchmark measures itself against, where it is installed; and the simplex of ``exact_plan``, which casts no vote."""


def modules(root: Path) -> dict[str, str]:
    """Source of every module of the packages, by dotted name."""
    by_module = {}
    for package in ("derivations", "evidence", "numerics"):
        for path in (root / package).rglob("*.py"):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            by_module[name] = path.read_text(encoding="utf-8")
    return by_module


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """The nodes of a source that can import something or reach into a module, cached for many tests."""
    kinds = ast.Import | ast.ImportFrom | ast.Call | ast.Attribute
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))


def imports(name: str, source: str, known: set[str]) -> set[str]:
    """What a module imports, at the top or inside a function; `from a import b` counts as a.b when that is a module."""
    names: set[str] = set()
    package = name.split(".")[:-1]
    for node in nodes(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
                names.add(str(node.args[0].value))
    return names


def reachable(start: str, sources: dict[str, str]) -> dict[str, str]:
    """Everything that a package imports, directly or through our own modules, with the module that imports it."""
    todo = [name for name in sources if name == start or name.startswith(f"{start}.")]
    seen, paths = set(todo), {}
    while todo:
        name = todo.pop()
        for imported in imports(name, sources[name], set(sources)):
            paths.setdefault(imported, name)
            if imported in sources and imported not in seen:
                seen.add(imported)
                todo.append(imported)
    return paths


def crossings(layer: str, forbidden: tuple[str, ...], sources: dict[str, str]) -> list[str]:
    """Every forbidden import of a layer, as messages."""
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


@pytest.mark.parametrize(
    "line",
    [
        "import torch",
        "import torch.nn.functional as F",
        "from numerics import one_sided",
        "from numerics.one_sided import plan",
        "def late():\n    from numerics.one_sided import plan",
        "import importlib\nimportlib.import_module('numerics.one_sided')",
        "from ..one_sided import plan",
        "from numerics import helper",
    ],
)
def test_a_forbidden_import_is_detected(line: str) -> None:
    sources = modules(ROOT) | {"numerics.primal.smuggler": line, "numerics.helper": "import torch"}
    barred = dict(FORBIDDEN)["numerics.primal"]
    assert crossings("numerics.primal", barred, sources)


def dependencies(sources: dict[str, str]) -> dict[str, set[str]]:
    """Our own modules that each module imports, at its top or inside a function."""
    return {
        name: (imports(name, source, set(sources)) & set(sources)) - {name, name.partition(".")[0]}
        for name, source in sources.items()
    }


def test_no_imports_go_in_a_circle() -> None:
    assert len(list(TopologicalSorter(dependencies(modules(ROOT))).static_order())) > 250


def test_a_cycle_is_detected() -> None:
    late = "def late():\n    import derivations.one"
    sources = {"derivations.one": "from derivations import other", "derivations.other": late}
    with pytest.raises(CycleError):
        TopologicalSorter(dependencies(sources)).prepare()


def private(name: str) -> bool:
    """Whether a name is private."""
    return name.startswith("_") and not name.startswith("__")


def borrowed(name: str, source: str, known: set[str]) -> set[str]:
    """The private names of our other modules that a module imports or accesses."""
    private_names, ours = set(), {}
    package = name.split(".")[:-1]
    for node in nodes(source):
        if isinstance(node, ast.Import):
            ours |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            full = {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
            ours |= {short: long for short, long in full.items() if long in known}
            if base in known or any(module.startswith(f"{base}.") for module in known):
                private_names |= {long for long in full.values() if private(long.rpartition(".")[2])}
    for node in nodes(source):
        if isinstance(node, ast.Attribute) and private(node.attr) and (module := ours.get(ast.unparse(node.value))):
            private_names.add(f"{module}.{node.attr}")
    return private_names


def test_no_module_uses_private_names_of_another() -> None:
    sources = modules(ROOT)
    assert {name: names for name, source in sources.items() if (names := borrowed(name, source, set(sources)))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from numerics.one_sided import _logits",
        "from .one_sided import _logits",
        "def late():\n    from numerics.one_sided import _logits as logits",
        "from numerics import one_sided\none_sided._logits",
        "from numerics import one_sided as o\no._logits(1)",
        "import numerics.one_sided\nnumerics.one_sided._logits",
        "from numerics.experiments import _hidden",
    ],
)
def test_a_borrowed_private_name_is_detected(line: str) -> None:
    assert borrowed("numerics.borrower", line, set(modules(ROOT)))


@pytest.mark.parametrize("package", [*VOTING, "evidence.instances"])
def test_votes_do_not_look_up_the_expected_formulas(package: str) -> None:
    voters = sorted((ROOT / package.replace(".", "/")).glob("*.py"))
    assert len(voters) > 5
    assert {path.name: lookups for path in voters if (lookups := looks_up(path.read_text(encoding="utf-8"), package))} == {}


# ── conic votes use no closed form, whatever else is in their module ────────────────────────────────────────────────


@cache
def definitions(source: str) -> dict[str, set[str]]:
    """What a module defines or imports at its top, each with the names that it uses or the import that it stands for."""
    bindings: dict[str, set[str]] = {}
    for node in ast.parse(source).body:
        named = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        own = {each.id for each in named if isinstance(each.ctx, ast.Store)} | {
            each.arg for each in ast.walk(node) if isinstance(each, ast.arg)
        }
        used = {each.id for each in named} - own
        if isinstance(node, ast.ImportFrom):
            bindings |= {alias.asname or alias.name: {f"{node.module}.{alias.name}"} for alias in node.names}
        elif isinstance(node, ast.Import):
            bindings |= {alias.asname or alias.name: {alias.name} for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bindings[node.name] = used
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bindings |= {each.id: used for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return bindings


def rests_on(name: str, sources: dict[str, str]) -> set[str]:
    """Every dotted name that a function of a voting module leads to, within the votes and beyond."""
    todo, seen = [name], set[str]()
    while todo:
        module, _, own = todo.pop().rpartition(".")
        if (dotted := f"{module}.{own}") in seen:
            continue
        seen.add(dotted)
        if module in sources and not module.startswith("numerics"):
            known = definitions(sources[module])
            for used in known.get(own, ()):
                todo += [used] if "." in used else [f"{module}.{used}"] if used in known else []
    return seen


def closed_forms_of(name: str, sources: dict[str, str]) -> set[str]:
    return {used for used in rests_on(name, sources) if f"{used}.".startswith(tuple(f"{form}." for form in CLOSED_FORMS))}


def test_conic_votes_know_no_closed_form() -> None:
    load()
    sources = modules(ROOT)
    votes = {
        f"{check.__module__}.{check.__name__}"
        for case in CASES[Layer.PRIMAL].values()
        for check in (case.printed, case.corrected)
        if check is not None
    }
    assert len(votes) > 100
    assert {name: names for name in votes if (names := closed_forms_of(name, sources))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from numerics import one_sided\ndef vote(): return one_sided.plan",
        "from numerics.one_sided import plan as f\ndef vote(): return f",
        "from numerics import one_sided\nCLOSED = one_sided.plan\ndef helper(): return CLOSED\ndef vote(): return helper()",
        "from evidence.smuggler import helper\ndef vote(): return helper()",
    ],
)
def test_a_closed_form_in_a_conic_vote_is_detected(line: str) -> None:
    sources = {"evidence.eot.votes": line, "evidence.smuggler": "from numerics import mem\ndef helper(): return mem.tilt"}
    assert closed_forms_of("evidence.eot.votes.vote", sources)
    conic = {"evidence.eot.votes": "from numerics.primal import mem\ndef vote(): return mem"}
    assert not closed_forms_of("evidence.eot.votes.vote", conic)


@pytest.mark.parametrize(
    "line",
    [
        "import sympy as sp",
        "from sympy import lambdify",
        "from evidence.bridge import Value, evaluate",
        "from evidence import bridge",
        "from evidence import hold, entries",
        "import derivations.register.catalogue",
        "from derivations.register.catalogue import entries",
        "def late():\n    from derivations.calculus.sums import normal",
        "__import__('derivations.register.catalogue')",
        "from derivations.records.claims import Layer, Evidence",
        "import evidence.bridge",
        "from evidence.harness import entries",
        "from evidence.harness import *",
        "import evidence.harness as t\nt.entries()",
        "from evidence import harness\nharness.entries()",
        "from evidence.readings import sp",
        "from tests.fuzz.vocabulary import total",
        "from ..bridge import evaluate",
        "import sys\nsys.modules['derivations.register.catalogue'].entries()",
        "from importlib import import_module as f\nf('sympy')",
        "from evidence.test_votes import entries",
        "from evidence import test_votes\ntest_votes.entries()",
        "import dataclasses\ndataclasses.sys.modules['derivations.register.catalogue'].entries()",
        "from dataclasses import sys",
        "builtin = __builtins__",
        "choose.__globals__['sys']",
        "open('answer').read()",
        "import numpy as np\nnp.load('answer.npy')",
        "read = eval",
        "exec('import sympy')",
        "import pytest\npytest.importorskip('sympy')",
        "getattr(choose, '__glo' + 'bals__')",
    ],
)
def test_a_lookup_is_detected(line: str) -> None:
    assert looks_up(f"from evidence import Layer\n{line}")
