"""The command `kernel`: Rocq's answers to the claims, and to mutants, none of which it may accept."""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random

import click

from derivations.judge.examination import written
from derivations.judge.mutants import Fate, mutants, tried
from derivations.ledger import baseline
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.selection import named
from derivations.relations import Relation
from derivations.rocq import belief
from derivations.rocq.checking import checked
from derivations.rocq.export import Theorem, theorem
from derivations.rocq.layer import check, coverage, summary
from derivations.rocq.library import MissingError, built
from derivations.rocq.readback import disagreement
from derivations.rocq.terms import NotExportedError

EACH = 4  # mutants of one claim


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--mutants", "sample", type=click.IntRange(1), help="so many mutants that are refuted: none may be accepted")
@click.option("-n", "--workers", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
def kernel(ids: tuple[str, ...], sample: int | None, workers: int) -> None:
    """Check claims with Rocq's kernel, by exported theorems and by those of formal/."""
    try:
        selected = named(ids)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        alarms = _mutants(selected, sample, workers) if sample else _claims(selected, workers)
    except MissingError as why:
        click.echo(why)
        return
    for line in alarms:
        click.secho(f"FAILED  {line}", fg="red")
    raise SystemExit(1 if alarms else 0)


def _claims(selected: Sequence[str], workers: int) -> list[str]:
    findings = check(selected, workers, progress=_progress)
    for line in (*coverage(findings), *belief.reasons(findings.seals)):
        click.echo(line)
    for id, seals in findings.seals.items():
        for seal in seals if len(selected) == 1 else ():
            click.echo(f"{seal.outcome}  {id}  {seal.theorem} {seal.where} ({seal.seconds:.1f} s)\n{seal.detail}".rstrip())
    click.echo(summary(findings, {}).split(", among")[0])
    differ = belief.differences(findings.seals, {id: belief.of_baseline(accepted) for id, accepted in baseline.load().items()})
    click.echo("\n".join(belief.described(differ)))
    return [*findings.alarms, *belief.alarms(differ)]


def _progress(done: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done} theorems", nl=False, err=True)


def _mutants(selected: Sequence[str], sample: int, workers: int) -> list[str]:
    """The mutants of accepted statements that Rocq accepts although an exact point refutes them."""
    library, chosen = built(), []
    order = check(selected, workers, progress=_progress).accepted()
    Random(0).shuffle(order)
    for id in order:
        chosen += list(islice(wrong_theorems(entries()[id]), EACH))
        if len(chosen) >= sample:
            break
    answers = checked([made for made, _ in chosen[:sample]], library, workers, progress=_progress)
    accepted = [
        f"{name}: Rocq accepts what is refuted: {text}"
        for made, text in chosen[:sample]
        if (name := made.name) and answers[made.name].accepted
    ]
    click.echo(f"kernel: {len(chosen[:sample])} refuted mutants exported, {len(accepted)} accepted")
    return accepted


def wrong_theorems(entry: Entry) -> Iterator[tuple[Theorem, str]]:
    """The theorems of refuted relations: one-edit mutants of a statement that Rocq accepts, and a refuted print."""
    for number, (relation, text) in enumerate(_refuted(entry)):
        try:
            made = theorem(f"{entry.id}.wrong{number}", relation)
            if not disagreement(made, relation):
                yield made, text
        except NotExportedError:
            continue


def _refuted(entry: Entry) -> Iterator[tuple[Relation, str]]:
    derivation = entry.repair or entry.derivation
    last = written(derivation).relations[-1:] if derivation else ()
    if entry.derivation and (print_ := written(entry.derivation).relations[-1:]) and (disproved := print_[0].disproved):
        yield disproved, f"the print of {entry.id}"
    if last and last[0].plain and entry.twins:
        relation = last[0]
        fates = {trial.name: trial.fate for trial in tried(relation, [make().at for make in entry.twins.values()])}
        yield from ((each.relation, each.name) for each in mutants(relation) if fates.get(each.name) is Fate.REFUTED)
