"""SymPy is as it was installed, before and after our computations; within them, it has our shortcuts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

CONTEXTS = """
import sympy as sp
from derivations.calculus import quick
from derivations.calculus.quick import INHERITED, INSTALLED, SHORTCUTS, installed, shortcuts
from derivations.judge.integrity import changed_names

def state():
    return [vars(owner).get(name, INHERITED) for owner, name in SHORTCUTS]

before, within = [*INSTALLED.values()], [*SHORTCUTS.values()]
assert state() == before
assert "free_symbols" not in vars(sp.Sum)
with shortcuts():
    assert state() == within
    assert changed_names() == []
    assert "free_symbols" not in installed(sp.Sum)
    assert installed(sp.Sum)["__new__"] is INSTALLED[sp.Sum, "__new__"]
    with shortcuts():
        assert state() == within
    assert state() == within
assert state() == before
try:
    with shortcuts():
        1 / 0
except ZeroDivisionError:
    assert state() == before
theirs = staticmethod(lambda cls, *parts: sp.S.Zero)
with shortcuts():
    sp.Sum.__new__ = theirs
    assert changed_names() == ["sympy.concrete.summations.Sum.__new__"]
assert vars(sp.Sum)["__new__"] is theirs
with shortcuts():
    assert vars(sp.Sum)["__new__"] is theirs
assert changed_names() == ["sympy.concrete.summations.Sum.__new__"]
print("done")
"""

PROBE = """
import sys
import sympy as sp

MODULES = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] == "sympy"]
CLASSES = [value for module in MODULES for value in vars(module).values()
           if isinstance(value, type) and value.__module__.partition(".")[0] == "sympy"]
OWNERS = {id(owner): owner for owner in (*MODULES, *CLASSES)}
CACHES = ("__annotations__", "__slotnames__", "__abstractmethods__", "_abc_impl")

def attributes():
    return {(key, name): value for key, owner in OWNERS.items() for name, value in list(vars(owner).items())
            if name not in CACHES and (isinstance(owner, type) or callable(value))}

def changed():
    now = attributes()
    keys = [key for key in {**before, **now} if before.get(key) is not now.get(key)]
    return sorted(f"{getattr(OWNERS[key], '__name__', key)}.{name}" for key, name in keys)

before = attributes()
"""


def run(script: str) -> str:
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_sympy_is_as_installed_after_an_import_a_claim_and_an_exception() -> None:
    script = (
        "import derivations\n"
        "from derivations.vocabulary import *\n"
        "import derivations.papers.claims, derivations.prints.claims, derivations.judge.integrity\n"
        "print(changed())\n"
        "x = sp.Symbol('x')\n"
        "assert x / x == scalar('x') / scalar('x') == 1\n"
        "from derivations.register.examining import examine\n"
        "from derivations.register.entry import Entry\n"
        "from derivations.records.claims import Kind as ClaimKind\n"
        "from tests.attacks.entries import HONEST, entry\n"
        "assert examine(entry(HONEST)).evidence.outcome == 'holds'\n"
        "print(changed())\n"
        "def broken():\n"
        "    yield Equation(scalar('x'), scalar('x') + 0)\n"
        "    print(changed() != [])\n"
        "    raise KeyboardInterrupt\n"
        "try:\n"
        "    examine(Entry('eot.1', ClaimKind.IDENTITY, 't', 'x', (), (), broken, 'A statement.'))\n"
        "except KeyboardInterrupt:\n"
        "    print(changed())\n"
    )
    assert run(PROBE + script).splitlines() == ["[]", "[]", "True", "[]"]


def test_contexts_end_as_they_began_but_for_what_others_have_changed() -> None:
    assert run(CONTEXTS) == "done\n"
