"""The modules that are mutated, and the tests that may reach each."""

from __future__ import annotations

import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]

CLOSED_FORMS = (
    "sparse_maps",
    "regularizers",
    "fenchel_young",
    "fisher",
    "one_sided",
    "linear",
    "flash",
    "attention",
    "priors",
    "line_search",
    "linear_program",
    "network",
    "arguments",
    "masks",
    "tolerances",
    "mem.arguments",
    "mem.closed_forms",
    "mem.certificate",
    "mem.bounds",
    "mem.rows",
    "mem.newton",
    "mem.batch",
    "mem.solver",
    "mem.shared_templates",
    "mem.prepared",
    "mem.pcg_state",
    "mem.pcg_torch",
    "mem.pcg_threads",
    "mem.huge_pages",
    "transport.parts",
    "transport.feasibility",
    "transport.diagnostics",
    "transport.quadratic",
    "transport.solver",
    "transport.sinkhorn",
    "transport.unbalanced",
    "transport.gaps",
    "transport.attention",
    "modules.functional",
    "modules.fused",
    "modules.kinds",
    "modules.multihead",
    "modules.hugging_face",
    "ot_attention.costs",
    "ot_attention.problem",
    "ot_attention.exact",
    "ot_attention.layer",
    "ot_attention.transport",
    "continuous.basis",
    "continuous.densities",
)
KERNEL = ("calculus", "relations")
FOLDERS = (
    "numerics.primal",
    "numerics.precision",
    "numerics.models",
    *(f"derivations.{part}" for part in (*KERNEL, "latex", "prints", "kernel", "report")),
    "evidence.instances",
    "evidence.source",
    "evidence.models",
)
JUDGES = (
    "canonical",
    "comparison",
    "examination",
    "symbolic",
    "claims",
    "catalogue",
    "rows",
    "ledger",
    "ledger_schema",
    "regression",
    "baseline",
    "mutants",
    "normal_form",
    "records",
    "integrity",
    "selection",
    "differences",
    "entry",
    "printed",
    "theorems",
    "shards",
    "scheduling",
    "incremental",
    "elsewhere",
    "documents",
    "files",
    "joining",
    "journal",
    "loading",
    "mutation",
    "notebooks",
    "rendering",
    "runs",
    "showing",
    "watching",
    "wording",
)
VOTES = ("admission", "automatic", "bridge", "draws", "dtypes", "harness", "lookups", "power", "readings", "registry", "rounds")

CHAPTERS = ("beyond", "deciphering", "eot", "geometric", "inference", "transport")
LEFT_OUT = {
    "numerics.benchmarks": "its figures are times, which no test can tell from others",
    "numerics.experiments": "tests train models for minutes; what claims rest on is in evidence.models",
    "numerics.commands": "run in processes of their own, where nothing is exchanged",
    "numerics.mem.pcg": "compiled to machine code for most of its callers, where statements cannot note that they are reached",
    "numerics.mem.pcg_row": "compiled to machine code, in which nothing can be exchanged",
    "numerics.mem.pcg_numba": "compiled to machine code, in which nothing can be exchanged",
    "numerics.mem.pcg_compile": "compiled to machine code, in which nothing can be exchanged",
    "derivations.keeping": "tests kill the processes of their own that it runs in, where nothing is exchanged",
    "derivations.options": "options of commands, which run in processes of their own, where nothing is exchanged",
    "derivations.progress": "what a terminal shows while a command runs",
    "derivations.pytest_plugin": "loaded before a test runs, where nothing can be exchanged",
    "derivations.test_derivations": "tests themselves",
    "evidence.pytest_plugin": "loaded before a test runs, where nothing can be exchanged",
    "evidence.test_votes": "tests themselves",
}
"""Modules and packages outside of the chapters that are not mutated, each with the reason."""

WIDE = ("numerics",)
"""Packages of which each test in a folder may hold each module of the mirrored folder."""

ELSEWHERE = "from tests.processes import "
"""What is in tests that call commands in processes of their own, where nothing is exchanged; of a folder they are left out."""

PRINTS = tuple(f"derivations/prints/test_{name}.py" for name in ("densities", "prints", "remainders", "spaces"))
VOTES_THAT_REST = ("mutation/votes.py",)
ALSO = {
    "numerics.arguments": ("numerics/test_one_sided.py",),
    "numerics.regularizers": ("numerics/test_alibi.py",),
    "numerics.priors": ("numerics/test_attention.py",),
    "derivations.canonical": ("derivations/test_side_by_side.py",),
    "derivations.normal_form": ("derivations/test_canonical.py", "derivations/test_verdicts.py", "derivations/test_records.py"),
    "derivations.runs": ("derivations/test_joining.py",),
    "derivations.differences": ("derivations/test_regression.py",),
    "derivations.rows": ("derivations/test_ledger.py", "attacks/test_ledger_forgery.py"),
    "derivations.ledger_schema": ("derivations/test_ledger.py", "attacks/test_hostile_ledgers.py"),
    "derivations.baseline": ("derivations/test_ledger.py", "derivations/test_records.py", "attacks/test_baselines.py"),
    "derivations.ledger": ("attacks/test_hostile_ledgers.py",),
    "derivations.regression": ("derivations/test_baseline.py", "attacks/test_baselines.py"),
    "derivations.records": ("derivations/test_ledger.py", "derivations/test_canonical.py", "derivations/test_baseline.py"),
    "derivations.integrity": ("attacks/test_integrity.py",),
    "derivations.selection": ("derivations/test_catalogue.py",),
    "derivations.printed": ("derivations/test_records.py",),
    "derivations.theorems": ("derivations/test_records.py",),
    "derivations.entry": ("derivations/test_catalogue.py", "derivations/test_examination.py", "derivations/test_verdicts.py"),
    "derivations.comparison": ("derivations/test_twins.py", "derivations/test_examination.py", "attacks/test_corrections.py"),
    "derivations.examination": ("derivations/test_twins.py", "attacks/test_premises.py", "attacks/test_sealing.py"),
    "derivations.symbolic": ("derivations/test_catalogue.py", "derivations/test_examination.py", "attacks/test_corrections.py"),
    "derivations.claims": ("derivations/test_verdicts.py",),
    "derivations.calculus.signs": ("attacks/test_signs.py", "derivations/test_bounds.py", "attacks/test_truths.py"),
    "derivations.calculus.sums": (
        "attacks/test_sums.py",
        "derivations/test_kernel_bugs.py",
        "derivations/test_powers.py",
        "attacks/test_truths.py",
    ),
    "derivations.calculus.bounds": ("attacks/test_bounds.py", "derivations/test_signs.py", "derivations/test_taylor.py"),
    "derivations.calculus.defined": ("attacks/test_definedness.py", "derivations/test_powers.py"),
    "derivations.calculus.admission": ("attacks/test_points.py",),
    "derivations.calculus.arithmetic": ("derivations/test_balls.py", "derivations/test_powers.py"),
    "derivations.calculus.differentiation": (
        "derivations/test_balls.py",
        "derivations/test_taylor.py",
        "attacks/test_definedness.py",
    ),
    "derivations.calculus.division": ("attacks/test_definedness.py", "attacks/test_caches.py"),
    "derivations.calculus.edits": ("derivations/test_mutants.py",),
    "derivations.calculus.functions": ("derivations/test_powers.py", "derivations/test_bounds.py", "attacks/test_signs.py"),
    "derivations.calculus.germs": ("attacks/test_limits.py", "derivations/test_relations.py"),
    "derivations.calculus.parts": ("derivations/test_bounds.py", "derivations/test_powers.py"),
    "derivations.calculus.points": ("attacks/test_points.py", "derivations/test_balls.py"),
    "derivations.calculus.powers": ("attacks/test_signs.py",),
    "derivations.calculus.quick": ("attacks/test_caches.py",),
    "derivations.calculus.search": ("derivations/test_mutants.py",),
    "derivations.calculus.series": ("derivations/test_expansions.py", "attacks/test_expansions.py"),
    "derivations.calculus.shorthands": ("derivations/test_extrema.py", "attacks/test_bounds.py"),
    "derivations.calculus.variables": ("attacks/test_sums.py", "attacks/test_definedness.py", "attacks/test_registry.py"),
    "derivations.calculus.printing": ("derivations/test_printing.py",),
    "derivations.relations.base": ("attacks/test_points.py", "attacks/test_hostile.py", "derivations/test_kernel_bugs.py"),
    "derivations.relations.equation": ("derivations/test_base.py", "derivations/test_kernel_bugs.py", "attacks/test_truths.py"),
    "derivations.relations.disproof": ("derivations/test_equation.py", "derivations/test_base.py", "attacks/test_points.py"),
    "derivations.relations.inequality": ("attacks/test_signs.py", "attacks/test_truths.py", "attacks/test_bounds.py"),
    "derivations.relations.limit": ("attacks/test_limits.py",),
    "derivations.relations.optimum": ("attacks/test_optima.py", "derivations/test_extrema.py", "derivations/test_plans.py"),
    "derivations.relations.expansion": ("attacks/test_expansions.py",),
    "derivations.relations.objectives": ("attacks/test_confirmation.py",),
    "derivations.relations.further": ("derivations/test_further.py", "attacks/test_confirmation.py"),
    "derivations.relations.implication": (
        "attacks/test_premises.py",
        "derivations/test_inequality.py",
        "derivations/test_universal.py",
    ),
    **{f"derivations.latex.{name}": PRINTS for name in ("assertions", "densities", "links", "posed", "remainders", "spaces")},
    "derivations.prints.outcome": ("derivations/test_records.py",),
    "derivations.kernel.seals": ("derivations/test_records.py",),
    "derivations.elsewhere": ("derivations/test_incremental.py", "attacks/test_kept_rows.py"),
    "derivations.notebooks": ("notebooks/test_command.py",),
    "derivations.wording": ("derivations/test_catalogue.py", "derivations/test_records.py", "derivations/test_verdicts.py"),
    **{
        f"evidence.models.{name}": tuple(
            f"evidence/test_{test}.py" for test in ("deviations", "geometric_study", "model_rows", "small_alpha", "figure3")
        )
        + VOTES_THAT_REST
        for name in ("captured", "certified", "deviations", "geometric", "ot_vit", "rows", "small_alpha", "temperature")
    },
    **{
        f"evidence.source.{name}": VOTES_THAT_REST
        for name in (
            "alibi",
            "bert_positions",
            "calls",
            "dot_product",
            "heads",
            "layers",
            "networks",
            "published",
            "rounding",
            "sequence_layers",
            "shipped",
            "shipped_bert",
            "shipped_t5",
            "t5_parts",
            "transformations",
        )
    },
    "evidence.admission": ("evidence/test_harness_rules.py",),
    "evidence.registry": ("attacks/test_lookups.py",),
    "evidence.rounds": ("evidence/test_compare_rounds.py", "evidence/test_harness.py"),
    "evidence.lookups": ("attacks/test_lookups.py",),
    "evidence.bridge": ("evidence/test_harness.py", "evidence/test_readings.py"),
    "evidence.dtypes": ("evidence/test_readings.py", "evidence/test_draws.py"),
    "evidence.harness": ("evidence/test_hold.py", "evidence/test_compare_rounds.py", "attacks/test_votes.py"),
}
"""Tests beyond the mirror that hold a module, below ``tests``."""


@functools.cache
def modules() -> tuple[str, ...]:
    """The dotted names of all modules, the closed forms first."""
    whole = [
        f"{folder}.{path.stem}" for folder in FOLDERS for path in sorted(ROOT.joinpath(*folder.split(".")).glob("[a-z]*.py"))
    ]
    return (
        *(f"numerics.{name}" for name in CLOSED_FORMS),
        *whole,
        *(f"derivations.{name}" for name in JUDGES),
        *(f"evidence.{name}" for name in VOTES),
    )


def unlisted() -> list[str]:
    """The modules of the packages, but for the chapters, that are neither mutated nor ``LEFT_OUT``."""
    known = {*modules(), *LEFT_OUT}
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in ("numerics", "derivations", "evidence")
        for path in sorted((ROOT / package).rglob("[a-z]*.py"))
    ]
    return [
        name
        for name in names
        if name.split(".")[1] not in (CHAPTERS if not name.startswith("numerics.") else ())
        and not any(name == x or name.startswith(f"{x}.") for x in known)
    ]


def path_of(module: str) -> Path:
    """The source of a module."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def tests_of(module: str) -> tuple[Path, ...]:
    """The files with the tests that are asked what they reach: in a package that is ``WIDE`` all of the mirrored folder, else
    the mirror."""
    package, *folders, _ = module.split(".")
    all_tests = sorted(ROOT.joinpath("tests", package, *folders).glob("test_*.py")) if package in WIDE else ()
    return tuple(dict.fromkeys([*all_tests, *mirror_of(module)]))


def mirror_of(module: str) -> tuple[Path, ...]:
    """The files with the tests of a module: `test_<name>*.py` in the mirrored folder, or all of that folder; ``ALSO``; and what
    looks at the signatures of the package."""
    package, *folders, name = module.split(".")
    folder = ROOT.joinpath("tests", package, *folders)
    if folders and folders[0] in KERNEL:
        folder = ROOT / "tests" / package
        candidates = [*folder.glob(f"test_{name}*.py"), folder / f"test_{folders[0]}.py"]
    elif folders:
        candidates = [path for path in sorted(folder.glob("test_*.py")) if ELSEWHERE not in path.read_text(encoding="utf-8")]
    else:
        candidates = sorted(folder.glob(f"test_{name}*.py"))
    signatures = ROOT / "tests" / package / "test_defaults.py"
    also = [ROOT / "tests" / path for path in ALSO.get(module, ())] + [signatures] * signatures.exists()
    return tuple(dict.fromkeys([*candidates, *also]))
