"""Join the rows of a new run with those of earlier ones, so that a run drops none that it did not compute."""

from collections.abc import Collection, Mapping
from typing import Any

from derivations.ledger import ledger
from derivations.ledger.runs import UNDATED, Ledger, runs_of
from derivations.records.documents import documents
from derivations.register.catalogue import entries, ordered


def shard_of(of: Ledger) -> tuple[Any, ...] | None:
    """Return the number of the shard that a ledger is, the number of shards, and what the whole run asked for."""
    shard = of["environment"].get("shard")
    return shard and (shard["part"], shard["of"], tuple(shard["asked"]))


def joined(before: Ledger | None, now: Ledger, outdated: Collection[str], reused: Collection[str] = ()) -> dict[str, Any]:
    """Return the ledger with the rows of a run beside those of the runs before it, which the run did not compute.

    A row of fewer layers or instances than there is gives way to the fuller one, unless that is `outdated` or contradicted.
    An earlier run of whose rows all were `reused` holds for the files of now.
    Rows that are left out: those of claims that a document which the run asked for no longer has, and those outside of a shard.
    """
    if before is None or shard_of(now):
        return dict(now)
    date, newest = str(now["environment"]["date"]), {name: now[name] for name in ("environment", "files")}
    runs = {**runs_of(before), date: newest}
    first = str(before["environment"].get("date") or UNDATED)
    rows = {row["id"]: {**row, "run": row.get("run") or first} for row in before["claims"] if not _is_gone(row, now)}
    for new in now["claims"]:
        old = rows.get(new["id"])
        if old is None or new["id"] in outdated or _replaces(new, newest, old, runs[old["run"]]):
            rows[new["id"]] = new
        if old and old.get("kernel") and new["id"] not in outdated and not new.get("kernel"):
            rows[new["id"]] = {**rows[new["id"]], "kernel": old["kernel"]}
    printed = ordered(rows)
    others = [id for id in rows if id not in entries()]
    not_reused = {row["run"] for id, row in rows.items() if id not in reused}
    earlier = {
        each: _beside(runs[each] if each in not_reused else {**newest, "environment": runs[each]["environment"]}, newest)
        for each in sorted({row["run"] for row in rows.values()} - {date})
    }
    assembled = ledger.assemble([rows[id] for id in (*printed, *others)], now["environment"], before.get("documents", {}))
    return assembled | {"files": newest["files"]} | ({"runs": earlier} if earlier else {})


def _is_gone(row: Mapping[str, Any], now: Ledger) -> bool:
    document = row["document"]
    return row["id"] not in entries() and document in documents() and document in now["environment"].get("asked", ())


def _replaces(new: Mapping[str, Any], newest: Ledger, old: Mapping[str, Any], run: Ledger) -> bool:
    """Return whether a row is at least as full as an older one, or some layer now says what it did not say."""
    said, says = ({(e["layer"], e["outcome"], e["correction"]) for e in row["evidence"]} for row in (old, new))
    contradicted = {layer for layer, *_ in says - said} & {layer for layer, *_ in said}
    return bool(contradicted) or _fullness(new, newest["environment"]) >= _fullness(old, run["environment"])


def _fullness(row: Mapping[str, Any], environment: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether every vote on a claim ran, and whether on all instances."""
    return bool(row.get("complete") and environment.get("complete")), not environment.get("quick")


def _beside(run: Ledger, newest: Ledger) -> dict[str, Any]:
    """Return an earlier run with the hashes that differ from those of the newest one."""
    was, now = run.get("files"), newest["files"]
    others = None if was is None else {name: was.get(name) for name in sorted({*was, *now}) if was.get(name) != now.get(name)}
    return {"environment": run["environment"], "files": others}
