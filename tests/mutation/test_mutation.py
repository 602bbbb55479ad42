"""The mutation program makes the edits that it lists, and reports the results of the tests."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from click.testing import CliRunner

from tests.mutation.__main__ import EQUIVALENT, chosen, equivalents, main, unmeasured
from tests.mutation.edits import digest_of, mutants
from tests.mutation.reach import Failures
from tests.mutation.targets import LEFT_OUT, ROOT, mirror_of, modules, path_of

SAMPLED = ("numerics.line_search",)


def texts(source: str) -> list[str]:
    return [mutant.text for mutant in mutants("module", source)]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("y = a + b", ["a + b → a - b"]),
        ("y = -a", ["-a → a"]),
        ("y = a < b", ["a < b → a <= b", "a < b → a >= b"]),
        ("y = a == b", ["a == b → a != b"]),
        ("y = x[1]", ["1 → 2"]),
        ("y = x.sum(dim=-1)", ["-1 → 1", "1 → 2"]),
        ("y = 0.5", ["0.5 → 1.0"]),
        ("y = True", ["True → False"]),
        ("y = x.clamp(min=a)", ["x.clamp(min=a) → x"]),
        ("flags = a | b", ["a | b → a & b"]),
        ("y = f(a, strict=True)", ["True → False"]),
        ("y = max(a, b)", ["max(a, b) → min(a, b)", "max(a, b) → a", "max(a, b) → b"]),
        ("y = where(a, b, c)", ["where(a, b, c) → b", "where(a, b, c) → c"]),
        ("y = x.mT", ["x.mT → x"]),
        ("y = a and not b", ["a and (not b) → a or not b", "not b → b"]),
        ("y = a if b else c", ["a if b else c → c if b else a"]),
        ("def f(x):\n    x = g(x)\n    h(x)", ["x = g(x) → pass", "h(x) → pass"]),
        ("class A:\n    def __init__(self):\n        super().__init__()", ["super().__init__() → __class__"]),
        (
            "if a:\n    raise ValueError(f'{a + 1}')",
            [
                "if a: raise ValueError(f'{a + 1}') → if not a: raise ValueError(f'{a + 1}')",
                "raise ValueError(f'{a + 1}') → pass",
            ],
        ),
    ],
)
def test_the_edits(source: str, wanted: list[str]) -> None:
    assert texts(source) == wanted


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring of 1 + 1."""',
        "__all__ = ['a' + 'b']",
        "import a",
        "x: Literal[1]",
        "@decorated(1)\ndef f() -> g(1): ...",
        "y = f'{a + 1}' + 'text'",
        "Kind = Literal[1, 2]",
        "Positive = float | Tensor | None",
        "T = TypeVar('T', covariant=True)",
        "pairs = zip(a, b, strict=True)",
        "if TYPE_CHECKING:\n    y = 1",
    ],
)
def test_nodes_without_mutants(source: str) -> None:
    assert [x for x in texts(source) if x != "... → pass"] == []


def test_a_key_depends_on_its_function_only() -> None:
    def keys(source: str) -> set[str]:
        return {mutant.key for mutant in mutants("module", source) if mutant.scope == "f"}

    first, shifted, other = (
        "def f(x):\n    return x + 1\n",
        "y = 2\n\n\ndef f(x):\n    return x + 1\n",
        "def f(x):\n    z = x\n    return x + 1\n",
    )
    assert keys(first) == keys(shifted)
    assert keys(first).isdisjoint(keys(other))


def test_defaults_are_distinguished_from_function_bodies() -> None:
    source = "def f(x, a=1):\n    def g(y, b=2): return y\n    return lambda z=3: z + 4\n"
    assert {mutant.text: mutant.default for mutant in mutants("module", source) if "+" not in mutant.text} == {
        "1 → 2": True,
        "2 → 3": False,
        "2 → 1": False,
        "3 → 4": False,
        "3 → 2": False,
        "4 → 5": False,
        "4 → 3": False,
    }


def test_an_edit_is_compiled_and_undone() -> None:
    all_mutants = mutants("module", "def f(x):\n    return x + 1\n")
    values = []
    for mutant in (*all_mutants, all_mutants[0]):
        names: dict[str, object] = {}
        exec(mutant.compiled("module.py"), names)
        values.append(names["f"](5))  # type: ignore[operator]
    assert values == [4, 7, 4]


TOY = """
LIMIT = 5
SEEN = []


def registered(function):
    SEEN.append(function)
    return function


@registered
def clipped(x, least=0.0):
    return min(max(x, least), LIMIT)


def endless(x):
    while x > 0:
        x = x - 1
    return x


def unreached(x):
    return x + 1
"""
TESTS = """
from toy import LIMIT, SEEN, clipped, endless


def test_clipped():
    assert clipped(3) == 3
    assert clipped(7) == 5
    assert clipped(0) == 0
    assert len(SEEN) == 1


def test_endless():
    assert endless(2) == 0
"""
SCRIPT = """
import json, sys
from pathlib import Path
from tests.mutation.edits import mutants
from tests.mutation.reach import recorded
from tests.mutation.trial import tried

folder = Path(sys.argv[1])
source, tests = folder / "toy.py", [folder / "test_toy.py"]
found = [(mutant, source) for mutant in mutants("toy", source.read_text())]
reach = recorded({"toy": source}, tests, None)
for mutant, result in tried(found, tests, {"toy": tests}, reach, 5.0):
    print(json.dumps([mutant.text, result.fate, result.by]))
"""


def test_mutants_that_no_test_notices_survive(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TESTS)
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment
    )
    fates = {text: (fate, by) for text, fate, by in map(json.loads, process.stdout.splitlines())}
    survived = {text for text, (fate, _) in fates.items() if fate == "survived"}
    assert survived == {"max(x, least) → x", "x + 1 → x - 1", "1 → 2"}
    assert fates["5 → 6"] == ("killed", "test_toy.py::test_clipped")  # a constant of the module
    assert fates["0.0 → 1.0"] == ("killed", "test_toy.py::test_clipped")  # a default
    assert fates["SEEN.append(function) → pass"][0] == "killed"  # code that runs at import
    assert fates["x - 1 → x + 1"] == ("killed", "its time")
    assert fates["x + 1 → x - 1"] == ("survived", "no test reaches the line")


def test_draws_of_a_test_do_not_depend_on_earlier_tests() -> None:
    generator = torch.Generator().manual_seed(3)
    drawn: list[float] = []
    hook = SimpleNamespace(pytest_runtest_protocol=lambda **_: drawn.append(float(torch.rand((), generator=generator))))
    module = SimpleNamespace(obj=SimpleNamespace(GENERATOR=generator))
    item = cast(
        pytest.Item, SimpleNamespace(nodeid="test_a.py::test", getparent=lambda _: module, config=SimpleNamespace(hook=hook))
    )
    failures = Failures([item])
    assert all(failures.passes(item, None) for _ in range(2))
    assert drawn[0] == drawn[1]


def test_every_module_has_tests() -> None:
    assert len(modules()) == len(set(modules())) > 80
    for module in modules():
        assert path_of(module).is_file(), module
        assert mirror_of(module), module
        assert all(path.exists() for path in mirror_of(module)), module


def test_what_is_left_out_exists_and_has_a_reason() -> None:
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("*/**/*.py")}
    for name, reason in LEFT_OUT.items():
        assert name in names or (ROOT / name.replace(".", "/")).is_dir(), name
        assert not any(module == name or module.startswith(f"{name}.") for module in modules()), name
        assert len(reason) > 10, name


def test_modules_without_figures_are_listed() -> None:
    module = "numerics.line_search"
    all_mutants = mutants(module, path_of(module).read_text(encoding="utf-8"))
    row = {"mutants": len(all_mutants), "killed": len(all_mutants), "source": digest_of(all_mutants)}
    assert unmeasured([module], {module: row}) == []
    assert unmeasured([module], {}) == [f"{module}: no figures, {len(all_mutants)} mutants"]
    assert unmeasured([module], {module: row | {"source": "other"}})[0].startswith(f"{module}: figures of an earlier source")
    assert digest_of(all_mutants) == digest_of(all_mutants[::-1]) != digest_of(all_mutants[1:])


def test_a_module_without_mutants_needs_no_figures() -> None:
    assert unmeasured(["numerics.mem.pcg_state"], {}) == []


def test_equivalent_mutants_exist_and_have_reasons() -> None:
    """An entry becomes stale when its function changes, since the key changes with it."""
    entries = equivalents()
    by_module: dict[str, dict[str, str]] = {}
    for key, entry in entries.items():
        module = entry["mutant"].partition(":")[0]
        source = path_of(module).read_text(encoding="utf-8")
        known = by_module.setdefault(module, {mutant.key: mutant.text for mutant in mutants(module, source)})
        assert key in known, f"{EQUIVALENT.name}: stale: {entry['mutant']}"
        assert entry["mutant"].endswith(known[key]), entry
        assert len(entry["reason"]) > 20, entry


def test_a_sample_is_the_same_until_the_source_changes() -> None:
    all_mutants = mutants("module", "".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(20)))
    assert chosen(all_mutants, None) == all_mutants
    assert len(chosen(all_mutants, 5)) == 5
    assert {x.key for x in chosen(all_mutants, 5)} <= {x.key for x in chosen(all_mutants[::-1], 9)}


def test_an_unknown_module_is_refused() -> None:
    result = CliRunner().invoke(main, ["numerics.nothing"])
    assert result.exit_code == 2
    assert "MODULE: expected one of" in result.output


@pytest.mark.parametrize("module", SAMPLED)
def test_a_sample_of_real_mutants_is_killed(module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.mutation", module, "--sample", "8", "--json", str(tmp_path / "results.json")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
