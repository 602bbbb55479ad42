"""Registration of claims: `@claim` adds one with its derivation, `reprint` one that is printed elsewhere too.

A derivation is a function that yields relations, one fact a step; the last one is the statement itself (or `Fails`,
when it is false).  Its docstring is the statement in our own words.  See the README for how to add one.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from msgspec.structs import asdict
from msgspec.structs import replace as updated

from derivations.judge.examination import Steps as Steps
from derivations.records.claims import Kind, Statement
from derivations.register import catalogue
from derivations.register.contents import registration
from derivations.register.entry import Entry, checked_function, given, last_relation, sentence
from derivations.register.wording import check_lists, check_words, is_id


@dataclass(frozen=True)
class Undecidable:
    """Returned by a derivation whose statement no proof or experiment could settle; `reason` says why."""

    reason: str


def _new(id: object, module: str) -> None:
    """Check that `id` is a valid id and registered neither yet nor by another chapter; raises ValueError otherwise."""
    if not is_id(id):
        raise ValueError(
            f"claim: expected an id like eot.59 or eot.s7.fisher-scaled, in letters and digits with dots, hyphens "
            f"and underscores between them, got {id!r}"
        )
    chapter = registration(str(id))
    if id in catalogue.ENTRIES or (chapter is not None and chapter.module != module):
        raise ValueError(f"claim: duplicate id {id}")


def claim(
    id: str,
    kind: str,
    *,
    title: str,
    latex: str,
    hypotheses: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    part_of: str | None = None,
) -> Callable[[Callable[[], Steps | Undecidable | None]], Entry]:
    """Register a claim; the decorated derivation yields its steps.

    A function that returns None leaves the claim to the numeric layers; one that returns `Undecidable` says why no layer
    can decide it.  `part_of` is the id of the printed statement that this claim is a part of; that statement shows the
    worst verdict of its parts.  Raises ValueError for an invalid or repeated id, an unknown kind, and empty text.
    """

    def register(function: Callable[[], Steps | Undecidable | None]) -> Entry:
        checked_function("claim", id, function)
        _new(id, function.__module__)
        check_words(id, title=title, latex=latex)
        check_lists(id, hypotheses=hypotheses, needs=needs)
        first = function()
        entry = Entry(
            id=id,
            kind=Kind(kind),
            title=title,
            latex=latex,
            hypotheses=hypotheses,
            needs=needs,
            derivation=None if first is None or isinstance(first, Undecidable) else function,  # type: ignore[arg-type]
            statement=sentence(function),
            module=function.__module__,
            line=function.__code__.co_firstlineno,
            undecidable=first.reason if isinstance(first, Undecidable) else None,
            part_of=part_of,
        )
        catalogue.ENTRIES[id] = entry
        return entry

    return register


def reprint(
    id: str,
    of: Entry,
    *,
    latex: str,
    title: str | None = None,
    statement: str | None = None,
    hypotheses: tuple[str, ...] | None = None,
    implying: Mapping[str, str] | None = None,
    correction: Statement | None = None,
    part_of: str | None = None,
) -> Entry:
    """Register a statement that is printed a second time; it shares the derivation, twins and correction of `of`.

    Pass `title`, `statement`, `hypotheses` or `correction` if the second print differs in them.  Each hypothesis of the
    original must be kept, or `implying` must map it to a hypothesis printed here that implies it.  The reprint of a
    disproof may not add hypotheses, since they might exclude the point of failure.  Raises ValueError in the cases of
    `claim`, for a missing or additional hypothesis, and for a `correction` where the original has none.
    """
    caller = sys._getframe(1)  # its line is the claim's: there is no function of the author's
    _new(id, caller.f_globals["__name__"])
    check_words(id, latex=latex, **given(title=title, statement=statement))
    check_words(id, **(asdict(correction) if correction else {}))
    check_lists(id, **given(hypotheses=hypotheses))
    if correction and not of.correction:
        raise ValueError(f"correction: not allowed for {id}, since {of.id} has none")
    new = set(hypotheses or ()) - {*of.hypotheses, *(implying or {}).values()}
    if new and (last := last_relation(of.derivation)) and last.disproved:
        raise ValueError(
            f"hypotheses: {id} takes over the disproof of {of.id}: expected those printed there, as another one "
            f"may exclude the point where it fails, got {min(new)!r}"
        )
    if hypotheses is not None:
        preserved = {*hypotheses, *(old for old, new in (implying or {}).items() if new in hypotheses)}
        if missing := [each for each in of.hypotheses if each not in preserved]:
            raise ValueError(
                f"hypotheses: {id} takes over the derivation of {of.id}: expected its hypothesis {missing[0]!r}, "
                "or one that is `implying` it, got neither"
            )
    repaired = updated(of.correction, statement=correction) if correction and of.correction else None
    own = given(title=title, statement=statement, hypotheses=hypotheses, correction=repaired)
    catalogue.ENTRIES[id] = replace(
        of,
        id=id,
        latex=latex,
        needs=(of.id,),
        grounds=of.supporting,
        twins=dict(of.twins),
        module=caller.f_globals["__name__"],
        line=caller.f_lineno,
        part_of=part_of,
        **own,
    )
    return catalogue.ENTRIES[id]
