"""Changes of claims and of the kernel after they were loaded."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from derivations.calculus import sums
from derivations.judge import verdicts
from derivations.judge.verdicts import judge
from derivations.records.claims import SUPPORTING_VERDICTS, Kind
from derivations.records.documents import VARIABLE, outside
from derivations.register import catalogue
from derivations.register.examining import examine
from derivations.relations import Equation, Fails, Relation
from tests.attacks.entries import HONEST, entry
from tests.processes import forked


def no_steps() -> Iterator[Relation]:
    """A claim without steps."""
    yield HONEST


LOADED = catalogue.entries()
ANY = LOADED["eot.59"]


CHANGES: dict[str, Callable[[], Any]] = {
    "the derivation": lambda: setattr(ANY, "derivation", no_steps),
    "the kind": lambda: setattr(ANY, "kind", Kind.DEFINITION),
    "the statement": lambda: setattr(ANY, "statement", "Another one."),
    "the twins": lambda: setattr(ANY, "twins", {}),
    "one of the twins": lambda: ANY.twins.update({"own": lambda: HONEST}),  # type: ignore[attr-defined]
    "a twin that is taken away": lambda: ANY.twins.clear(),  # type: ignore[attr-defined]
    "a new twin": lambda: ANY.twin("own", lambda: HONEST),
    "what it rests on": lambda: setattr(ANY, "needs", ()),
    "a correction": lambda: ANY.corrected("y", "slip")(no_steps),  # type: ignore[arg-type]
    "an entry": lambda: LOADED.__setitem__("eot.59", ANY),  # type: ignore[operator]
    "an entry that goes": lambda: LOADED.__delitem__("eot.59"),  # type: ignore[operator]
}


@pytest.mark.parametrize("name", CHANGES)
def test_loaded_claims_cannot_be_changed(name: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)):
        CHANGES[name]()


INTRUSIONS: dict[str, tuple[str, str]] = {
    "another derivation": ("section1", "shipped.derivation = own"),
    "another title": ("section1", "shipped.title = 'Another'"),
    "another formula": ("section1", "shipped.latex = '0 = 0'"),
    "no hypotheses": ("section1", "shipped.hypotheses = ()"),
    "no twins": ("section1", "shipped.twins = {}"),
    "a twin that goes": ("section1", "shipped.twins.pop('the sign')"),
    "a twin more": ("section1", "shipped.twin('own', own)"),
    "a correction": ("section1", "shipped.corrected('y', 'slip')(own)"),
    "a repair": ("section1", "shipped.repair = own"),
    "a support": ("section1", "shipped.needs = ()"),
    "another derivation, while the package is read": ("__init__", "shipped.derivation = own"),
    "another entry, while the package is read": ("__init__", "ENTRIES['eot.59'] = replace(shipped, latex='0 = 0')"),
    "an entry that goes": ("section1", "del ENTRIES['eot.59']"),
    "another one before its chapter is read": ("section1", "claim('eot.1', 'identity', title='t', latex='x')(own)"),
    "an entry before its chapter is read": ("section1", "ENTRIES['eot.1'] = replace(shipped, id='eot.1')"),
}


IMPORTS = {
    "by its chapter": f"from {ANY.module} import softmax_jacobian as shipped",
    "by its id": "from derivations.register.catalogue import entries\nshipped = entries()['eot.59']",
}


@pytest.mark.parametrize("way", IMPORTS)
@pytest.mark.parametrize("name", INTRUSIONS)
def test_f9_a_document_does_not_change_the_claims_that_ship(name: str, way: str, tmp_path: Path) -> None:
    """They are sealed as soon as their chapter is imported, by whomever."""
    where, attack = INTRUSIONS[name]
    folder = tmp_path / "guest"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A guest."""\n')
    (folder / f"{where}.py").write_text(
        "from dataclasses import replace\nfrom derivations import claim\n"
        f"from derivations.register.catalogue import ENTRIES\n{IMPORTS[way]}\n\n\n"
        f'def own():\n    """Nothing."""\n    yield from ()\n\n\n{attack}\n'
    )
    refusal = refused_loading(folder)
    assert any(words in refusal for words in ("duplicate id eot.1", "got eot.1", "eot.59", "mappingproxy"))


def test_f9_a_document_does_not_change_the_claims_of_another(tmp_path: Path) -> None:
    stating = (
        'from derivations import claim\n\n\n@claim("host.1", "identity", title="t", latex="x")\n'
        'def host():\n    """Nothing."""\n'
    )
    for name, text in (("host", stating), ("guest", "from host.section1 import host\nhost.latex = '0 = 0'\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('"""A document."""\n')
        (tmp_path / name / "section1.py").write_text(text)
    assert "latex: host.1 is sealed" in refused_loading(tmp_path / "host", tmp_path / "guest")


def load() -> None:
    """Load the outside documents."""
    for document in outside():
        catalogue.claims_of(document)


def refused_loading(*folders: Path) -> str:
    """The error message on loading documents that must be refused."""
    process = forked(load, folder=Path(__file__).parents[2], **{VARIABLE: os.pathsep.join(map(str, folders))})
    assert process.returncode
    return process.stderr.strip().splitlines()[-1]


PATCHES: dict[str, tuple[Any, str, Any]] = {
    "equality of sides": (sums, "equal", lambda left, right: True),
    "proof": (Relation, "prove", lambda self: True),
    "explanation": (Relation, "explain", lambda self: ""),
    "refutation": (Relation, "counterexample", lambda self: None),
    "what is left": (Equation, "remainder", lambda self: ""),
    "what is posed": (Relation, "ill_posed", lambda self: ""),
    "the rule": (verdicts, "survivors", lambda claim, evidence: ()),
    "a disproof": (Fails, "explain", lambda self: ""),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_kernel_that_was_changed_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An author's module that replaces a kernel function invalidates every verdict of the process."""
    owner, attribute, value = PATCHES[name]
    monkeypatch.setattr(owner, attribute, value)
    made = entry(HONEST)
    examination = examine(made)
    assert judge(made.claim, [examination.evidence]).verdict not in SUPPORTING_VERDICTS
    assert examination.faults
