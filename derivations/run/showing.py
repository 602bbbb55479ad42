"""The complete text of one claim: statement, derivation step by step, correction, twins, evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from derivations.judge.examination import quotes_of, written
from derivations.ledger import messages
from derivations.ledger.incremental import Reason
from derivations.records import rendering
from derivations.records.base import to_json
from derivations.records.claims import Step
from derivations.records.prints import Check
from derivations.register import source_lines as printed
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import Examination, examine

WIDTH = 9
ORIGIN = 11


def describe(entry: Entry, row: Mapping[str, Any] | None, outdated: Reason | None = None) -> str:
    """Return a claim as text, with the evidence from its ledger row if there is one and, if given, why that is `outdated`."""
    examination = examine(entry)
    claim = entry.claim
    lines = [
        f"{claim.id}  {claim.title}  [{claim.kind}]",
        "",
        f"  {printed.provenance(claim.id) or 'stated':{ORIGIN - 1}} {claim.statement.latex}",
        f"  {'':{ORIGIN}}{claim.statement.text}",
        f"  at         {entry.where}",
    ]
    lines += _print(examination.evidence.print)
    lines += [f"  source     {rendering.source(where)}"] if (where := printed.lines(claim.id)) else []
    lines += [f"  given      {hypothesis}" for hypothesis in (*claim.hypotheses, *examination.evidence.given)]
    lines += [f"  part of    {claim.part_of}"] if claim.part_of else []
    lines += [f"  parts      {', '.join(row['parts'])}"] if row and row["parts"] else []
    lines += [f"  rests on   {', '.join(claim.needs)}"] if claim.needs else []
    lines += [f"  quoting    {name} ({how})" for name, how in quoted(entry).items()]
    lines += ["", "  derivation", *_steps(examination.steps)] if examination.steps else ["", f"  {examination.evidence.detail}"]
    lines += ["", *(f"  fault      {fault}" for fault in examination.faults)] if examination.faults else []
    if claim.correction:
        under = rendering.hypothesis(claim.correction)
        replaced = [f"             for {claim.correction.replaces}"] if claim.correction.replaces else []
        lines += [
            "",
            f"  correct    {claim.correction.statement.latex}{under}",
            f"             {claim.correction.statement.text}",
            *replaced,
            *_print(examination.evidence.print_repair),
            *_steps(examination.repair_steps),
        ]
    recorded, own = (row and row["witness"]) or {}, examination.evidence.witness
    witness = rendering.witness(own) if own else recorded.get("text")
    lines += ["", f"  witness    {witness}"] if witness else []
    lines += ["", "  twins", *_twins(examination, row)] if claim.twins else []
    lines += _evidence(claim.id, row)
    if outdated:
        lines.append(f"  outdated   {messages.reason(outdated)}: run `python -m derivations verify {claim.id}` again")
    return "\n".join(lines)


def _print(check: Check | None) -> list[str]:
    """Return whether the LaTeX agrees with the proved relation, and how it was read."""
    lines = [f"  print      {rendering.standing(to_json(check))}"]
    return [*lines, f"             read as {check.reading}"] if check and check.reading else lines


def _evidence(id: str, row: Mapping[str, Any] | None) -> list[str]:
    if row is None:
        return ["", f"  not verified yet: run `python -m derivations verify {id}`"]
    lines = ["", "  evidence"]
    for e in row["evidence"]:
        lines += [f"    {e['layer']:{WIDTH}} {e['outcome']:12} {e['scope']}  ({e['seconds']:.2f} s, {e['environment']})"]
        lines += [f"        — {e['detail']}"] if e["detail"] and e["layer"] != "symbolic" else []
        lines += [f"        {rendering.power(e)}"] if e.get("power") is not None else []
        lines += [f"        at {e['where']}"] if e.get("where") and e["layer"] != "symbolic" else []
    lines += [f"    {rendering.seal(each)}" for each in row.get("kernel", ())]
    part = f", by its part {row['worst_part']}" if row["worst_part"] else ""
    lines += ["", f"  verified   {row['run']}"] if row.get("run") else [""]
    return [*lines, f"  verdict    {rendering.verdict(row['verdict'], row['severity'])}{part}"]


def _steps(steps: Sequence[Step]) -> list[str]:
    lines = []
    for step in steps:
        lines += [
            f"    {rendering.mark(step.holds)} {step.statement}",
            f"        — {rendering.justification(step.reason)}" + ("" if step.holds else f"  ({step.detail})"),
        ]
        lines += [f"        given {each}" for each in step.given]
        lines += [f"        uses {each}" for each in step.premises]
        lines += [f"        quotes {rendering.theorem(each)}" for each in step.quotes]
    return lines


def _twins(examination: Examination, row: Mapping[str, Any] | None) -> list[str]:
    killers = {twin["name"]: twin["refuted_by"] for twin in row["twins"]} if row else {}
    by_symbols = {name: ["symbolic"] for name in examination.evidence.refuted_twins}
    names = sorted({*killers, *by_symbols})
    return [f"    {name}: {rendering.killers(killers.get(name) or by_symbols.get(name, []))}" for name in names]


def quoted(entry: Entry) -> dict[str, str]:
    """Return the quoted theorems that a claim rests on by name, each with the claim whose derivation quotes it."""
    theorems: dict[str, str] = {}
    reached = [entry.id]
    for id in reached:  # which grows on the way
        other = entry if id == entry.id else entries()[id]
        for theorem in _quotes(other):
            theorems.setdefault(theorem, "directly" if other is entry else f"through {id}")
        reached += [needed for needed in other.needs if needed in entries() and needed not in reached]
    return theorems


def _quotes(entry: Entry) -> Iterable[str]:
    for derivation in filter(None, (entry.derivation, entry.repair)):
        for relation in written(derivation).relations:
            yield from (theorem.name for theorem in quotes_of(relation))
