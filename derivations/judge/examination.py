"""Examination of a derivation, step by step, by the symbolic layer.

A derivation is run once.  Its steps have to be relations of the kernel, each step has to prove itself, and what a proof uses
without proving it (its premises) needs a voucher: an earlier step, a step of a claim that is needed, or a hypothesis that
the step declares.  Any exception becomes an error that names the step; it is never a verdict.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import TypeVar

from derivations.calculus.balls import Point
from derivations.calculus.variables import Variable
from derivations.reader.writing import statement
from derivations.records import rendering
from derivations.records.claims import Outcome, Step, Witness
from derivations.records.theorems import Theorem
from derivations.relations import RELATIONS, Relation, further, same
from derivations.relations.base import HYPOTHESES

PARTS = RELATIONS.union(HYPOTHESES)  # what may be a premise or a hypothesis
MOST_STEPS = 1000  # a derivation with more of them is one that does not end

Steps = Iterator[Relation]
Derivation = Callable[[], Steps]
Result = TypeVar("Result")


class BrokenError(Exception):
    """The author's code raised an exception, or yielded something that is not a statement of the kernel."""


def guarded(name: str, compute: Callable[[], Result]) -> Result:
    """Return `compute()`; raises BrokenError, naming `name`, for any exception except an interrupt."""
    try:
        return compute()
    except (KeyboardInterrupt, BrokenError):
        raise
    except BaseException as error:  # a derivation may also exit, or skip the test that runs it
        raise BrokenError(f"{name}: {type(error).__name__}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    try:
        return (str(error).strip().splitlines() or ["no message"])[0][:300]
    except Exception:
        return "a message that cannot be read"


# ── what was written ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Written:
    """The relations that a derivation yielded in its single run, and the error that ended it, if any."""

    relations: tuple[Relation, ...]
    error: str = ""


@cache
def written(derivation: Derivation) -> Written:
    """The steps of a derivation, each a relation of the kernel and nothing else."""
    steps: list[Relation] = []
    try:
        yielded = iter(guarded("the derivation", derivation))
        while True:
            name = f"step {len(steps) + 1}"
            step = list(guarded(name, lambda: list(islice(yielded, 1))))
            if not step:
                return Written(tuple(steps))
            if len(steps) == MOST_STEPS:
                raise BrokenError(f"the derivation: expected at most {MOST_STEPS} steps, got more")
            steps.append(guarded(name, lambda: of_the_kernel(name, step[0])))  # noqa: B023  (called at once)
    except BrokenError as error:
        return Written(tuple(steps), str(error))
    except TypeError:
        return Written((), "the derivation: expected a function that yields relations, got one that yields nothing")


def of_the_kernel(name: str, relation: object, kinds: Container[type] = RELATIONS) -> Relation:
    """Return a copy of a relation, so that the author cannot change it later; raises BrokenError for any other object."""
    if type(relation) not in kinds:
        raise BrokenError(f"{name}: expected a relation of the kernel, got {type(relation).__name__}")
    assert isinstance(relation, Relation)
    for theorem in relation.quotes:
        if type(theorem) is not Theorem:
            raise BrokenError(f"{name}: quotes: expected theorems, got {type(theorem).__name__}")
    given = tuple(_part(name, hypothesis) for hypothesis in relation.given)
    inside = _disproved if relation.disproved else _part
    return replace(relation.rebuilt(lambda part: inside(name, part)), at=dict(relation.at), given=given)  # type: ignore[arg-type]


def _disproved(name: str, statement: object) -> Relation:
    copied = of_the_kernel(name, statement)
    if copied.disproved:
        raise BrokenError(f"{name}: expected the disproof of a statement, got the disproof of a disproof")
    return copied


def _part(name: str, part: object) -> Relation:
    """Return a copy of a premise, a conclusion or a hypothesis."""
    copied = of_the_kernel(name, part, PARTS)
    if copied.disproved:
        raise BrokenError(f"{name}: expected statements as premises and hypotheses, got a disproof")
    return copied


# ── premises and who vouches for them ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Proved:
    """A proved statement with its hypotheses, the place of its proof, and its indices that must differ from other indices.

    Such indices exist only from some size on: a statement proved for every k ≠ j says nothing if there is only one key.
    """

    relation: Relation
    given: tuple[Relation, ...]
    where: str
    differing: frozenset[Variable] = frozenset()


Support = Callable[[], Iterable[Proved]]  # what the claims that are needed have proved


def statements(relation: Relation, given: tuple[Relation, ...], where: str) -> Iterator[Proved]:
    """Yield what a valid step establishes; for an implication, its conclusion, since its premises were justified elsewhere."""
    if relation.disproved:
        return
    differing = frozenset(v for v in relation.variables() if v.domain.other_than)
    yield from (Proved(each, given, where, differing) for each in replace(relation.stated, given=()).implied())


def vouched(premise: Relation, step: Relation, earlier: Iterable[Proved], support: Support) -> Proved | None:
    """Return the proved statement or hypothesis that justifies a premise of a step; None if there is none."""
    if any(same(premise, hypothesis) for hypothesis in step.given):
        return Proved(premise, (premise,), "a hypothesis")
    about = set(step.variables())

    def says(each: Proved) -> bool:
        return each.differing <= about and same(premise, each.relation)

    here = next(filter(says, earlier), None)
    return here or next(filter(says, support()), None)


# ── the steps ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Run:
    """The result of examining a derivation.

    `given` holds the hypotheses of the last step; `point` and `witness` show where that step fails, if it does.  `faults`
    lists what is wrong, `error` says why the examination stopped.  INCONCLUSIVE without a fault means that the last step is
    well posed but neither proved nor refuted.
    """

    outcome: Outcome
    relations: tuple[Relation, ...] = ()
    steps: tuple[Step, ...] = ()
    proved: tuple[Proved, ...] = ()
    given: tuple[Relation, ...] = ()
    witness: Witness | None = None
    point: Point | None = None
    faults: tuple[str, ...] = ()
    error: str = ""


@dataclass
class _Checked:
    """The result of checking one step, while it is being put together."""

    holds: bool = False
    detail: str = ""
    given: tuple[Relation, ...] = ()
    vouchers: tuple[str, ...] = ()
    witness: Witness | None = None
    point: Point | None = None
    fault: str = ""
    vacuous: bool = False
    proved: list[Proved] = field(default_factory=list)


def run(derivation: Derivation, support: Support) -> Run:
    """Examine a derivation; `support` gives what the claims that it needs have proved."""
    text = written(derivation)
    steps: list[Step] = []
    proved: list[Proved] = []
    faults: list[str] = []
    last = _Checked()
    try:
        for number, relation in enumerate(text.relations, start=1):
            name, final = f"step {number}", number == len(text.relations) and not text.error
            last = guarded(name, lambda: _check(relation, name, final, proved, support))  # noqa: B023  (called at once)
            proved += last.proved
            shown = guarded(name, lambda: str(relation))  # noqa: B023
            steps.append(_step(shown, relation, last))
            if last.fault:
                faults.append(f"{name} does not hold: {shown}: {last.fault}")
    except BrokenError as error:
        return Run(Outcome.ERROR, text.relations, tuple(steps), error=str(error), faults=tuple(faults))
    if text.error:
        return Run(Outcome.ERROR, text.relations, tuple(steps), error=text.error, faults=tuple(faults))
    if not steps:
        return Run(Outcome.VACUOUS, faults=("the derivation has no step",))
    finished = Run(_outcome(steps, last), text.relations, tuple(steps), tuple(proved), last.given, faults=tuple(faults))
    return replace(finished, witness=last.witness, point=last.point) if finished.outcome is Outcome.REFUTED else finished


def _outcome(steps: list[Step], last: _Checked) -> Outcome:
    if any(not step.holds for step in steps[:-1]):
        return Outcome.INCONCLUSIVE
    if last.vacuous:
        return Outcome.VACUOUS
    if last.witness:
        return Outcome.REFUTED
    return Outcome.HOLDS if steps[-1].holds else Outcome.INCONCLUSIVE


def _step(shown: str, relation: Relation, checked: _Checked) -> Step:
    given = tuple(map(str, dict.fromkeys([*relation.core.given, *checked.given])))
    quotes = quotes_of(relation)
    return Step(shown, relation.reason, checked.holds, checked.detail, given, checked.vouchers, quotes, _formula(relation))


def _formula(relation: Relation) -> str:
    """Return the step as LaTeX for readers; an error in writing it is ignored, as it has no bearing on the step."""
    try:
        return statement(relation)
    except Exception:
        return ""


def quotes_of(relation: Relation) -> tuple[Theorem, ...]:
    """Return the theorems that a step quotes, including those that its kind of statement relies on."""
    return tuple(dict.fromkeys(relation.relies_on))


def _check(relation: Relation, name: str, final: bool, earlier: list[Proved], support: Support) -> _Checked:
    if why := relation.malformed():
        return _Checked(detail=why, fault=why)
    if relation.disproved:
        return _disproof(relation, relation.disproved)
    example, holds = relation.counterexample(), relation.prove()
    if relation.at and not example:  # an author's values do not restrict the search
        example = replace(relation, at={}).counterexample()
    tried = ""
    if final and not (example or holds or relation.ill_posed()):
        example, points = further.searched(relation)
        tried = f"no failure at {points}; "
    if holds and not example:
        example = next(filter(None, map(further.beyond, relation.consequences())), None)
    if holds and example:
        raise BrokenError(f"{name}: the kernel contradicts itself: proved, but {rendering.witness(example.witness)}")
    checked = _Checked(holds=holds, given=tuple(relation.given))
    if example:
        checked.witness, checked.point = example.witness, example.point
        checked.detail = checked.fault = rendering.witness(example.witness)
        return checked
    if not holds:
        checked.detail = f"not decided: {tried}{relation.explain()}"
        heard = relation.stated.plain  # of any other statement a vote tests one value only: a coefficient, a limit, a candidate
        checked.fault = "" if final and heard and not relation.ill_posed() else checked.detail
    _vouch(checked, relation, earlier, support)
    if checked.holds:
        checked.proved = list(statements(relation, checked.given, name))
    if final:
        _look_for_sense(checked, relation)
    return checked


def _disproof(relation: Relation, disproved: Relation) -> _Checked:
    example = disproved.counterexample()
    if example is None:
        why = f"not decided: {relation.explain()}"
        return _Checked(detail=why, fault=why)
    return _Checked(holds=True, witness=example.witness, point=example.point)


def _vouch(checked: _Checked, relation: Relation, earlier: list[Proved], support: Support) -> None:
    """Look for a justification of each premise; the hypotheses of the justification become hypotheses of the step."""
    given, vouchers, missing = list(checked.given), [], []
    for premise in relation.premises:
        if by := vouched(premise, relation, earlier, support):
            given += by.given
            vouchers.append(f"{premise}: {by.where}")
        else:
            missing.append(str(premise))
    checked.given, checked.vouchers = tuple(dict.fromkeys(given)), tuple(vouchers)
    if missing:
        checked.holds = False
        accepted = "an earlier step, a statement proved by a claim in `needs`, or a hypothesis in `given`"
        checked.fault = f"premise: expected {accepted}, got {missing[0]}, which is none of these"
        checked.detail = "; ".join(filter(None, [checked.detail, checked.fault]))


def _is_stated_by(hypothesis: Relation, relation: Relation) -> bool:
    """Whether a hypothesis is the statement itself, or a stricter form of it."""
    own = replace(relation.stated, given=())
    return any(same(own, each.relation) for each in statements(hypothesis, (), ""))


def _look_for_sense(checked: _Checked, relation: Relation) -> None:
    """Mark the last step as vacuous if it is trivial, holds at no sample point, or is one of its own hypotheses."""
    if relation.trivial():
        why = "the last step says nothing: both sides are the same expression, as written or once SymPy has simplified them"
    elif replace(relation, given=checked.given).example() is None:  # type: ignore[arg-type]
        why = "no sample point lies in the domain and satisfies hypotheses and premises"
    elif any(_is_stated_by(hypothesis, relation) for hypothesis in checked.given):
        why = "the last step is one of its own hypotheses"
    else:
        return
    checked.vacuous, checked.holds, checked.proved = True, False, []
    checked.detail = checked.fault = why
