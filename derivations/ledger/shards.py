"""Divide a run into shards for several machines, and merge their ledgers into one.

A printed id and its parts stay together, since its verdict is the worst of theirs.  The division depends only on the claims
and on the seconds in a given ledger, so that independent machines agree on it; `merged` checks that they did.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from derivations.ledger import ledger
from derivations.ledger.rows import states
from derivations.register.catalogue import entries, ordered
from derivations.register.selection import selected

SAME = ("commit", "python", "packages", "seed", "quick", "device", "model", "profile")
"""The settings that all shards of a run share."""


def parsed(text: str) -> tuple[int, int]:
    """Return i and k of the text "i/k"; raises click.UsageError unless 1 ≤ i ≤ k."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise click.UsageError(f"--shard: expected i/k with 1 ≤ i ≤ k ≤ 9999, got {text}")
    return int(match[1]), int(match[2])


def seconds_in(ledger: Mapping[str, Any]) -> dict[str, float]:
    """Return how long the votes of each claim of a ledger took."""
    return {row["id"]: sum(e["seconds"] for e in row["evidence"]) for row in ledger["claims"]}


def divided(ids: Iterable[str], count: int, seconds: Mapping[str, float]) -> list[list[str]]:
    """Divide claims into shards of about equal length, each in the order of the documents.

    The longest claims come first, each into the shortest shard so far.  A claim of unknown length counts as average, so that
    claims are dealt out in turns if no length is known.
    """
    chosen = ordered(ids)
    together: dict[str, list[str]] = {}
    for id in chosen:
        parent = entries()[id].part_of
        together.setdefault(parent if parent in chosen else id, []).append(id)
    known = [seconds[id] for id in chosen if id in seconds]
    average = sum(known) / len(known) if any(known) else 1.0
    lengths = {head: sum(seconds.get(id, average) for id in group) for head, group in together.items()}
    totals, shards = [0.0] * count, [set[str]() for _ in range(count)]
    for head in sorted(together, key=lambda head: -lengths[head]):
        shortest = min(range(count), key=lambda k: (totals[k], len(shards[k])))
        totals[shortest] += lengths[head]
        shards[shortest].update(together[head])
    return [ordered(shard) for shard in shards]


def shard_of(names: Sequence[str], text: str, balance: Path | None) -> list[str]:
    """Return the claims of shard "i/k" of those that the names select.

    Raises click.UsageError for another text, for more shards than claims to divide, and if `balance` is not a ledger.
    """
    part, count = parsed(text)
    try:
        seconds = {} if balance is None else seconds_in(ledger.read(balance))
    except ValueError as error:
        raise click.UsageError(f"--balance: {error}") from None
    shards = divided(selected(",".join(names)), count, seconds)
    if not all(shards):
        most = sum(map(bool, shards))
        raise click.UsageError(f"--shard: expected at most {most} shards of so few claims, got {text}")
    return shards[part - 1]


def merged(ledgers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the ledgers of all shards of a run, with the verdicts that follow from all evidence.

    Raises ValueError unless they are all shards of one run, each once, from the same files and settings, and contain every
    requested claim and no other.
    """
    surroundings = [each["environment"] for each in ledgers]
    if without_shard := [number for number, each in enumerate(surroundings, start=1) if not each.get("shard")]:
        raise ValueError(f"ledger {without_shard[0]}: expected a shard of a run, got a whole one")
    of = [(each["shard"]["part"], each["shard"]["of"]) for each in surroundings]
    if sorted(of) != [(part, len(of)) for part in range(1, len(of) + 1)]:
        raise ValueError(f"shards: expected all of one run, each once, got {', '.join(f'{i}/{k}' for i, k in of)}")
    for name in SAME:
        _same(name, [each.get(name) for each in surroundings])
    _same("asked", [each["shard"]["asked"] for each in surroundings])
    files = _common_files([each.get("files", {}) for each in ledgers])
    rows = {row["id"]: row for each in ledgers for row in each["claims"]}
    counts = Counter(row["id"] for each in ledgers for row in each["claims"])
    if twice := [id for id, count in counts.items() if count > 1]:
        raise ValueError(f"shards: expected every claim once, got {twice[0]} twice; were they balanced by the same ledger?")
    asked = surroundings[0]["shard"]["asked"]
    requested = set(selected(",".join(asked)))
    if missing := ordered(requested - rows.keys()):
        raise ValueError(f"shards: expected every requested claim, got no row for {missing[0]}")
    if others := [id for id in rows if id not in requested]:
        raise ValueError(f"shards: expected the requested claims only, got a row for {others[0]}")
    if stated := [id for id, row in rows.items() if not states(row, entries()[id])]:
        raise ValueError(
            f"shards: expected the statements of the installed documents, got another one for {stated[0]}; "
            "merge with the version that verified them"
        )
    environment = {name: value for name, value in surroundings[0].items() if name not in ("shard", "incremental")} | {
        "date": max((date for each in surroundings if (date := each.get("date"))), default=None),
        "devices": sorted({device for each in surroundings for device in each.get("devices", ())}),
        "seconds": max(each.get("seconds") or 0.0 for each in surroundings),
        "skipped": dict(sum((Counter(each.get("skipped", {})) for each in surroundings), Counter[str]())),
        "asked": asked,
        "complete": all(each.get("complete") for each in surroundings),
    }
    newest = {date for each in surroundings if (date := each.get("date"))}
    own = [{**row, "run": environment["date"]} if row.get("run") in newest else row for row in rows.values()]
    by_id = {row["id"]: row for row in own}
    assembled = ledger.assemble([by_id[id] for id in ordered(by_id)], environment)
    earlier = {date: run for each in ledgers for date, run in each.get("runs", {}).items()}
    return assembled | {"files": files} | ({"runs": earlier} if earlier else {})


def _common_files(shards: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the hashes of all files; the project's are the same in every shard, those elsewhere in each that has them."""
    _same("files", [{name: hash for name, hash in files.items() if not Path(name).is_absolute()} for files in shards])
    union = {name: hash for files in shards for name, hash in files.items()}
    for part, files in enumerate(shards, start=1):
        if other := [name for name, hash in files.items() if union[name] != hash]:
            raise ValueError(f"files: expected the same in every shard, got another {other[0]} in ledger {part}")
    return union


def _same(name: str, values: Sequence[Any]) -> None:
    for part, value in enumerate(values, start=1):
        if value != values[0]:
            raise ValueError(f"{name}: expected the same in every shard, got another in ledger {part} than in the first")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=Path, metavar="SHARD...")
@click.option("--json", "path", type=Path, default=Path("ledger.json"), show_default=True, help="where to write the ledger")
def merge(paths: tuple[Path, ...], path: Path) -> None:
    """Join the ledgers of all shards of a run into the ledger that one `verify` would have written."""
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"--json: expected a file in an existing folder, got {path}")
    try:
        result = merged([ledger.read(each) for each in paths])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    ledger.write(result, path)
    counts = result["summary"]["by_verdict"]
    counted = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    click.echo(f"{path} written: {len(result['claims'])} claims: {counted}")
