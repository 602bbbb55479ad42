"""python -m tests.mutation [MODULE ...]: exit status 1 if a mutant survives that `equivalent.toml` does not explain, or if
`--missing` finds modules without figures."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything numeric is imported

import json
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tests.mutation.edits import Mutant, digest_of, mutants
from tests.mutation.reach import Reach, recorded
from tests.mutation.targets import ROOT, mirror_of, modules, path_of, tests_of
from tests.mutation.trial import preload, reaching_of, tried

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
MEASURED = ROOT / "docs" / "edges.json"
FIELDS = ("killed", "equivalent", "survived")


def equivalents() -> dict[str, Mapping[str, str]]:
    """The mutants that no test can distinguish from the original, by key, each with its reason."""
    return {entry["key"]: entry for entry in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])}


def chosen(candidates: Sequence[Mutant], sample: int | None) -> list[Mutant]:
    """All mutants, or a sample: those with the first keys, which is pseudorandom and constant until a source changes."""
    return list(candidates) if sample is None else sorted(candidates, key=lambda mutant: mutant.key)[:sample]


def unmeasured(names: Iterable[str], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each module that has mutants and no row, or a row of another source."""
    lines = []
    for module in names:
        if all_mutants := mutants(module, path_of(module).read_text(encoding="utf-8")):
            row, has = rows.get(module), f"{len(all_mutants)} mutants"
            if row is None:
                lines.append(f"{module}: no figures, {has}")
            elif row.get("source") != digest_of(all_mutants):
                lines.append(f"{module}: figures of an earlier source, {row['mutants']} mutants then, {has} now")
    return lines


@click.command()
@click.argument("names", nargs=-1, metavar="[MODULE]...")
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=None,
    help="So many mutants of each module, and only the tests that mirror it; all if not given.",
)
@click.option(
    "--json",
    "record",
    type=click.Path(dir_okay=False, path_type=Path),
    default=ROOT / ".mutation" / "results.json",
    help="File for the results, .mutation/results.json if not given; a run that was interrupted goes on with what is "
    "in it. Survivors are tried again if tests that reach them have changed. What tests reach is kept beside it.",
)
@click.option("--enough", type=click.FloatRange(0), default=10.0, help="Seconds of tests that a mutant has to survive; 10.")
@click.option(
    "--missing",
    is_flag=True,
    help="Try nothing, and list the modules of which docs/edges.json has no figures, or those of an earlier source.",
)
def main(names: tuple[str, ...], sample: int | None, record: Path, enough: float, missing: bool) -> None:
    """Make one-edit mutants of modules, whole packages or all of them, and run the tests that reach them."""
    wanted = [m for m in modules() if not names or any(m == name or m.startswith(f"{name}.") for name in names)]
    if not wanted:
        raise click.UsageError(f"MODULE: expected one of {', '.join(modules())}, or a package of them, got {' '.join(names)}")
    if missing:
        lines = unmeasured(wanted, json.loads(MEASURED.read_text(encoding="utf-8"))["mutants"]["modules"])
        click.echo("\n".join(lines) or "every module has figures of its present source")
        raise SystemExit(1 if lines else 0)
    known, results, console = equivalents(), _kept(record), Console(soft_wrap=True)
    everything = {m: chosen(mutants(m, path_of(m).read_text(encoding="utf-8")), sample) for m in wanted}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    preload(wanted)
    with Progress(*columns, console=console) as bar, _written(record, results) as write:
        for package in dict.fromkeys(module.partition(".")[0] for module in wanted):
            among = [module for module in wanted if module.startswith(f"{package}.")]
            candidates = [x for module in among for x in everything[module]]
            task = bar.add_task(package, total=len(candidates))
            mirrors = {module: mirror_of(module) for module in among}
            tests = list(dict.fromkeys(path for m in among for path in (tests_of(m) if sample is None else mirrors[m])))
            reach = recorded(
                {m: path_of(m) for m in modules() if m.startswith(f"{package}.")}, tests, record.with_name("reach.json"), among
            )
            left = [x for x in candidates if x.key not in known and not _is_done(x, results.get(x.key), reach, enough)]
            bar.advance(task, len(candidates) - len(left))
            for mutant, result in tried([(x, path_of(x.module)) for x in left], tests, mirrors, reach, enough) if left else ():
                results[mutant.key] = {
                    "mutant": str(mutant),
                    "sort": mutant.sort,
                    "fate": result.fate,
                    "by": result.by,
                    "seconds": result.seconds,
                    "enough": enough,
                    "tests": reach.digest(reaching_of(mutant, reach)),
                }
                bar.update(task, advance=1, description=mutant.module)
                if result.fate == "survived":
                    console.print(f"survived  {mutant.key}  {mutant}  ({result.by})", markup=False, highlight=False)
                write()
    rows = {module: _counts(candidates, results, known) for module, candidates in everything.items()}
    console.print(table(rows))
    raise SystemExit(1 if any(row["survived"] for row in rows.values()) else 0)


def _is_done(mutant: Mutant, result: Mapping[str, Any] | None, reach: Reach, enough: float) -> bool:
    """Whether a mutant was killed, or survived at least the time that the tests reaching it take now."""
    if result is None or result["fate"] == "killed":
        return result is not None
    return bool(result["enough"] >= enough and result["tests"] == reach.digest(reaching_of(mutant, reach)))


def _counts(candidates: Iterable[Mutant], results: Mapping[str, Any], known: Mapping[str, Any]) -> Counter[str]:
    return Counter("equivalent" if x.key in known else results[x.key]["fate"] for x in candidates)


def table(rows: Mapping[str, Counter[str]]) -> Table:
    """A table of mutants by module and fate."""
    made = Table("module", "mutants", *FIELDS, "killed or equivalent", title="one-edit mutants of the sources")
    for name, row in {**rows, "all": sum(rows.values(), Counter())}.items():
        total = row.total()
        made.add_row(
            name, str(total), *(str(row[f] or "") for f in FIELDS), f"{(row['killed'] + row['equivalent']) / max(1, total):.1%}"
        )
    return made


def _kept(record: Path) -> dict[str, Any]:
    if not record.exists():
        return {}
    results: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return results


@contextmanager
def _written(record: Path, results: Mapping[str, Any]) -> Iterator[Callable[[], None]]:
    """Yield a function that writes the results at most every few seconds, and at the end or after an error."""
    last = time.monotonic()

    def write(every: float = 5.0) -> None:
        nonlocal last
        if time.monotonic() - last < every:
            return
        record.parent.mkdir(parents=True, exist_ok=True)
        scratch = record.with_suffix(".part")
        scratch.write_text(json.dumps(results, ensure_ascii=False, indent=0), encoding="utf-8")
        scratch.replace(record)
        last = time.monotonic()

    try:
        yield write
    finally:
        write(0.0)


if __name__ == "__main__":
    main()
