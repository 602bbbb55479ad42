"""`source.txt`, which assigns every line of a document's source to the claims that state it, or to a reason why none does.

`source.txt` in a document's folder has one entry a line, in the order of the source:

    17-19 | printed | eot.1, eot.2
    20    | none    | heading
    -     | added   | eot.s1.of-our-own

The first column gives lines of the source, the last the claims that state what these lines assert, or the reason why there
are none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from derivations.records import documents
from derivations.records.base import Record

LIST = "source.txt"


class Provenance(StrEnum):
    """Where the statement of a claim comes from."""

    PRINTED = "printed"
    PARAPHRASED = "paraphrased"
    RECONSTRUCTED = "reconstructed"
    ADDED = "added"


NO_CLAIM = "none"


class Passage(Record, frozen=True):
    """Lines of a source, from `first` to `last`, with the claims that state what they assert or the reason why none does.

    A claim that is not in the source has no lines, and `first` is 0.
    """

    first: int
    last: int
    provenance: Provenance | None
    claims: tuple[str, ...] = ()
    reason: str = ""

    @property
    def lines(self) -> str:
        """The lines as text: 17–19."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def parse(text: str) -> tuple[Passage, ...]:
    """Parse the passages of a list.

    Raises ValueError, naming the line, unless it is `lines | status | claims or reason`.
    """
    return tuple(
        _passage(number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    )


def _passage(number: int, line: str) -> Passage:
    cells = [cell.strip() for cell in line.split("|", 2)]
    statuses = (NO_CLAIM, *Provenance)
    if len(cells) != 3 or cells[1] not in statuses or not cells[2]:
        raise ValueError(f"{LIST}, line {number}: expected lines | {' or '.join(statuses)} | claims or reason, got {line!r}")
    where, status, rest = cells
    first, last = _lines(number, where, status)
    if status == NO_CLAIM:
        return Passage(first, last, None, reason=rest)
    return Passage(first, last, Provenance(status), tuple(id.strip() for id in rest.split(",")))


def _lines(number: int, where: str, status: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", where)
    if (where == "-") != (status == Provenance.ADDED) or not (match or where == "-"):
        raise ValueError(f"{LIST}, line {number}: expected lines such as 17 or 17-19, and - for what is added, got {where!r}")
    if not match:
        return 0, 0
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last:
        raise ValueError(f"{LIST}, line {number}: expected lines that ascend from 1, got {where!r}")
    return first, last


@cache
def passages(document: str) -> tuple[Passage, ...]:
    """The list of a document; empty for a document that has none."""
    path = Path(str(documents.package(document).__file__)).with_name(LIST)
    return parse(path.read_text(encoding="utf-8")) if path.is_file() else ()


@cache
def _by_claim(document: str) -> Mapping[str, Sequence[Passage]]:
    by_id: dict[str, list[Passage]] = {}
    for passage in passages(document):
        for id in passage.claims:
            by_id.setdefault(id, []).append(passage)
    return by_id


def provenance(id: str) -> Provenance | None:
    """Return where the statement of a claim comes from; None if its document has no `source.txt`."""
    return next((passage.provenance for passage in _by_claim(id.split(".", 1)[0]).get(id, ())), None)


def lines(id: str) -> tuple[str, ...]:
    """The lines of the source that a claim states: 17–19, 40."""
    return tuple(passage.lines for passage in _by_claim(id.split(".", 1)[0]).get(id, ()) if passage.first)


def faults(listed: Sequence[Passage], source: str, claims: Sequence[str]) -> Iterator[str]:
    """Return what is wrong with the passages, given the text of the source and the ids of the document's claims."""
    covered = {number for passage in listed for number in range(passage.first, passage.last + 1)}
    printed = {number for number, line in enumerate(source.splitlines(), start=1) if line.strip()}
    for number in sorted(printed - covered):
        yield f"line {number} of the source: expected a claim or a reason why it has none, got neither"
    for number in sorted(covered - {0} - set(range(1, len(source.splitlines()) + 1))):
        yield f"line {number}: expected a line of the source, which has {len(source.splitlines())}"
    named = {id: {p.provenance for p in listed if id in p.claims} for passage in listed for id in passage.claims}
    for id in claims:
        if id not in named:
            yield f"{id}: expected its lines in the source, or `- | added`, got neither"
    for id, statuses in named.items():
        if id not in claims:
            yield f"{id}: expected a claim of the document, got an unknown id"
        if len(statuses) > 1:
            yield f"{id}: expected one status, got {' and '.join(sorted(map(str, statuses)))}"
