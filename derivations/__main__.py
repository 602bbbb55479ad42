"""The command line: python -m derivations verify | list | show | read | new | kernel | report | mutants | notebooks | …."""

import contextlib
import gc
import io
import os
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from derivations.ledger import baseline, incremental, ledger, messages, shards
from derivations.ledger.journal import place
from derivations.ledger.rows import settle, states
from derivations.records import rendering
from derivations.records.base import to_json
from derivations.records.documents import DOCUMENTS, VARIABLE, checks, documents
from derivations.register import selection
from derivations.register.catalogue import claims_of, entries, parts_of, title_and_place
from derivations.register.loading import SELDOM, LoadingError, check_interpreter
from derivations.register.selection import needs_of, selected
from derivations.run.options import last_ledger, read_ledger

LEDGER = Path("ledger.json")
MOST = 3  # changed files that are named
# Plugins that `verify` does not need: it has its own progress bar and ledger, and unraisable exceptions cost half a second.
WITHOUT = ("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:unraisableexception")
FEW = 12  # claims for which starting workers costs more than it saves


ELSEWHERE = {
    "kernel": "derivations.rocq.command",
    "merge": "derivations.ledger.shards",
    "mutants": "derivations.run.power",
    "notebooks": "derivations.run.notebooks",
    "print": "derivations.run.prints",
    "report": "derivations.report.site",
}


NAMES = {"print": "print_"}  # commands whose functions need another name


class Commands(click.Group):
    """The commands of this module, and those of the modules in `ELSEWHERE`, which are imported only when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, if there is one."""
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(ELSEWHERE[cmd_name]), NAMES.get(cmd_name, cmd_name))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a document that cannot be loaded is bad input."""
        try:
            return super().invoke(ctx)
        except LoadingError as error:
            raise click.UsageError(str(error)) from None


@click.group(cls=Commands)
@click.option("--document", "folders", multiple=True, metavar="FOLDER", help="a document of your own; may be repeated")
def main(folders: tuple[str, ...]) -> None:
    """Check, line by line, the documents that explain attention as optimization."""
    try:
        check_interpreter()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    add(map(Path, folders))


def add(folders: Iterable[Path]) -> None:
    """Add documents, for test processes too; raises click.UsageError for a folder that is not a document."""
    named = [os.environ.get(VARIABLE, ""), *(str(folder.resolve()) for folder in folders)]
    os.environ[VARIABLE] = os.pathsep.join(filter(None, named))
    try:
        documents()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def known(name: str) -> str:
    """Return the name if it is the id of a claim or the key of a document; raises click.UsageError otherwise."""
    try:
        return selection.known(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def last_run(path: Path, ids: Collection[str]) -> tuple[dict[str, dict[str, Any]], dict[str, incremental.Reason]]:
    """Return the last run's rows of unchanged claims among these, by id, and why some are outdated.

    Both are empty before the first run.  Only claims whose sources changed, or the list of their parts, are loaded.
    """
    if (written := last_ledger(path)) is None:
        return {}, {}
    rows = [row for row in written["claims"] if row["id"] in ids]
    outdated = incremental.outdated_rows(incremental.project(), {**written, "claims": rows})
    changed = {row["id"] for row in rows if row["id"] in outdated or row["parts"] != parts_of(row["id"])}
    kept = settle([row for row in rows if row["id"] not in changed or states(row, entries()[row["id"]])])
    return {row["id"]: row for row in kept}, {row["id"]: outdated[row["id"]] for row in kept if row["id"] in outdated}


def load_baseline() -> dict[str, baseline.Kept]:
    """Return the committed baselines; raises click.UsageError if one of them is not valid."""
    try:
        return baseline.load()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="where to write the ledger")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--quick", is_flag=True, help="fewer random instances and model rows")
@click.option("--model", help="a model folder or hub name to capture from, instead of the pretrained encoder")
@click.option("--incremental", "again", is_flag=True, help="run only what a change touched since the ledger was written")
@click.option("--watch", is_flag=True, help="after every change of a source, verify again what it affects")
@click.option("--only", type=click.Choice(["symbolic"]), help="run only the derivations, no numeric layer")
@click.option("--kernel", "sealing", is_flag=True, help="also ask Rocq's kernel, where it is installed; it has no vote")
@click.option("-n", "--workers", type=click.IntRange(0), help="worker processes, or 0; default: all cores for many claims")
@click.option("--shard", metavar="I/K", help="only the I-th of K shards, one for each machine; `merge` joins their ledgers")
@click.option("--balance", type=Path, metavar="LEDGER", help="make the shards equally long by the seconds in this ledger")
def verify(
    ids: tuple[str, ...],
    path: Path,
    device: str,
    quick: bool,
    model: str | None,
    again: bool,
    watch: bool,
    only: str | None,
    sealing: bool,
    workers: int | None,
    shard: str | None,
    balance: Path | None,
) -> None:
    """Run every layer that votes on the claims, and write the ledger."""
    requested = [known(name) for name in ids] or list(documents())
    chosen = requested if shard is None else shards.shard_of(requested, shard, balance)
    if balance and not shard:
        raise click.UsageError(f"--balance: expected --shard beside it, got {balance} alone")
    if watch:
        return keep_verifying()
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"--json: expected a file in an existing folder, got {path}")
    if again and not place(path).exists():  # else the journal of an interrupted run is taken up first
        again = reusable(path, chosen, ledger.settings(device, quick, model))
    import pytest  # here, since no other command needs it

    from derivations.run.progress import Progress

    arguments = [
        *voters(only),
        *WITHOUT,
        f"--claims={','.join(chosen)}",
        f"--ledger={path}",
        f"--device={device}",
        f"-n{processes(chosen) if workers is None else workers}",
    ]
    arguments += [f"--incremental={path}"] if again else []
    arguments += ["--quick"] if quick else []
    arguments += [f"--model={model}"] if model else []
    arguments += [f"--shard={shard}", f"--asked={','.join(requested)}"] if shard else []
    progress, stderr, status = Progress(), io.StringIO(), pytest.ExitCode.INTERRUPTED
    with contextlib.redirect_stderr(stderr), progress.interruptible():
        status = pytest.ExitCode(pytest.main(arguments, plugins=[progress]))
    if status == pytest.ExitCode.USAGE_ERROR:
        raise click.UsageError(stderr.getvalue().strip().removeprefix("ERROR: "))
    click.echo(stderr.getvalue(), err=True, nl=False)
    if progress.interrupted or (status == pytest.ExitCode.INTERRUPTED and not progress.failures):
        click.echo(f"interrupted: {kept_in(place(path))}", err=True)
        raise SystemExit(128 + (progress.interrupted or signal.SIGINT))
    if progress.collector is None or progress.collector.result is None:
        click.echo("verify: no verdict was reached: " + "; ".join(progress.failures or ["no test ran"]), err=True)
        raise SystemExit(1)
    result, alarms = seal(progress.collector.result, path) if sealing else (progress.collector.result, [])
    summarize(result, path)
    if keeper := progress.collector.keeper:
        explain(keeper.before or {}, result, keeper.stay)
    for line in [*progress.failures, *progress.collector.problems, *alarms]:
        click.secho(f"FAILED  {line}", fg="red")
    raise SystemExit(0 if status == pytest.ExitCode.OK and not alarms else 1)


def kept_in(journal: Path) -> str:
    """Say what is kept of a run that was interrupted."""
    votes = journal.read_text(encoding="utf-8").count("\n") - 1 if journal.exists() else 0
    return f"{votes} checks are kept in {journal}; the next `verify` goes on from there" if votes > 0 else "no check had ended"


def seal(result: dict[str, Any], path: Path) -> tuple[dict[str, Any], list[str]]:
    """Add the results of Rocq's kernel to the ledger and write it; return it with the alarms.  No verdict depends on them."""
    from derivations.rocq import belief, layer
    from derivations.rocq.library import MissingError

    try:
        findings = layer.check([row["id"] for row in result["claims"]], os.cpu_count() or 1)
    except MissingError as why:
        click.echo(why)
        return result, []
    rows = [{**row, "kernel": to_json(findings.seals.get(row["id"], []))} for row in result["claims"]]
    sealed = {**result, **ledger.assemble(rows, result["environment"])}
    written, seals = ledger.read(path), {row["id"]: row for row in rows}
    own = [{**row, "kernel": seals.get(row["id"], row).get("kernel", [])} for row in written["claims"]]
    ledger.write({**written, **ledger.assemble(own, written["environment"], written["documents"])}, path)
    differ = belief.differences(*belief.of_rows(rows))
    click.echo("\n".join([layer.summary(findings, {row["id"]: row["verdict"] for row in rows}), *belief.described(differ)]))
    return sealed, [*findings.alarms, *belief.alarms(differ)]


def keep_verifying() -> None:
    """Verify again after every change of the sources, with the options of this command, until interrupted."""
    from derivations.run.watching import rerun

    arguments = [argument for argument in sys.argv[1:] if argument != "--watch"]
    rerun([sys.executable, "-m", "derivations", *arguments, "--incremental"], incremental.folders().values())


def voters(only: str | None) -> list[str]:
    """Return pytest's arguments for the tests that vote on claims: their files and their settings."""
    files = incremental.voting_files()
    if only:
        return [str(files[only]), "-c", str(files[only].with_name("pytest.ini"))]
    if not files["votes"].is_file():
        raise click.UsageError(f"verify: expected the package evidence beside derivations, got none in {incremental.ROOT}")
    return [*map(str, files.values()), "-c", str(files["votes"].with_name("pytest.ini"))]


def processes(names: list[str]) -> int:
    """Return the number of worker processes: 0, this process alone, for a few claims; else one per core."""
    return 0 if len(selected(",".join(names))) <= FEW else os.cpu_count() or 1


def reusable(path: Path, names: list[str], settings: dict[str, Any]) -> bool:
    """Return whether rows of the last ledger can be reused; ends the command, reporting them, if nothing changed at all."""
    if not path.exists():
        click.echo(f"{path} does not exist: everything is run")
        return False
    before = read_ledger(path)
    sources, needs = incremental.project(), needs_of(selected(",".join(names)))
    voting = {*(f"evidence.{document}" for document in DOCUMENTS), *checks()}
    asked = [row["id"] for row in before["claims"] if row["id"] in needs or row["document"] in names]
    last = ledger.current(before, asked)
    all_stated = {row["id"] for row in last["claims"]}.issuperset(asked)
    stale = incremental.stale(last, sources, needs, settings=settings)
    if not all_stated or stale or incremental.may_have_new_votes(sources, last, voting):
        return True
    reused = ledger.assemble([row for row in last["claims"] if row["id"] in needs], last["environment"])
    click.echo(f"nothing changed: {len(reused['claims'])} claims reused")
    problems = baseline.problems(reused, load_baseline())
    for line in problems:
        click.secho(f"FAILED  {line}", fg="red")
    raise SystemExit(1 if problems else 0)


def summarize(result: dict[str, Any], path: Path) -> None:
    """Print one line per document, then every claim that is not green."""
    good = ledger.green(result)
    for document in result["summary"]["by_document"]:
        click.echo(messages.verdicts(document, (row["verdict"] for row in result["claims"] if row["document"] == document)))
    for row in result["claims"]:
        if row["id"] not in good:
            severity = f" ({row['severity']})" if row["severity"] else ""
            click.echo(f"  {row['verdict'] + severity:26} {row['id']:28} {row['title']}")
    if counts := result["summary"]["quoting"]:
        counted = " and ".join(f"{count} {how}" for how, count in counts.items())
        click.echo(f"{sum(counts.values())} claims rest on quoted theorems: {counted}")
    if counts := result["summary"]["printed"]:
        counted = ", ".join(f"{count} {how}" for how, count in counts.items())
        click.echo(f"prints beside their relations: {counted}")
    if run_again := result["environment"].get("incremental"):
        reason = f" (because {run_again['because']})" if run_again["because"] else ""
        click.echo(f"re-ran {run_again['ran']} of {len(result['claims'])} claims{reason}, reused the rest")
    skipped = sum(result["environment"]["skipped"].values())
    click.echo(f"{path} written; {skipped} tests skipped; {result['environment']['seconds']:.0f} s")


def explain(written: dict[str, Any], result: dict[str, Any], stay: list[str]) -> None:
    """Print what the ledger has besides the rows of a run, and which of them it does not have."""
    own = {row["id"] for row in result["claims"]}
    if others := len({row["id"] for row in written.get("claims", ())} - own):
        click.echo(f"the rows of {others} other claims are those of earlier runs")
    if stay:
        more = f" and {len(stay) - MOST} more" if len(stay) > MOST else ""
        click.echo(f"the fuller rows of earlier runs stay for {', '.join(stay[:MOST])}{more}")


@main.command(name="list")
@click.argument("document", required=False)
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to read verdicts from")
@click.option("--long", "places", is_flag=True, help="with file and line of each claim and of each of its votes")
def list_claims(document: str | None, path: Path, places: bool) -> None:
    """Print every claim's id with its verdict in the last run, and what changed since then below it."""
    if document is not None and document not in documents():
        raise click.UsageError(f"DOCUMENT: expected one of {', '.join(documents())}, got {document}")
    listed = list(entries()) if document is None else claims_of(document)
    rows, outdated = last_run(path, set(listed))
    for id in listed:
        mark = "" if id not in rows or rows[id].get("print") else f"  (print {rendering.UNCOMPARED})"
        mark += f"  (outdated: {messages.reason(outdated[id])})" if id in outdated else ""
        title, own = title_and_place(id)
        click.echo(f"{id:30} {rows[id]['verdict'] if id in rows else 'not verified':13} {title}{mark}")
        votes = [vote["where"] for vote in rows[id]["evidence"] if vote.get("where")] if id in rows else []
        for where in dict.fromkeys([own, *votes]) if places else ():
            click.echo(f"    {where}")


@main.command()
@click.argument("id")
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to read evidence from")
def show(id: str, path: Path) -> None:
    """Print one claim whole: statement, derivation, correction, witness, twins, evidence."""
    from derivations.run.showing import describe

    if known(id) in documents():
        raise click.UsageError(f"ID: expected the id of one claim, got the document {id}")
    rows, outdated = last_run(path, {id, *parts_of(id)})
    click.echo(describe(entries()[id], rows.get(id), outdated.get(id)))


@main.command()
@click.argument("ids", nargs=-1, metavar="[ID|DOCUMENT]...")
@click.option("--json", "path", type=Path, default=LEDGER, show_default=True, help="the ledger to compare")
@click.option("--accept", is_flag=True, help="make this ledger the baseline")
def regress(ids: tuple[str, ...], path: Path, accept: bool) -> None:
    """Compare a ledger, or some of its claims, with the committed baseline, or make them the baseline."""
    from derivations.ledger import regression
    from derivations.ledger.differences import Change

    if accept and regression.in_ci():
        raise click.UsageError("--accept: no baseline is changed in CI")
    chosen = selected(",".join(map(known, ids)))
    if not path.exists():
        raise click.UsageError(f"--json: {path} does not exist; `verify` writes it")
    now = read_ledger(path)
    now = {
        **now,
        "claims": [row for row in now["claims"] if row["document"] in documents() and (row["id"] in chosen or not ids)],
    }
    if unknown := ledger.unknown_ids(now["claims"]):
        raise click.UsageError(f"--json: {path}: {unknown[0]} is no claim of an installed document; verify it again")
    if missing := chosen.difference(row["id"] for row in now["claims"]):
        raise click.UsageError(f"--json: {path} has no row of {min(missing)}; verify it first")
    before = {id: kept for id, kept in load_baseline().items() if not ids or {id, id.split(".", 1)[0]} & {*ids, *chosen}}
    age = outdated_by(now)
    if accept and (why := baseline.rejection(now, before) or (age and f"expected an up-to-date ledger, got one that {age}")):
        raise click.UsageError(f"--accept: {path}: {why}")
    comparison = regression.compare(now, before)
    click.echo(messages.comparison(comparison))
    if warning := age or ("" if "files" in now else "does not record its source files"):
        click.secho(f"{path} {warning}: `verify --incremental` brings it up to date", fg="yellow")
    if accept:
        regression.accept(now, before)
        counts = Counter(comparison.classes.values())
        counted = ", ".join(f"{counts[change]} {change}" for change in Change if counts[change])
        click.echo(f"accepted {len(comparison.classes)} changes{': ' + counted if counted else ''}")
    raise SystemExit(1 if (comparison.failed or age) and not accept else 0)


def outdated_by(now: dict[str, Any]) -> str:
    """Return in what a ledger differs from what a run would say now, as far as is known without one; empty if in nothing."""
    if restated := [row["id"] for row in now["claims"] if row["id"] in entries() and not states(row, entries()[row["id"]])]:
        return f"has another statement of {restated[0]} than the document has now"
    changed = sorted(incremental.outdated(incremental.project(), now))
    more = f" and {len(changed) - MOST} more" if len(changed) > MOST else ""
    return f"is older than {', '.join(changed[:MOST])}{more}" if changed else ""


@main.command()
@click.argument("paper", type=Path)
@click.argument("folder", type=Path)
def new(paper: Path, folder: Path) -> None:
    """Make a document of a LaTeX paper, or bring it up to date, and examine its equations."""
    from derivations.papers.first_run import first_run
    from derivations.papers.new import create

    try:
        equations = create(paper, folder)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    click.echo(f"{folder}: {len(equations)} equations; {folder / 'notation.py'} says what their symbols are taken for")
    add([folder])
    first_run(folder.name)


@main.command()
@click.argument("document")
def read(document: str) -> None:
    """Examine the claims of a document by their derivations alone and print one line each; meant for a paper just imported."""
    from derivations.papers.first_run import first_run

    if document not in documents():
        raise click.UsageError(f"DOCUMENT: expected one of {', '.join(documents())}, got {document}")
    first_run(document)


def run() -> None:
    """Run the command line; bad input prints one line and exits with status 2."""
    gc.set_threshold(*SELDOM)
    try:
        status = main(standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        status = 2
    except (click.Abort, KeyboardInterrupt):
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    run()
