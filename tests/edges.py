"""Write `docs/edges.md`, the page on errors, hostile inputs and mutants, from measured data.

    python -m numerics errors --json errors.json
    python -m tests.mutation
    python -m tests.edges --errors errors.json --hostile --mutants .mutation/results.json

Figures go to `docs/edges.json` with the versions and the settings that they were measured with, and the page is written from
that file.
"""

import json
import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from numerics.precision.study import DTYPES

DOCS = Path(__file__).parents[1] / "docs"
DATA, PAGE = DOCS / "edges.json", DOCS / "edges.md"
UNREACHED = "no test reaches the line"
STATES = ("right", "refused", "limit", "silent")
FATES = ("killed", "equivalent", "survived", "not reached")
PACKAGES = ("torch", "numpy", "scipy", "python-flint")


def versions() -> dict[str, str]:
    """The versions of the measured packages."""
    return {"python": platform.python_version(), "machine": platform.machine()} | {name: version(name) for name in PACKAGES}


# ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def errors(records: Sequence[Mapping[str, Any]], before: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize the cells that `numerics errors` measured: the largest error in each decade and dtype, and the counts."""
    table: dict[str, dict[str, Any]] = {}
    groups: dict[str, Any] = {name: cells for record in records for name, cells in record["groups"].items()}
    for cell in (cell for cells in groups.values() for cell in cells):
        position, error = cell["place"], float(cell["error"])
        row = table.setdefault(cell["function"], {"decades": {}, "dtypes": {}, "states": Counter()})
        row["states"][cell["state"]] += 1
        if cell["state"] in ("right", "silent"):
            for kind, key in (("decades", str(position["decade"])), ("dtypes", position["dtype"])):
                row[kind][key] = max(row[kind].get(key, 0.0), error if math.isfinite(error) else math.inf)
    rounded = {
        name: {kind: _rounded(row[kind]) for kind in ("decades", "dtypes")} | {"states": dict(row["states"])}
        for name, row in table.items()
    }
    silent = [x for x in before.get("silent", ()) if x.partition(", 10^")[0] not in rounded]
    silent += (
        f"{cell['function']}, {_where(cell['place'])}: {cell['said']}"
        for cells in groups.values()
        for cell in cells
        if cell["state"] == "silent"
    )
    return {
        "versions": versions(),
        "seed": records[0]["seed"],
        "functions": {**before.get("functions", {}), **rounded},
        "silent": sorted(silent),
    }


def _rounded(row: Mapping[str, float]) -> dict[str, float | str]:
    return {key: float(f"{x:.2g}") if math.isfinite(x) else "inf" for key, x in row.items()}


def _where(location: Mapping[str, Any]) -> str:
    return f"10^{location['decade']}, {location['scores']}, size {location['size']}, {location['dtype']}"


def hostile() -> dict[str, Any]:
    """Count the outcomes of the hostile inputs for each function, judged now."""
    import torch

    from tests.numerics.hostile.functions import FUNCTIONS
    from tests.numerics.hostile.inputs import cells
    from tests.numerics.hostile.judge import judge

    counts = {
        name: Counter(
            _kind(judge(function, changed, arguments))
            for dtype in (torch.float64, torch.float32)
            for _, changed, arguments in cells(function, dtype)
        )
        for name, function in FUNCTIONS.items()
    }
    return {"versions": versions(), "functions": {name: dict(row) for name, row in counts.items()}}


def _kind(verdict: str) -> str:
    return verdict if verdict in STATES else "silent"


def mutation(results: Mapping[str, Mapping[str, Any]], before: Mapping[str, Any]) -> dict[str, Any]:
    """Count the killed, equivalent and surviving mutants of each module, with a digest of the source that was mutated."""
    from tests.mutation.__main__ import equivalents
    from tests.mutation.edits import digest_of, mutants
    from tests.mutation.targets import modules, path_of

    known, rows, survivors = equivalents(), {}, []
    tried = {result["mutant"].partition(":")[0] for result in results.values()}
    for module in modules():
        if module not in tried:
            rows |= {name: row for name, row in before.get("modules", {}).items() if name == module}
            survivors += [x for x in before.get("survivors", ()) if x.partition(":")[0] == module]
            continue
        all_mutants = mutants(module, path_of(module).read_text(encoding="utf-8"))
        fates = Counter(
            "equivalent" if x.key in known else _fate(results[x.key]) for x in all_mutants if x.key in known or x.key in results
        )
        if fates:
            rows[module] = {"mutants": len(all_mutants), **fates, "source": digest_of(all_mutants)}
            survivors += [
                str(x) for x in all_mutants if x.key not in known and x.key in results and _fate(results[x.key]) == "survived"
            ]
    return {"versions": versions(), "modules": rows, "survivors": survivors}


def _fate(result: Mapping[str, Any]) -> str:
    """The fate of a mutant: killed, survived, or unreached by any test."""
    return "not reached" if result["by"] == UNREACHED else str(result["fate"])


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────────


def page(data: Mapping[str, Any]) -> str:
    """The page in Markdown."""
    lines = [
        "# At the edges",
        "",
        "How wrong the closed forms are at the ends of their ranges, what they do with hostile inputs, and which edits of "
        "our own sources no test notices. `python -m tests.edges` writes this page from `docs/edges.json`.",
        "",
    ]
    return "\n".join([*lines, *_errors(data["errors"]), *_hostile(data["hostile"]), *_mutation(data["mutants"])])


def _errors(data: Mapping[str, Any]) -> list[str]:
    rows: Mapping[str, Any] = data["functions"]
    decades = sorted({int(key) for row in rows.values() for key in row["decades"]})
    states = sum((Counter(row["states"]) for row in rows.values()), Counter())
    return [
        "## Errors",
        "",
        "`python -m numerics errors` compares each closed form, and its derivatives, with balls of 96 digits, in units of what "
        "conditioning and the dtype allow: 1 is a computation as wrong as it may be. The number of a function (τ, ε or α) "
        f"is 10^−6 to 10^6. {states.total()} cells: " + ", ".join(f"{states[state]} {state}" for state in STATES) + ".",
        "",
        *_versions(data),
        "The largest error in each dtype, and what became of the cells:",
        "",
        *_table(
            ("function", *DTYPES, *STATES),
            (
                [name, *(_number(row["dtypes"].get(x)) for x in DTYPES), *_counts(row["states"], STATES)]
                for name, row in rows.items()
            ),
        ),
        "The largest error at each power of ten, over all dtypes, sizes and kinds of scores:",
        "",
        *_table(
            ("function", *(f"10^{x}" for x in decades)),
            ((name, *(_number(row["decades"].get(str(x))) for x in decades)) for name, row in rows.items()),
        ),
        *(
            ["Silent, that is without digits and without a word:", "", *(f"- {line}" for line in data["silent"]), ""]
            if data["silent"]
            else []
        ),
    ]


def _hostile(data: Mapping[str, Any]) -> list[str]:
    rows: Mapping[str, Any] = data["functions"]
    return [
        "## Hostile inputs",
        "",
        "Each function is called with NaN, infinities, empty, expanded, sparse and meta tensors, temperatures that are zero, "
        "negative or denormal, shapes that do not fit, and more (`tests/numerics/hostile`). A cell is right by an independent "
        "reference in extended precision, refused with an error that names the argument, or at a limit that `conventions.md` "
        "documents.",
        "",
        *_versions(data),
        *_table(("function", *STATES), ([name, *_counts(row, STATES)] for name, row in _totalled(rows).items())),
    ]


def _mutation(data: Mapping[str, Any]) -> list[str]:
    rows = _totalled(data["modules"])
    return [
        "## Mutants",
        "",
        "`python -m tests.mutation` makes one small edit at a time and runs the tests of the mirrored folder that reach it. "
        "Equivalent mutants are in `tests/mutation/equivalent.toml`, each with the reason. Where fewer were tried than there "
        "are, it is those that come first, in the module or by a digest. What tests of the mirrored folder do not reach may be "
        "reached by others. `python -m tests.mutation --missing` lists the modules without a row, and those whose source has "
        "changed since; `tests/mutation/targets.py` says which are left out, and why.",
        "",
        *_versions(data),
        *_table(
            ("module", "mutants", "tried", *FATES, "killed or equivalent"),
            (
                [name, str(row["mutants"]), str(sum(row.get(x, 0) for x in FATES)), *_counts(row, FATES), _share(row)]
                for name, row in rows.items()
            ),
        ),
        *(["Survivors:", "", *(f"- `{line.replace('`', '')}`" for line in data["survivors"]), ""] if data["survivors"] else []),
    ]


def _share(row: Mapping[str, int]) -> str:
    tried = sum(row.get(x, 0) for x in FATES)
    return f"{(row.get('killed', 0) + row.get('equivalent', 0)) / tried:.1%}"


def _totalled(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, int]]:
    counts = {name: {key: x for key, x in row.items() if key != "source"} for name, row in rows.items()}
    return {**counts, "all": sum((Counter(row) for row in counts.values()), Counter())}


def _versions(data: Mapping[str, Any]) -> list[str]:
    return ["Measured with " + ", ".join(f"{name} {x}" for name, x in data["versions"].items()) + ".", ""]


def _number(x: float | str | None) -> str:
    return "" if x is None else f"{x:.2g}" if isinstance(x, float | int) else x


def _counts(row: Mapping[str, int], kinds: Sequence[str]) -> list[str]:
    return [str(row[kind]) if row.get(kind) else "" for kind in kinds]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = (f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows)
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines, ""]


@click.command()
@click.option(
    "--errors",
    "errors_of",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="files of `numerics errors`; a function that is in several is taken from the last, and keeps its figures "
    "if it is in none",
)
@click.option("--hostile", "anew", is_flag=True, help="judge the hostile inputs anew")
@click.option(
    "--mutants",
    "mutants_of",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="files of `tests.mutation`; modules that are in none keep their figures",
)
def main(errors_of: tuple[Path, ...], anew: bool, mutants_of: tuple[Path, ...]) -> None:
    """Update the data file with new figures, and write the page from it."""
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    if errors_of:
        data["errors"] = errors([json.loads(path.read_text(encoding="utf-8")) for path in errors_of], data.get("errors", {}))
    if anew:
        data["hostile"] = hostile()
    if mutants_of:
        results = {key: x for path in mutants_of for key, x in json.loads(path.read_text(encoding="utf-8")).items()}
        data["mutants"] = mutation(results, data.get("mutants", {}))
    DATA.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(data), encoding="utf-8")


if __name__ == "__main__":
    main()
