"""python -m tests.mutation [MODULE ...]: exit status 1 if a mutant survives that `equivalent.toml` does not explain."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")                # before anything numeric is imported

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from tests.mutation.edits import Mutant, mutants
from tests.mutation.targets import mirror_of, modules, path_of
from tests.mutation.trial import tried

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
FIELDS = ("killed", "equivalent", "survived")


def equivalents() -> dict[str, Mapping[str, str]]:
    """The mutants that no test can tell from the original, by their keys, each with its reason."""
    return {entry["key"]: entry for entry in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])}


def chosen(found: Sequence[Mutant], sample: int | None) -> list[Mutant]:
    """All, or so many: those with the first keys, which are as good as random and the same until their source changes."""
    return list(found) if sample is None else sorted(found, key=lambda mutant: mutant.key)[:sample]


@click.command()
@click.argument("names", nargs=-1, metavar="[MODULE]...")
@click.option("--sample", type=click.IntRange(1), default=None, help="So many mutants of each module; all if not given.")
@click.option("--json", "record", type=click.Path(dir_okay=False, path_type=Path), default=None,
              help="File for the results; a run that was interrupted goes on with what is in it. Survivors are tried again if "
              "their tests have changed.")
def main(names: tuple[str, ...], sample: int | None, record: Path | None) -> None:
    """Make one-edit mutants of modules, whole packages or all of them, and run the tests that mirror them."""
    wanted = [m for m in modules() if not names or any(m == name or m.startswith(f"{name}.") for name in names)]
    if not wanted:
        raise click.UsageError(f"MODULE: expected one of {', '.join(modules())}, or a package of them, got {' '.join(names)}")
    known, results, console = equivalents(), _kept(record), Console(soft_wrap=True)
    everything = {m: chosen(mutants(m, path_of(m).read_text(encoding="utf-8")), sample) for m in wanted}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("mutants", total=sum(map(len, everything.values())))
        for module, found in everything.items():
            bar.update(task, description=module)
            tests = _digest(mirror_of(module))
            done = {key for key, x in results.items() if x["fate"] == "killed" or x["tests"] == tests}
            left = [x for x in found if x.key not in known and x.key not in done]
            bar.advance(task, len(found) - len(left))
            if not left:
                continue
            for mutant, result in tried(module, path_of(module), mirror_of(module), left):
                results[mutant.key] = {"mutant": str(mutant), "sort": mutant.sort, "fate": result.fate, "by": result.by,
                                       "seconds": result.seconds, "tests": tests}
                bar.advance(task)
                if result.fate == "survived":
                    console.print(f"survived  {mutant.key}  {mutant}  ({result.by})", markup=False, highlight=False)
                _write(record, results)
    rows = {module: _counts(found, results, known) for module, found in everything.items()}
    console.print(table(rows))
    raise SystemExit(1 if any(row["survived"] for row in rows.values()) else 0)


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def _counts(found: Iterable[Mutant], results: Mapping[str, Any], known: Mapping[str, Any]) -> Counter[str]:
    return Counter("equivalent" if x.key in known else results[x.key]["fate"] for x in found)


def table(rows: Mapping[str, Counter[str]]) -> Table:
    """Mutants by module and what became of them."""
    made = Table("module", "mutants", *FIELDS, "killed or equivalent", title="one-edit mutants of the sources")
    for name, row in {**rows, "all": sum(rows.values(), Counter())}.items():
        total = row.total()
        made.add_row(name, str(total), *(str(row[f] or "") for f in FIELDS),
                     f"{(row['killed'] + row['equivalent']) / max(1, total):.1%}")
    return made


def _kept(record: Path | None) -> dict[str, Any]:
    if record is None or not record.exists():
        return {}
    kept: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return kept


def _write(record: Path | None, results: Mapping[str, Any]) -> None:
    if record is not None:
        scratch = record.with_suffix(".part")
        scratch.write_text(json.dumps(results, ensure_ascii=False, indent=0), encoding="utf-8")
        scratch.replace(record)


if __name__ == "__main__":
    main()
