"""Examination of a claim: a false step spoils it, a flipped sign is refuted, a twin that is true is reported."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
import sympy as sp

from derivations.calculus.functions import derivative
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.records import rendering
from derivations.records.claims import Correction, Kind, Layer, Outcome, Severity, Statement
from derivations.records.prints import Check, Standing
from derivations.register import catalogue, examining
from derivations.register.catalogue import Catalogue, entries
from derivations.register.claiming import Undecidable, claim, reprint
from derivations.register.entry import Entry, sentence
from derivations.register.examining import Examination, examine
from derivations.register.loading import LoadingError
from derivations.relations import AtLeast, Equation, Fails, Relation
from tests.registers import register

m = size("m")
i, j, l = index("i", m), index("j", m), index("l", m)  # noqa: E741
a, x, y = vector("a", m), scalar("x"), positive("y")
z = total(l, sp.exp(a[l] / y))
slope, right = derivative(sp.exp(a[i] / y) / z, a[j]), sp.exp(a[i] / y) / z * (delta(i, j) - sp.exp(a[j] / y) / z) / y

JACOBIAN, FLIPPED, OPEN = Equation(slope, right), Equation(slope, -right), Equation(sp.sqrt(x**4 + 2 * x**2 + 1), x**2 + 1)
MASS = Equation(total(i, sp.exp(a[i] / y) / z), 1)


def entry(*steps: Relation, repair: tuple[Relation, ...] = (), **twins: Relation) -> Entry:
    """An unregistered claim."""
    made = Entry("eot.0", Kind.IDENTITY, "t", "x", (), (), lambda: iter(steps), "A statement.")
    for name, wrong in twins.items():
        made.twin(name, lambda wrong=wrong: wrong)
    if repair:
        made.repair = lambda: iter(repair)
        made.correction = Correction(Statement("y", "Another."), Severity.SLIP)
    return made


def outcome(examination: Examination) -> Outcome:
    return examination.evidence.outcome


def test_true_holds_for_every_size() -> None:
    examination = examine(entry(MASS, JACOBIAN, sign=FLIPPED, factor=Equation(slope, 2 * right)))
    assert not examination.faults
    assert outcome(examination) is Outcome.HOLDS
    assert examination.evidence.layer is Layer.SYMBOLIC
    assert examination.evidence.general
    assert examination.evidence.refuted_twins == ("sign", "factor")
    assert examination.evidence.scope == "all m ≥ 1, a real (length m), y > 0"
    assert [step.holds for step in examination.steps] == [True, True]


@pytest.mark.parametrize("wrong", [FLIPPED, OPEN, AtLeast(x, 0), Fails(MASS)], ids=["false", "open", "bound", "no failure"])
@pytest.mark.parametrize("position", [0, 1])
def test_a_step_that_does_not_hold_spoils_a_true_end(wrong: Relation, position: int) -> None:
    steps = [MASS, JACOBIAN]
    steps.insert(position, wrong)
    examination = examine(entry(*steps))
    assert outcome(examination) is Outcome.INCONCLUSIVE
    assert [step.holds for step in examination.steps] == [n != position for n in range(3)]
    assert len(examination.faults) == 1
    assert f"step {position + 1}" in examination.faults[0]


def test_a_false_step_does_not_refute_the_claim() -> None:
    assert outcome(examine(entry(FLIPPED, Fails(FLIPPED)))) is Outcome.INCONCLUSIVE


def test_a_flipped_sign_is_refuted_with_a_witness() -> None:
    examination = examine(entry(MASS, FLIPPED))
    assert outcome(examination) is Outcome.REFUTED
    assert examination.evidence.witness is not None
    assert rendering.witness(examination.evidence.witness) in examination.faults[0]
    assert examination.evidence.scope == f"one exact point: {rendering.inputs(examination.evidence.witness.inputs)}"


def test_a_disproof_refutes_without_fault() -> None:
    examination = examine(entry(MASS, Fails(FLIPPED)))
    assert outcome(examination) is Outcome.REFUTED
    assert examination.evidence.witness is not None
    assert not examination.faults
    assert entry(Fails(FLIPPED)).printed() == FLIPPED


def test_a_disproof_of_a_true_statement_fails() -> None:
    examination = examine(entry(Fails(JACOBIAN)))
    assert outcome(examination) is Outcome.INCONCLUSIVE
    assert examination.faults
    assert examination.evidence.witness is None


@pytest.mark.parametrize("twin", [JACOBIAN, OPEN], ids=["true", "undecided"])
def test_a_living_twin_is_reported(twin: Relation) -> None:
    examination = examine(entry(JACOBIAN, sign=FLIPPED, alive=twin))
    assert examination.evidence.refuted_twins == ("sign",)
    assert examination.faults == ("the twin 'alive' is not refuted",)


def test_an_empty_derivation_is_vacuous() -> None:
    assert outcome(examine(entry())) is Outcome.VACUOUS


def test_a_statement_about_no_point_is_vacuous() -> None:
    only = index("i", sp.S.One)
    other = index("k", sp.S.One, other_than=(only,))
    empty = Equation(vector("v", sp.S.One)[other] * delta(only, other), 0)
    never = Equation((x + 1) ** 2, x**2 + 2 * x + 1, given=(AtLeast(x, 1), AtLeast(-x, 0)))
    for statement in (empty, never):
        examination = examine(entry(statement))
        assert outcome(examination) is Outcome.VACUOUS
        assert "no sample point" in examination.faults[0]
        assert outcome(examine(entry(statement, MASS))) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("trivial", [Equation(0, 0), Equation(x, x), Equation(total(i, a[i]), total(l, a[l])), AtLeast(y, y)])
def test_a_trivial_last_step_is_vacuous(trivial: Relation) -> None:
    examination = examine(entry(JACOBIAN, trivial))
    assert outcome(examination) is Outcome.VACUOUS
    assert "says nothing" in examination.faults[0]


def test_three_keys_are_not_every_size() -> None:
    v = vector("v", sp.Integer(3))
    examination = examine(entry(Equation((v[1] + v[2]) ** 2, v[1] ** 2 + 2 * v[1] * v[2] + v[2] ** 2)))
    assert outcome(examination) is Outcome.HOLDS
    assert not examination.evidence.general


def test_a_correction_is_examined_too() -> None:
    examination = examine(entry(Fails(FLIPPED), repair=(MASS, JACOBIAN)))
    assert (outcome(examination), examination.evidence.correction) == (Outcome.REFUTED, Outcome.HOLDS)
    assert len(examination.repair_steps) == 2
    assert not examination.faults
    assert entry(FLIPPED, repair=(MASS, JACOBIAN)).repaired() == JACOBIAN


@pytest.mark.parametrize(
    ("repair", "expected"),
    [((OPEN, JACOBIAN), Outcome.INCONCLUSIVE), ((OPEN,), Outcome.INCONCLUSIVE), ((FLIPPED,), Outcome.REFUTED)],
)
def test_a_false_correction_is_rejected(repair: tuple[Relation, ...], expected: Outcome) -> None:
    examination = examine(entry(Fails(FLIPPED), repair=repair))
    assert examination.evidence.correction is expected
    assert examination.faults


def test_a_true_statement_needs_no_correction() -> None:
    examination = examine(entry(JACOBIAN, repair=(MASS,)))
    assert examination.faults == ("correction: a statement that holds must not have one",)


@pytest.mark.parametrize(("undecidable", "reason"), [(None, "left to the other layers"), ("a taste", "a taste")])
def test_silence_has_its_reason(undecidable: str | None, reason: str) -> None:
    silent = Entry("eot.0", Kind.EXTERNAL, "t", "x", (), (), None, "A statement.", undecidable)
    examination = examine(silent)
    assert (outcome(examination), examination.evidence.detail) == (Outcome.NOT_APPLICABLE, reason)
    assert silent.printed() is None


# ── registration ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Entry]:
    """An empty registry that replaces the real one."""
    return register(monkeypatch)


def steps() -> Iterator[Relation]:
    """A statement,
    on two lines.
    """
    yield JACOBIAN


def test_registration(registry: dict[str, Entry]) -> None:
    made = claim("eot.0", "identity", title="t", latex="x", needs=("eot.1",))(steps)
    assert registry == {"eot.0": made}
    assert (made.statement, made.kind, made.claim.needs) == ("A statement, on two lines.", Kind.IDENTITY, ("eot.1",))
    assert claim("eot.1", "external fact", title="t", latex="x")(silent).derivation is None
    assert claim("eot.2", "empirical", title="t", latex="x")(hopeless).undecidable == "nobody can tell"


def silent() -> None:
    """A statement."""


def hopeless() -> Undecidable:
    """A statement."""
    return Undecidable("nobody can tell")


def test_an_id_is_used_once(registry: dict[str, Entry]) -> None:
    first = claim("eot.0", "identity", title="t", latex="x")(steps)
    with pytest.raises(ValueError, match=r"^claim: duplicate id"):
        claim("eot.0", "limit", title="other", latex="y")(steps)
    assert registry == {"eot.0": first}


def test_one_derivation_serves_two_documents(registry: dict[str, Entry]) -> None:
    first = claim("eot.0", "identity", title="t", latex="x")(steps)
    first.twin("halved", lambda: JACOBIAN)
    again = reprint("eot.1", first, latex="y")
    assert registry == {"eot.0": first, "eot.1": again}
    assert (again.derivation, again.twins, again.latex, again.needs) == (first.derivation, first.twins, "y", ("eot.0",))
    with pytest.raises(ValueError, match=r"^claim: duplicate id"):
        reprint("eot.0", first, latex="y")


def test_a_reprint_has_its_own_text(registry: dict[str, Entry]) -> None:
    first = claim("eot.0", "identity", title="t", latex="x", hypotheses=("h",))(steps)
    first.corrected("z", Severity.SLIP, under="more")(steps)
    own = {"title": "T", "statement": "S.", "hypotheses": ("g", "h"), "correction": Statement("c", "C.")}
    again = reprint("eot.1", first, latex="y", **own)  # type: ignore[arg-type]
    assert (again.title, again.statement, again.hypotheses) == ("T", "S.", ("g", "h"))
    assert again.correction == Correction(Statement("c", "C."), Severity.SLIP, "more")
    assert (first.title, first.statement, first.hypotheses) == ("t", "A statement, on two lines.", ("h",))
    assert first.correction == Correction(Statement("z", "A statement, on two lines."), Severity.SLIP, "more")
    with pytest.raises(ValueError, match=r"^correction: not allowed for eot.3"):
        reprint("eot.3", claim("eot.2", "identity", title="t", latex="x")(steps), latex="y", correction=Statement("c", "C."))


def test_a_reprint_keeps_the_correction_and_has_its_own_line(registry: dict[str, Entry]) -> None:
    first = claim("eot.0", "identity", title="t", latex="x")(steps)
    first.corrected("z", Severity.SLIP)(steps)
    again, here = reprint("eot.1", first, latex="y"), inspect.currentframe()
    assert again.correction == first.correction
    assert here
    assert (again.module, again.line) == (__name__, here.f_lineno - 3)
    with pytest.raises(ValueError, match=r"^hypotheses: expected"):
        reprint("eot.2", first, latex="y", hypotheses="h")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^latex: expected"):
        reprint("eot.2", first, latex="")
    with pytest.raises(ValueError, match=r"^text: expected"):
        reprint("eot.2", first, latex="y", correction=Statement("c", ""))


def test_a_reprint_of_a_disproof_supposes_no_more(registry: dict[str, Entry]) -> None:
    def wrong() -> Iterator[Relation]:
        """A statement."""
        yield Fails(FLIPPED)

    first = claim("eot.0", "identity", title="t", latex="x", hypotheses=("a",))(wrong)
    with pytest.raises(ValueError, match=r"^hypotheses: eot.1 takes over the disproof of eot.0: .* got 'b'"):
        reprint("eot.1", first, latex="y", hypotheses=("a", "b"))
    assert reprint("eot.1", first, latex="y", hypotheses=("a",)).hypotheses == ("a",)
    assert reprint("eot.2", first, latex="y", hypotheses=("c",), implying={"a": "c"}).hypotheses == ("c",)
    assert reprint("eot.3", first, latex="y").hypotheses == ("a",)


def test_a_reprint_loses_no_hypothesis(registry: dict[str, Entry]) -> None:
    first = claim("eot.0", "identity", title="t", latex="x", hypotheses=("a", "b"), needs=("eot.9",))(steps)
    with pytest.raises(ValueError, match=r"^hypotheses: eot.1 takes over .* expected its hypothesis 'b'"):
        reprint("eot.1", first, latex="y", hypotheses=("a", "c"))
    with pytest.raises(ValueError, match=r"^hypotheses"):
        reprint("eot.1", first, latex="y", hypotheses=("a", "c"), implying={"b": "d"})
    again = reprint("eot.1", first, latex="y", hypotheses=("a", "c"), implying={"b": "c"})
    assert (again.needs, again.supporting) == (("eot.0",), ("eot.9",))


def test_registration_checks_its_arguments(registry: dict[str, Entry]) -> None:
    with pytest.raises(ValueError, match=r"^needs: expected a tuple of strings for eot.0, got 'eot.1'"):
        claim("eot.0", "identity", title="t", latex="x", needs="eot.1")(steps)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^claim: expected a function for eot.0, got list_iterator"):
        claim("eot.0", "identity", title="t", latex="x")(iter([JACOBIAN]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^twin: expected a name and a function"):
        entry().twin("the sign", FLIPPED)  # type: ignore[arg-type]
    made = entry(Fails(FLIPPED))
    made.corrected("x", Severity.SLIP)(steps)
    with pytest.raises(ValueError, match=r"^corrected: eot.0 already has a correction"):
        made.corrected("x", Severity.SLIP)(steps)


def test_words_are_checked(registry: dict[str, Entry]) -> None:
    for id in ("eot", "eot.", "eot.a b", 7):
        with pytest.raises(ValueError, match=r"^claim: expected an id like eot.59"):
            claim(id, "identity", title="t", latex="x")(steps)  # type: ignore[arg-type]
    for words in ({"title": "", "latex": "x"}, {"title": "t", "latex": " "}):
        with pytest.raises(ValueError, match=r"^(title|latex): expected"):
            claim("eot.0", "identity", **words)(steps)


def test_an_id_that_is_looked_up_has_to_exist() -> None:
    Catalogue.accessed_ids.discard("eot.59")
    dict(entries().items())
    list(entries().values())
    assert "eot.59" in entries()
    assert "eot.59" not in Catalogue.accessed_ids
    assert entries()["eot.59"].id == "eot.59"
    assert "eot.59" in Catalogue.accessed_ids


@pytest.fixture
def paper(registry: dict[str, Entry], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Mapping[str, Entry]]:
    """Loads an outside document whose modules section2 and section1 register these entries."""
    modules = [SimpleNamespace(name=name) for name in ("section2", "checks", "section1")]
    monkeypatch.setattr(catalogue, "outside", lambda: {"paper": None})
    monkeypatch.setattr(catalogue, "package", lambda document: SimpleNamespace(__name__=document, __path__=[]))
    monkeypatch.setattr(catalogue.pkgutil, "iter_modules", lambda path: modules)

    def load(**new: object) -> Mapping[str, Entry]:
        def imported(name: str) -> str:
            registry.update({id.replace("_", "."): each for id, each in new.items()})  # type: ignore[misc]
            return name

        monkeypatch.setattr(catalogue, "imported", imported)
        return catalogue._loaded.__wrapped__("paper")

    return load


def own(id: str, section: int = 1) -> Entry:
    """A claim of the paper."""
    return replace(entry(MASS), id=id, module=f"paper.section{section}")


def test_claims_stand_in_the_order_of_their_modules(paper: Callable[..., Mapping[str, Entry]]) -> None:
    claims = paper(paper_3=own("paper.3", 2), paper_1=own("paper.1"), paper_2=own("paper.2", 2))
    assert list(claims) == ["paper.1", "paper.3", "paper.2"]
    with pytest.raises(AttributeError, match=r"^latex: paper.1 is sealed"):
        claims["paper.1"].latex = "y"


@pytest.mark.parametrize("stranger", [replace(own("paper.1"), module="another"), own("paper.2"), "paper.1"])
def test_only_claims_of_a_document_are_loaded(paper: Callable[..., Mapping[str, Entry]], stranger: object) -> None:
    with pytest.raises(LoadingError, match=r"^claim: expected one registered by .* in a module of a document, got paper.1$"):
        paper(paper_1=stranger)


def test_a_document_registers_only_its_own_claims(
    registry: dict[str, Entry], paper: Callable[..., Mapping[str, Entry]], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = registry["eot.0"] = entry(MASS)
    monkeypatch.setitem(catalogue.FROZEN, "eot.0", known)
    assert list(paper(paper_1=own("paper.1"))) == ["paper.1"]
    with pytest.raises(LoadingError, match=r"^claim: expected new ids in paper, got eot.0, which is the id of an earlier"):
        paper(eot_0=entry(MASS))
    del registry["eot.0"]
    with pytest.raises(LoadingError, match=r"^claim: expected new ids in paper, got eot.0, which is the id of an earlier"):
        paper(eot_0=entry(MASS))  # of a chapter that it imported
    registry["eot.0"] = known
    with pytest.raises(LoadingError, match=r"^claim: expected ids like paper.1 in paper, got eot.7"):
        paper(eot_7=entry(MASS))


@pytest.mark.parametrize(
    ("own", "repaired", "faults"),
    [
        (None, None, ()),
        (Standing.AGREES, Standing.AGREES, ()),
        (Standing.AGREES, None, ()),
        (Standing.DIFFERS, None, ("the print differs from its relation: why",)),
        (Standing.AGREES, Standing.DIFFERS, ("the correction differs from its relation: why",)),
    ],
)
def test_a_print_that_differs_from_its_relation_is_a_fault(
    registry: dict[str, Entry],
    monkeypatch: pytest.MonkeyPatch,
    own: Standing | None,
    repaired: Standing | None,
    faults: tuple[str, ...],
) -> None:
    made = registry["eot.0"] = entry(JACOBIAN, sign=FLIPPED)
    checks = tuple(each and Check(each, "read", "why") for each in (own, repaired))
    monkeypatch.setattr(examining, "_prints", lambda id: checks)
    examination = examine(made)
    assert examination.faults == faults
    assert (examination.evidence.print, examination.evidence.print_repair) == checks
    assert examination.evidence.detail == ("; ".join(faults) or "1 steps")
    assert not examine(entry(JACOBIAN, sign=FLIPPED)).faults  # which is not registered, and has no print


def test_a_claim_without_derivation_names_its_layer() -> None:
    open_, closed = (replace(entry(), derivation=None, undecidable=why) for why in (None, "nobody can tell"))
    assert [examine(each).evidence.detail for each in (open_, closed)] == ["left to the other layers", "nobody can tell"]


def test_a_loaded_claim_cannot_be_changed() -> None:
    loaded = entries()["eot.59"]
    with pytest.raises(AttributeError, match=r"^derivation: eot.59 is sealed"):
        loaded.derivation = steps
    with pytest.raises(AttributeError, match=r"^twins"):
        loaded.twin("another", lambda: FLIPPED)
    with pytest.raises(TypeError):
        loaded.twins["the sign"] = lambda: FLIPPED  # type: ignore[index]


def test_a_twin_is_accessed_ids_once() -> None:
    made, answers = entry(JACOBIAN), iter([FLIPPED, JACOBIAN])
    made.twin("fickle", lambda: next(answers))
    assert made.twins["fickle"]() is made.twins["fickle"]()


def test_a_kind_is_known(registry: dict[str, Entry]) -> None:
    with pytest.raises(ValueError, match="theorem"):
        claim("eot.0", "theorem", title="t", latex="x")(steps)
    assert not registry


def test_a_statement_needs_its_sentence(registry: dict[str, Entry]) -> None:
    def mute() -> Iterator[Relation]:
        yield JACOBIAN

    with pytest.raises(ValueError, match=r"^docstring: missing in mute"):
        claim("eot.0", "identity", title="t", latex="x")(mute)
    with pytest.raises(ValueError, match=r"^docstring: missing in mute"):
        entry(JACOBIAN).corrected("x", Severity.SLIP)(mute)
    assert not registry
    assert sentence(steps) == "A statement, on two lines."


def test_twins_have_unique_names() -> None:
    with pytest.raises(ValueError, match=r"^twin: eot.* already has a twin"):
        entry(JACOBIAN, sign=FLIPPED).twin("sign", lambda: FLIPPED)
