"""Errors in an author's module are reported and give no verdict; premises need proofs, twins and corrections must answer."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.functions import xlogx
from derivations.calculus.sums import total
from derivations.calculus.variables import index, interior, positive, scalar, size, vector
from derivations.domains import Positive
from derivations.judge.examination import run
from derivations.judge.verdicts import judge
from derivations.records.claims import Correction, Kind, Outcome, Severity, Statement, Verdict
from derivations.records.theorems import SQUEEZE
from derivations.register import examining
from derivations.register.claiming import claim, reprint
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)
from derivations.run.showing import quoted
from tests.processes import derivations
from tests.registers import register

m = size("m")
l, j, h = index("l", m), index("j", m), index("h", m)  # noqa: E741
a, x, y, t = vector("a", m), scalar("x"), scalar("y"), positive("t")

SQUARE, FALSE = Equation((x + y) ** 2, x**2 + 2 * x * y + y**2), Equation((x + y) ** 2, x**2 + y**2)
OTHER = Equation((x + y) ** 2, x**2 - 2 * x * y + y**2)
OTHER_TRUTH = Equation((x - y) ** 2, x**2 - 2 * x * y + y**2)
OPEN = Equation(sp.sqrt((x**2 + y**2) ** 2 * t**2), t * sp.sqrt(x**4 + 2 * x**2 * y**2 + y**4), reason="what no rule sees")


def entry(
    derivation: Callable[[], Iterator[Relation]] | Relation,
    *,
    repair: Relation | None = None,
    replaces: str | None = None,
    under: str | None = None,
    needs: tuple[str, ...] = (),
    **twins: Relation,
) -> Entry:
    """An unregistered claim."""
    steps = (lambda: iter([derivation])) if isinstance(derivation, Relation) else derivation
    made = Entry("eot.0", Kind.IDENTITY, "t", "x", (), needs, steps, "A statement.")
    for name, wrong in twins.items():
        made.twin(name, lambda wrong=wrong: wrong)
    if repair:
        made.repair = lambda: iter([repair])
        made.correction = Correction(Statement("y", "Another."), Severity.SLIP, under, replaces)
    return made


def steps(*relations: Relation) -> Callable[[], Iterator[Relation]]:
    return lambda: iter(relations)


def outcome(made: Entry) -> Outcome:
    return examine(made).evidence.outcome


def fault(made: Entry) -> str:
    return "; ".join(examine(made).faults)


# ── errors ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def raising(error: BaseException, after: int = 1) -> Callable[[], Iterator[Relation]]:
    def derivation() -> Iterator[Relation]:
        for _ in range(after):
            yield SQUARE
        raise error

    return derivation


ERRORS = [
    ValueError("no"),
    ArithmeticError("no"),
    IndexError("no"),
    RecursionError("no"),
    KeyError("no"),
    SystemExit(0),
    pytest.skip.Exception("no"),
    GeneratorExit("no"),
    StopIteration("no"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("after", [0, 2])
def test_an_error_names_claim_and_step(error: BaseException, after: int) -> None:
    made = entry(raising(error, after), wrong=FALSE)
    examination = examine(made)
    assert examination.evidence.outcome is Outcome.ERROR
    assert examination.faults[0].startswith(f"eot.0: step {after + 1}: ")
    assert not examination.evidence.refuted_twins
    assert examination.evidence.witness is None
    assert judge(made.claim, [examination.evidence]).verdict is Verdict.OPEN
    assert made.printed() is None


def test_the_first_line_of_an_error_is_shown_truncated() -> None:
    assert fault(entry(raising(ValueError("one\ntwo"), 0))) == "eot.0: step 1: ValueError: one"
    assert fault(entry(raising(ValueError("a" * 400), 0))) == f"eot.0: step 1: ValueError: {'a' * 300}"
    assert fault(entry(raising(ValueError(" \n"), 0))) == "eot.0: step 1: ValueError: no message"


def test_an_interrupt_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(raising(KeyboardInterrupt()), tuple)


def test_a_kernel_that_also_refutes_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Equation, "prove", lambda self: True)
    examination = run(steps(FALSE), tuple)
    assert examination.outcome is Outcome.ERROR
    assert "step 1: the kernel contradicts itself: proved, but at x = " in examination.error
    assert not examination.proved


K7 = sp.Mul(*(m - number for number in range(1, 8))) ** 2  # 0 at every size of the usual sample
b = vector("b", m, kind=Positive)
B = total(l, b[l])
FALSE_FROM_EIGHT: dict[str, Relation] = {
    "an equation": Equation(total(l, a[l]) + K7, total(l, a[l])),
    "an inequality": AtLeast(K7 * B * sp.exp(-B), K7 * total(l, b[l] * sp.exp(-b[l]))),
    "a difference": Differs(B, B * K7 / 5040**2),
    "an implication": Follows((AtLeast(x, 0),), AtLeast(x, K7), (sp.S.One,)),
    "a strict inequality": StrictUnlessEqual(1 - K7, 0, B, t, B, (t, t)),
    "a limit between bounds": Limit(
        K7 * total(l, b[l] * t / (1 + b[l] * t)), t, sp.oo, K7, between=(K7 * B * t / (1 + B * t), K7 * B * t / (1 + B * t))
    ),
    "a coefficient": Expansion(B * t + K7 * t, B * t, t, 1),
    "a minimizer without mass 1": UniqueMinimum(lambda p: total(l, xlogx(p(l))), lambda _: 1 / m + K7, m, sp.S.One),
    "a minimizer of another function": UniqueMinimum(lambda p: total(l, xlogx(p(l))) + K7 * p(1), lambda _: 1 / m, m, sp.S.One),
    "a plan of another function": UniquePlan(
        lambda p: total((l, h), xlogx(p(l, h))) + K7 * p(1, 1), lambda *_: 1 / m, m, m, sp.S.One
    ),
}
SKEWED: dict[str, Relation] = {
    "a dominant entry": AtLeast(7 * B**2, m * total(l, b[l] ** 2)),
    "a tiny mass": AtLeast(interior("u", m)[j], sp.Rational(1, 100) / m),
}


@pytest.mark.parametrize("name", FALSE_FROM_EIGHT | SKEWED)
def test_what_is_proved_is_tried_beyond_the_usual_sample(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its kind and whether it is the last step."""
    relation = (FALSE_FROM_EIGHT | SKEWED)[name]
    assert relation.counterexample() is None
    monkeypatch.setattr(type(relation), "prove", lambda self: True)
    for text in (steps(relation), steps(relation, SQUARE)):
        assert "step 1: the kernel contradicts itself: proved, but " in run(text, tuple).error


@pytest.mark.parametrize(("at", "fails"), [(1, "at x = -11/4: -2.75000000000 < 0"), (-1, "at x = -1: -1.00000000000 < 0")])
def test_values_of_an_author_are_tried_first_and_do_not_restrict_the_search(at: int, fails: str) -> None:
    assert run(steps(AtLeast(x, 0, at={x: at}), SQUARE), tuple).steps[0].detail == fails


def test_an_error_in_a_correction_and_in_a_twin_is_named() -> None:
    made = entry(Fails(FALSE), repair=SQUARE)
    made.repair = raising(ValueError("no"))
    assert "eot.0: the correction: step 2: ValueError: no" in fault(made)
    assert outcome(made) is Outcome.ERROR
    made = entry(SQUARE, wrong=FALSE)
    made.twin("odd", lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    assert fault(made) == "eot.0: the twin 'odd': ZeroDivisionError: division by zero"


def test_a_point_outside_of_the_domain_is_an_error_and_refutes_nothing() -> None:
    assert "eot.0: step 1: NotAdmittedError" in fault(entry(Fails(AtLeast(t, 0, at={t: -1}))))
    made = entry(SQUARE, wrong=replace(FALSE, at={a.label: [1, 2]}))
    assert "eot.0: the twin 'wrong': NotAdmittedError" in fault(made)
    assert not examine(made).evidence.refuted_twins


class Gullible(Equation):
    def prove(self) -> bool:
        return True

    def refute(self) -> None:
        return None


@pytest.mark.parametrize(
    ("step", "named"),
    [
        (Gullible(x, y), "expected a relation of the kernel, got Gullible"),
        (None, "got NoneType"),
        ("x = x", "got str"),
        (Fails(Gullible(x, y)), "got Gullible"),
        (Fails(Fails(FALSE)), "the disproof of a disproof"),
        (replace(SQUARE, given=(Gullible(x, y),)), "got Gullible"),
        (replace(SQUARE, quotes=("a theorem",)), "got str"),
        (Follows((Gullible(x, y),), AtLeast(x, y), (1,)), "got Gullible"),
        (replace(SQUARE, given=(Fails(FALSE),)), "got a disproof"),
        (Follows((Fails(FALSE),), AtLeast(x, y), (1,)), "got a disproof"),  # type: ignore[arg-type]
    ],
)
def test_only_the_kernel_s_own_relations_count(step: Any, named: str) -> None:
    examination = examine(entry(steps(SQUARE, step)))
    assert examination.evidence.outcome is Outcome.ERROR
    assert examination.faults[0].startswith("eot.0: step 2: ")
    assert named in examination.faults[0]
    assert "the twin 'odd'" in fault(entry(SQUARE, odd=step))


def test_a_kernel_relation_with_overridden_methods_is_refused() -> None:
    sly = Equation((x + y) ** 2, x**2 + y**2)
    sly.__dict__["prove"] = lambda: True
    sly.__dict__["counterexample"] = lambda: None
    assert outcome(entry(sly)) is Outcome.REFUTED


def test_a_step_is_examined_as_it_was_yielded() -> None:
    changing = Equation((x + y) ** 2, x**2 + y**2)

    def derivation() -> Iterator[Relation]:
        yield changing
        object.__setattr__(changing, "right", SQUARE.right)
        yield SQUARE

    assert [step.holds for step in examine(entry(derivation)).steps] == [False, True]


def test_a_derivation_is_run_once() -> None:
    answers = iter([SQUARE, FALSE])
    made = entry(lambda: iter([next(answers)]))
    assert examine(made).evidence.outcome is Outcome.HOLDS
    assert made.printed() == SQUARE
    assert examine(made).evidence.outcome is Outcome.HOLDS


def test_a_derivation_ends() -> None:
    def endless() -> Iterator[Relation]:
        while True:
            yield SQUARE

    assert "at most 1000 steps" in fault(entry(endless))
    assert outcome(entry(lambda: None)) is Outcome.ERROR  # type: ignore[arg-type, return-value]


def test_a_kernel_that_was_changed_is_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    made = entry(FALSE)
    with monkeypatch.context() as patch:
        patch.setattr(Equation, "remainder", lambda self: "")
        assert "eot.0: the kernel was changed in this process: derivations.relations.equation.Equation.remainder" in fault(made)
        assert outcome(made) is Outcome.ERROR
    assert outcome(made) is not Outcome.HOLDS


# ── undecided ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_undecided_statements_have_a_reason_and_are_no_fault() -> None:
    undecided = AtLeast(x**4 + y**4 + 1, x * y)
    examination = examine(entry(undecided, low=AtLeast(x * y, x**4 + y**4 + 1), high=AtLeast(x**4 + y**4 - 9, x * y)))
    assert examination.evidence.outcome is Outcome.INCONCLUSIVE
    assert not examination.faults
    assert examination.evidence.detail.startswith("not decided: ")
    assert re.match(r"not decided: no failure at [\d,]+ exact points, \|y\| about 10\^-30", examination.steps[-1].detail)
    assert examination.steps[-1].detail.endswith(undecided.explain())
    assert undecided.explain()


def test_a_disproof_holds_where_its_statement_fails() -> None:
    assert [step.holds for step in examine(entry(steps(Fails(FALSE), SQUARE, Fails(OTHER)))).steps] == [True, True, True]
    assert outcome(entry(steps(Fails(FALSE), SQUARE))) is Outcome.HOLDS


def test_a_step_that_is_not_decided_is_a_fault_unless_it_is_the_last() -> None:
    for before in ([OPEN], [OPEN, SQUARE], [SQUARE, OPEN]):
        examination = examine(entry(steps(*before, OTHER_TRUTH)))
        assert examination.evidence.outcome is Outcome.INCONCLUSIVE
        assert [fault.partition(":")[0] for fault in examination.faults] == [f"step {1 + before.index(OPEN)} does not hold"]
    assert not fault(entry(steps(SQUARE, OPEN)))
    assert outcome(entry(steps(SQUARE, Fails(SQUARE), OTHER_TRUTH))) is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "relation",
    [Equation(1 / (x + y) + 1, (x + y + 1) / (x + y)), Equation((sp.log(x) + 1) ** 2, sp.log(x) ** 2 + 2 * sp.log(x) + 1)],
)
def test_a_partly_undefined_statement_is_a_fault(relation: Relation) -> None:
    made = entry(relation)
    assert outcome(made) is Outcome.INCONCLUSIVE
    assert "it is not shown that" in fault(made)


# ── premises ────────────────────────────────────────────────────────────────────────────────────────────────────────

BELOW, ABOVE = AtLeast(x**2 + y**2, 2 * x * y, because=(x - y) ** 2), AtLeast(x, y)
FROM_PROVED = Follows((AtLeast(x**2 + y**2, 2 * x * y),), AtLeast(x**2 + y**2 + 1, 2 * x * y), (sp.S.One,), slack=sp.S.One)
FROM_FREE = Follows((ABOVE,), AtLeast(2 * x, 2 * y), (sp.Integer(2),))


def test_a_free_premise_proves_nothing() -> None:
    examination = examine(entry(FROM_FREE))
    assert examination.evidence.outcome is Outcome.INCONCLUSIVE
    assert "got x ≥ y, which is none of these" in examination.faults[0]
    assert not examination.steps[0].holds
    assert judge(entry(FROM_FREE).claim, [examination.evidence]).verdict is Verdict.OPEN


def test_an_earlier_step_vouches_for_a_premise() -> None:
    examination = examine(entry(steps(BELOW, FROM_PROVED)))
    assert examination.evidence.outcome is Outcome.HOLDS
    assert examination.steps[1].premises == ("x**2 + y**2 ≥ 2*x*y: step 1",)
    assert outcome(entry(steps(FROM_PROVED, BELOW))) is Outcome.INCONCLUSIVE  # a later one does not
    assert outcome(entry(steps(replace(BELOW, because=(x + y) ** 2), FROM_PROVED))) is Outcome.INCONCLUSIVE
    assert outcome(entry(steps(Fails(FALSE), FROM_FREE))) is Outcome.INCONCLUSIVE


def test_a_strict_step_vouches_for_a_weak_premise_and_not_the_other_way_round() -> None:
    strict = AtLeast(x**2 + 1, 0, strict=True, because=x**2 + 1)
    weak, sharp = (
        Follows((replace(strict, strict=s, because=None),), AtLeast(x**2 + 2, 0, strict=s), (sp.S.One,), sp.S.One)
        for s in (False, True)
    )
    assert outcome(entry(steps(strict, weak))) is Outcome.HOLDS
    assert outcome(entry(steps(replace(strict, strict=False), sharp))) is Outcome.INCONCLUSIVE


def test_a_declared_hypothesis_is_shown() -> None:
    examination = examine(entry(replace(FROM_FREE, given=(ABOVE,))))
    assert examination.evidence.outcome is Outcome.HOLDS
    assert examination.evidence.given == ("x ≥ y",)
    assert "given x ≥ y" in examination.evidence.scope
    assert examination.steps[0].premises == ("x ≥ y: a hypothesis",)


@pytest.mark.parametrize(
    "relation", [AtLeast(x, -1, at={x: 5}), Equation(sp.Abs(x), x, at={x: 5}), AtLeast(total(l, a[l]), -100, at={a: [1]})]
)
def test_values_at_which_an_author_lets_it_be_tried_do_not_restrict_the_search(relation: Relation) -> None:
    assert relation.counterexample() is None
    assert outcome(entry(relation)) is Outcome.REFUTED


def test_nothing_is_its_own_hypothesis() -> None:
    assert outcome(entry(replace(ABOVE, given=(ABOVE,)))) is Outcome.VACUOUS
    assert outcome(entry(AtLeast(2 * x, x + y, given=(ABOVE,)))) is Outcome.VACUOUS
    assert outcome(entry(replace(ABOVE, given=(replace(ABOVE, strict=True),)))) is Outcome.VACUOUS
    assert not examine(entry(replace(ABOVE, given=(ABOVE,)))).steps[0].holds
    assert outcome(entry(steps(replace(ABOVE, given=(ABOVE,)), SQUARE))) is Outcome.HOLDS  # only the last has to say more


def test_a_conditional_step_does_not_prove_a_premise() -> None:
    then = Follows((AtLeast(2 * x, 2 * y, given=(ABOVE,)),), AtLeast(2 * x + 1, 2 * y), (sp.S.One,), slack=sp.S.One)
    examination = examine(entry(steps(replace(FROM_FREE, given=(ABOVE,)), then)))
    assert examination.evidence.outcome is Outcome.INCONCLUSIVE
    assert "premise: expected" in examination.faults[0]


def test_a_step_without_variables_proves_a_premise() -> None:
    examination = examine(entry(steps(AtLeast(2, 1), Follows((AtLeast(2, 1),), AtLeast(4, 2), (sp.Integer(2),)), SQUARE)))
    assert examination.steps[1].premises == ("2 ≥ 1: step 1",)


def test_hypotheses_of_a_premise_are_inherited() -> None:
    then = Follows((AtLeast(2 * x, 2 * y),), AtLeast(2 * x + 1, 2 * y), (sp.S.One,), slack=sp.S.One)
    examination = examine(entry(steps(replace(FROM_FREE, given=(ABOVE,)), then)))
    assert examination.evidence.outcome is Outcome.HOLDS
    assert examination.evidence.given == ("x ≥ y",)
    assert "given x ≥ y" in examination.evidence.scope


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Entry]:
    """An empty registry that replaces the real one."""
    examining._run.cache_clear()
    examining._examined.cache_clear()
    return register(monkeypatch)


def registered(id: str, *relations: Relation, needs: tuple[str, ...] = ()) -> Entry:
    def derivation() -> Iterator[Relation]:
        """A statement."""
        yield from relations

    return claim(id, "identity", title="t", latex="x", needs=needs)(derivation)


def test_a_needed_claim_proves_a_premise(registry: dict[str, Entry]) -> None:
    registered("eot.1", BELOW, SQUARE)
    examination = examine(registered("eot.2", FROM_PROVED, needs=("eot.1",)))
    assert examination.evidence.outcome is Outcome.HOLDS
    assert examination.steps[0].premises == ("x**2 + y**2 ≥ 2*x*y: eot.1, step 1",)
    assert outcome(registered("eot.3", FROM_PROVED)) is Outcome.INCONCLUSIVE


def test_a_needed_claim_that_proves_nothing_vouches_for_nothing(registry: dict[str, Entry]) -> None:
    registered("eot.1", AtLeast(x, y), SQUARE)
    registered("eot.2", FROM_FREE, needs=("eot.1",))
    assert outcome(registry["eot.2"]) is Outcome.INCONCLUSIVE
    assert (
        outcome(registered("eot.3", Follows((AtLeast(2 * x, 2 * y),), ABOVE, (sp.Rational(1, 2),)), needs=("eot.2",)))
        is Outcome.INCONCLUSIVE
    )


def test_hypotheses_of_a_needed_claim_are_hypotheses(registry: dict[str, Entry]) -> None:
    registered("eot.1", replace(FROM_FREE, given=(ABOVE,)))
    then = Follows((AtLeast(2 * x, 2 * y),), AtLeast(2 * x + 1, 2 * y), (sp.S.One,), slack=sp.S.One)
    assert examine(registered("eot.2", then, needs=("eot.1",))).evidence.given == ("x ≥ y",)


def test_unknown_and_circular_needs_are_errors(registry: dict[str, Entry]) -> None:
    assert fault(registered("eot.1", SQUARE, needs=("eot.9",))) == "eot.1: needs: expected ids of claims for eot.1, got eot.9"
    registered("eot.2", SQUARE, needs=("eot.3",))
    registered("eot.3", SQUARE, needs=("eot.2",))
    assert "circular: eot.2 → eot.3 → eot.2" in fault(registry["eot.2"])
    assert outcome(registry["eot.2"]) is Outcome.ERROR


@pytest.mark.parametrize("needed", ["eot.9", "eot.4"])
def test_nothing_comes_from_a_claim_with_an_error_in_its_needs(registry: dict[str, Entry], needed: str) -> None:
    """Other claims can be examined whatever they need, a reprint too, though a circle would have no end."""
    broken = registered("eot.3", BELOW, SQUARE, needs=(needed,))
    registered("eot.4", SQUARE, needs=("eot.3",))
    reprint("eot.5", of=broken, title="t", latex="x")
    assert outcome(broken) is Outcome.ERROR
    assert outcome(registered("eot.6", SQUARE, needs=("eot.3", "eot.4", "eot.5"))) is Outcome.HOLDS
    assert outcome(registry["eot.5"]) is Outcome.HOLDS
    assert "expected an earlier step" in fault(registered("eot.7", FROM_PROVED, needs=("eot.3",)))
    assert quoted(broken) == {}


@pytest.mark.parametrize(
    ("needs", "named"),
    [("paper.9", "for paper.1, got paper.9"), ("paper.1", "paper.1 → paper.1"), ("paper.2", "paper.1 → paper.2 → paper.1")],
)
def test_an_error_in_needs_concerns_its_claim_only(tmp_path: Path, needs: str, named: str) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "__init__.py").write_text('"""A paper."""\n')
    (tmp_path / "paper" / "section1.py").write_text(f"""
from derivations import Equation, claim, scalar
x, y = scalar("x"), scalar("y")
def square(of):
    def derivation():
        \"\"\"A square.\"\"\"
        yield Equation(of * (x + y) ** 2, of * (x**2 + 2 * x * y + y**2))
    return derivation
for number, needed in ((1, "{needs}"), (2, "paper.1"), (3, "paper.2")):
    made = claim(f"paper.{{number}}", "identity", title="t", latex="x", needs=(needed,))(square(number))
    made.twin("one", lambda n=number: Equation(n * (x + y) ** 2, n * (x**2 + x * y + y**2)))
    made.twin("two", lambda n=number: Equation(n * (x + y) ** 2, n * (x**2 + 3 * x * y + y**2)))
""")
    result = derivations(tmp_path, "--document", "paper", "verify", "paper", "--only", "symbolic", "--json", "new.json")
    assert result.returncode == 1, result.stdout + result.stderr
    rows = {row["id"]: row for row in json.loads((tmp_path / "new.json").read_text())["claims"]}
    wrong = {id for id, row in rows.items() if row["verdict"] != "proved"}
    assert wrong == ({"paper.1", "paper.2"} if needs == "paper.2" else {"paper.1"})
    assert named in rows["paper.1"]["evidence"][0]["detail"]
    assert len(rows) == 3
    for command in (("show", "paper.1"), ("list", "paper")):
        assert derivations(tmp_path, "--document", "paper", *command).returncode == 0


# ── quoted theorems ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_quoted_theorem_is_shown() -> None:
    examination = examine(entry(replace(SQUARE, quotes=(SQUEEZE,))))
    assert examination.steps[0].quotes == (SQUEEZE,)
    assert examination.evidence.scope.endswith("quoting squeeze")
