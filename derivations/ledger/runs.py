"""The runs that the rows of a ledger come from.

A ledger holds the newest row of each claim.  `environment` and `files` are those of its newest run; `runs` has those of the
earlier runs that it still has rows of, by date, with the hashes of `files` that were others then, and null for a file that
had none.  The `run` of a row is the date of its run.
"""

from collections.abc import Mapping
from typing import Any

Ledger = Mapping[str, Any]

UNDATED = "before"  # the run of a ledger that does not record when it was written


def runs_of(of: Ledger) -> dict[str, dict[str, Any]]:
    """Return the runs of a ledger by date, each with its `environment` and, if they are recorded, its `files`.

    A row that names no run is of the newest.
    """
    own = {"environment": of.get("environment", {})} | ({"files": of["files"]} if "files" in of else {})
    runs = {"": own, str(own["environment"].get("date") or UNDATED): own}
    for date, run in of.get("runs", {}).items():
        runs[date] = {"environment": run["environment"]}
        if run["files"] is not None:
            known = {**of.get("files", {}), **run["files"]}
            runs[date]["files"] = {name: hash for name, hash in known.items() if hash is not None}
    return runs


def environments(of: Ledger) -> list[Mapping[str, Any]]:
    """Return the environment of each run that a ledger has rows of."""
    runs = runs_of(of)
    return [runs[name]["environment"] for name in dict.fromkeys(row.get("run", "") for row in of["claims"])]
