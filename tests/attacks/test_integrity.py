"""A kernel that was modified in the running process."""

import builtins
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from derivations import domains
from derivations.calculus import defined, moments, points, powers, shorthands, sums, variables
from derivations.domains import Domain, Positive, Real, Simplex
from derivations.domains.base import Sign
from derivations.judge import integrity
from derivations.register.examining import examine
from tests.attacks.entries import HONEST, entry

CHANGES: dict[str, tuple[Any, str, object]] = {
    "a function": (sums, "equal", lambda one, other: True),
    "a method": (variables.Variable, "domain", property(lambda self: None)),
    "the domains whose numbers are at most 1": (Real, "below_one", True),
    "what is known of a domain": (Real, "sign", Sign.POSITIVE),
    "what a domain admits": (Simplex, "lacking", lambda self, value, point: ""),
    "the domains": (domains, "DOMAINS", domains.DOMAINS[:3]),
    "the points that are far away": (points, "LATER", ()),
    "how many points are small": (points, "SMALL", 0),
    "an expectation, which nothing of the kernel itself imports": (moments, "expectation", lambda expr: expr),
    "a shorthand, which is written out in statements": (shorthands, "tanh", lambda x: x),
    "a function of SymPy": (sp, "expand", lambda expr, **_: sp.S.Zero),
    "a property of SymPy's": (sp.Expr, "is_number", True),
    "a sign of SymPy's": (sp.Indexed, "is_nonnegative", True),
    "how SymPy builds a sum": (sp.Add, "flatten", classmethod(lambda cls, terms: ([], [], None))),
    "a function of Python": (builtins, "all", lambda values: True),
    "what belongs to the calculus": (defined, "_OPERATIONS", ()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, value = CHANGES[name]
    assert integrity.changed_names() == []
    monkeypatch.setattr(owner, attribute, value)
    assert any(changed.endswith(f".{attribute}") for changed in integrity.changed_names())


@pytest.mark.parametrize("owner", [variables.Variable, Domain, powers.plus])
def test_an_attribute_added_to_a_class_is_named(owner: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, "is_nonnegative", True, raising=False)
    assert integrity.changed_names() == [f"{owner.__module__}.{owner.__name__}.is_nonnegative"]


def test_a_function_added_to_a_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MOST", 3, raising=False)
    monkeypatch.setattr(sums, "any", lambda values: True, raising=False)
    assert integrity.changed_names() == ["derivations.calculus.sums.MOST", "derivations.calculus.sums.any"]


def test_a_change_is_a_fault_of_every_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "LATER", points.LATER[:1])
    assert "eot.0: the kernel was changed in this process: derivations.calculus.points.LATER" in examine(entry(HONEST)).faults


def test_an_entry_added_to_a_table_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(domains.NAMED, "real", Positive)
    assert "derivations.domains.NAMED" in integrity.changed_names()


def test_every_module_of_the_kernel_is_watched() -> None:
    """This holds whether or not the module was imported before an author's module runs."""
    folder = Path(integrity.__file__).parents[1]
    files = [
        path
        for part in ("calculus", "domains", "relations")
        for path in (folder / part).glob("*.py")
        if path.stem != "__init__"
    ]
    assert len(files) > 50
    assert {f"derivations.{path.parent.name}.{path.stem}" for path in files} <= set(integrity.MODULES)
    assert set(integrity.KERNEL) <= set(integrity.MODULES)


def test_the_watched_objects_are_the_constant_ones() -> None:
    names = [name.rpartition(".")[2] for name in integrity.CONSTANTS]
    assert [name for name in names if not name.isupper()] == []
    assert {"derivations.judge.verdicts.MIN_TWINS", "derivations.relations.sameness.POINTS"} <= integrity.CONSTANTS.keys()
    assert dict(integrity._constants()).keys() == integrity.CONSTANTS.keys()
    assert dict(integrity._functions()).keys() == integrity.AS_WRITTEN.keys()
    assert not integrity.CONSTANTS.keys() & set(integrity.GROWING)
    assert {
        "derivations.judge.verdicts.judge",
        "derivations.relations.base.Relation.prove",
        "derivations.records.claims.Claim.asserts",
    } <= integrity.AS_WRITTEN.keys()
