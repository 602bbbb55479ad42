"""The kernel layer: claims with a theorem that Rocq accepted, exported or handwritten, and faults, if there are any.

It has no vote.  Where an exported statement does not say what its relation says, where a theorem rests on a foreign axiom,
where the library does not compile, or where Rocq accepts what the symbolic layer refutes, that is a fault of the run.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from derivations.records.seals import About, Seal, SealOutcome
from derivations.register.catalogue import entries, ordered
from derivations.register.entry import Entry
from derivations.rocq.checking import Checked, checked, foreign, headlines_checked
from derivations.rocq.export import HEADER, Theorem
from derivations.rocq.exports import exports
from derivations.rocq.headline import Headline, headlines
from derivations.rocq.library import Library, built, cache_folder, refused, sources, version

LONGEST = 1500  # letters of the goal that a failed proof left


@dataclass
class Findings:
    """The seals by claim, the faults, and a summary in one line."""

    seals: dict[str, list[Seal]] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)

    def accepted(self) -> list[str]:
        """The claims with a theorem that was accepted."""
        return [id for id, seals in self.seals.items() if any(seal.outcome is SealOutcome.ACCEPTED for seal in seals)]


def check(ids: Iterable[str], workers: int, progress: Callable[[int], None] = lambda done: None) -> Findings:
    """Rocq's findings about these claims; raises MissingError without Rocq."""
    claims = {id: entries()[id] for id in ordered(ids)}
    texts = sources()
    findings = Findings(alarms=refused(texts))
    version()  # whether there is a Rocq, before there is work for it
    with ThreadPoolExecutor(1) as beside:
        building = beside.submit(built, workers=max(1, workers - 1))  # the export is a process of its own
        theorems = _exported(claims, findings)
    library = building.result()
    findings.alarms += [f"formal/theories/{name}.v does not compile: {why}" for name, why in library.broken.items()]
    answers = checked(list(theorems.values()), library, workers, progress=progress)
    for id, each in theorems.items():
        findings.seals[id] = [_seal(claims[id], each, answers[each.name], findings)]
    by_hand = [each for name, text in texts.items() for each in headlines(name, text)]
    findings.alarms += [
        f"formal/theories/{each.file}.v:{each.line}: expected the id of a claim, got {each.claim}"
        for each in by_hand
        if each.claim not in entries()
    ]
    _add_headlines([each for each in by_hand if each.claim in claims], library, findings)
    return findings


def _exported(claims: Mapping[str, Entry], findings: Findings) -> dict[str, Theorem]:
    theorems = {}
    for id, each in exports(claims):
        about = _about(claims[id])
        if each.not_exported:
            findings.seals[id] = [Seal("", about, SealOutcome.NOT_EXPORTED, detail=each.not_exported)]
        elif each.wrong:
            findings.seals[id] = [Seal(each.name, about, SealOutcome.DISAGREES, detail=each.wrong)]
            findings.alarms.append(f"{id}: the exported statement is not the relation: {each.wrong}")
        else:
            theorems[id] = each.theorem
    return theorems


def _about(entry: Entry) -> About:
    return About.CORRECTION if entry.repair else About.PRINT


def _seal(entry: Entry, made: Theorem, answer: Checked, findings: Findings) -> Seal:
    if not answer.accepted:
        if other := foreign(answer.assumptions):
            findings.alarms.append(f"{entry.id}: the exported theorem rests on the axiom {other[0]}")
        return Seal(
            made.name, _about(entry), SealOutcome.INCONCLUSIVE, "", answer.assumptions, answer.seconds, answer.detail[:LONGEST]
        )
    folder = cache_folder() / "exported"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{made.name}.v"
    file.write_text(HEADER + "\n" + made.source, encoding="utf-8")
    line = HEADER.count("\n") + 2
    return Seal(made.name, _about(entry), SealOutcome.ACCEPTED, f"{file}:{line}", answer.assumptions, answer.seconds)


def _add_headlines(by_hand: Sequence[Headline], library: Library, findings: Findings) -> None:
    for each, answer in headlines_checked(by_hand, library).items():
        where = f"formal/theories/{each.file}.v:{each.line}"
        outcome = SealOutcome.ACCEPTED if answer.accepted else SealOutcome.INCONCLUSIVE
        if not answer.accepted and each.file not in library.broken:
            findings.alarms.append(f"{where}: {each.theorem}: {answer.detail}")
        findings.seals.setdefault(each.claim, []).append(
            Seal(each.theorem, About.BY_HAND, outcome, where, answer.assumptions, answer.seconds, answer.detail[:LONGEST])
        )


def coverage(findings: Findings) -> list[str]:
    """How many claims of each document have which outcome, a line each; a claim with several theorems has its best."""
    order = list(SealOutcome)
    counts: dict[str, Counter[SealOutcome]] = {}
    for id, seals in findings.seals.items():
        best = min((seal.outcome for seal in seals), key=order.index)
        counts.setdefault(id.split(".", 1)[0], Counter())[best] += 1
    return [
        f"{document}: " + ", ".join(f"{own[outcome]} {outcome}" for outcome in order if own[outcome])
        for document, own in sorted(counts.items())
    ]


def summary(findings: Findings, verdicts: Mapping[str, str]) -> str:
    """One line: the number of accepted theorems, and how many proved claims have one."""
    accepted = set(findings.accepted())
    proved = [id for id, verdict in verdicts.items() if verdict == "proved"]
    sealed = sum(id in accepted for id in proved)
    by_hand = sum(
        seal.about is About.BY_HAND and seal.outcome is SealOutcome.ACCEPTED
        for seals in findings.seals.values()
        for seal in seals
    )
    return (
        f"kernel: Rocq {version()} accepts theorems about {len(accepted)} claims ({by_hand} theorems by hand), "
        f"among them {sealed} of the {len(proved)} that are proved"
    )
