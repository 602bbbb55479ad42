"""The modules that are mutated, and the tests that may reach each."""

import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]

PACKAGES = ("numerics", "derivations", "evidence")
CHAPTERS = (
    "derivations.documents",
    *(f"evidence.{name}" for name in ("beyond", "deciphering", "eot", "geometric", "inference", "transport")),
)
LEFT_OUT = {
    "numerics.benchmarks": "its figures are times, which no test can tell from others",
    "numerics.experiments": "tests train models for minutes; what claims rest on is in evidence.models",
    "numerics.commands": "run in processes of their own, where nothing is exchanged",
    "numerics.mem.pcg": "compiled to machine code for most of its callers, where statements cannot note that they are reached",
    "numerics.mem.pcg_row": "compiled to machine code, in which nothing can be exchanged",
    "numerics.mem.pcg_numba": "compiled to machine code, in which nothing can be exchanged",
    "numerics.mem.pcg_compile": "compiled to machine code, in which nothing can be exchanged",
    "derivations.ledger.keeping": "tests kill the processes of their own that it runs in, where nothing is exchanged",
    "derivations.run.options": "options of commands, which run in processes of their own, where nothing is exchanged",
    "derivations.run.progress": "what a terminal shows while a command runs",
    "derivations.run.pytest_plugin": "loaded before a test runs, where nothing can be exchanged",
    "derivations.test_derivations": "tests themselves",
    "evidence.pytest_plugin": "loaded before a test runs, where nothing can be exchanged",
    "evidence.test_votes": "tests themselves",
}
"""Modules and packages outside of the chapters that are not mutated, each with the reason."""

NAMED = tuple(
    f"derivations.{package}"
    for package in ("calculus", "domains", "judge", "ledger", "records", "register", "relations", "run")
)
"""Rooms of which each test bears the name of its module."""

WIDE = ("numerics",)
"""Packages of which each test in a folder may hold each module of the mirrored folder."""

ELSEWHERE = "from tests.processes import "
"""What is in tests that call commands in processes of their own, where nothing is exchanged; of a folder they are left out."""

PRINTS = tuple(f"derivations/prints/test_{name}.py" for name in ("densities", "prints", "remainders", "spaces"))
OPTIMA = (
    "derivations/relations/test_optimum.py",
    "derivations/relations/test_plans.py",
    "derivations/calculus/test_extrema.py",
    "attacks/test_optima.py",
)
VOTES_THAT_REST = ("mutation/votes.py",)
ALSO = {
    "numerics.arguments": ("numerics/test_one_sided.py",),
    "numerics.regularizers": ("numerics/test_alibi.py",),
    "numerics.priors": ("numerics/test_attention.py",),
    "derivations.judge.canonical": ("derivations/relations/test_side_by_side.py",),
    "derivations.records.normal_form": (
        "derivations/judge/test_canonical.py",
        "derivations/judge/test_verdicts.py",
        "derivations/records/test_records.py",
    ),
    "derivations.ledger.runs": ("derivations/ledger/test_joining.py",),
    "derivations.ledger.differences": ("derivations/ledger/test_regression.py",),
    "derivations.ledger.rows": ("derivations/ledger/test_ledger.py", "attacks/test_ledger_forgery.py"),
    "derivations.ledger.schema": ("derivations/ledger/test_ledger.py", "attacks/test_hostile_ledgers.py"),
    "derivations.ledger.baseline": (
        "derivations/ledger/test_ledger.py",
        "derivations/records/test_records.py",
        "attacks/test_baselines.py",
    ),
    "derivations.ledger.ledger": ("attacks/test_hostile_ledgers.py",),
    "derivations.ledger.regression": ("derivations/ledger/test_baseline.py", "attacks/test_baselines.py"),
    "derivations.records.base": (
        "derivations/ledger/test_ledger.py",
        "derivations/judge/test_canonical.py",
        "derivations/ledger/test_baseline.py",
    ),
    "derivations.judge.integrity": ("attacks/test_integrity.py",),
    "derivations.register.claiming": ("derivations/register/test_catalogue.py", "attacks/test_registry.py"),
    "derivations.register.examining": ("derivations/register/test_catalogue.py", "derivations/judge/test_examination.py"),
    "derivations.register.freezing": ("derivations/register/test_contents.py", "attacks/test_sealing.py"),
    "derivations.register.selection": ("derivations/register/test_catalogue.py",),
    "derivations.register.source_lines": ("derivations/records/test_records.py",),
    "derivations.records.theorems": ("derivations/records/test_records.py",),
    "derivations.register.entry": (
        "derivations/register/test_catalogue.py",
        "derivations/judge/test_examination.py",
        "derivations/judge/test_verdicts.py",
    ),
    "derivations.judge.comparison": (
        "derivations/judge/test_twins.py",
        "derivations/judge/test_examination.py",
        "attacks/test_corrections.py",
    ),
    "derivations.judge.examination": ("derivations/judge/test_twins.py", "attacks/test_premises.py", "attacks/test_sealing.py"),
    "derivations.judge.symbolic": (
        "derivations/register/test_catalogue.py",
        "derivations/judge/test_examination.py",
        "attacks/test_corrections.py",
    ),
    "derivations.records.claims": ("derivations/judge/test_verdicts.py",),
    "derivations.calculus.signs": ("attacks/test_signs.py", "derivations/calculus/test_bounds.py", "attacks/test_truths.py"),
    "derivations.calculus.sums": (
        "attacks/test_sums.py",
        "derivations/calculus/test_kernel_bugs.py",
        "derivations/calculus/test_powers.py",
        "attacks/test_truths.py",
    ),
    "derivations.calculus.bounds": (
        "attacks/test_bounds.py",
        "derivations/calculus/test_signs.py",
        "derivations/relations/test_taylor.py",
    ),
    "derivations.calculus.defined": ("attacks/test_definedness.py", "derivations/calculus/test_powers.py"),
    "derivations.calculus.admission": ("attacks/test_points.py",),
    **{
        f"derivations.domains.{name}": ("derivations/calculus/test_admission.py", "derivations/calculus/test_variables.py")
        for name in ("base", "coupling", "index", "moves", "simplex", "size", "slack", "stochastic")
    },
    "derivations.calculus.arithmetic": ("derivations/calculus/test_balls.py", "derivations/calculus/test_powers.py"),
    "derivations.calculus.differentiation": (
        "derivations/calculus/test_balls.py",
        "derivations/relations/test_taylor.py",
        "attacks/test_definedness.py",
    ),
    "derivations.calculus.division": ("derivations/test_authored.py", "attacks/test_definedness.py", "attacks/test_readers.py"),
    "derivations.calculus.edits": ("derivations/judge/test_mutants.py",),
    "derivations.calculus.functions": (
        "derivations/calculus/test_powers.py",
        "derivations/calculus/test_bounds.py",
        "attacks/test_signs.py",
    ),
    "derivations.calculus.germs": ("attacks/test_limits.py", "derivations/relations/test_relations.py"),
    "derivations.calculus.parts": ("derivations/calculus/test_bounds.py", "derivations/calculus/test_powers.py"),
    "derivations.calculus.points": ("attacks/test_points.py", "derivations/calculus/test_balls.py"),
    "derivations.calculus.powers": ("attacks/test_signs.py",),
    "derivations.calculus.quick": ("attacks/test_caches.py", "derivations/test_sympy.py"),
    "derivations.calculus.search": ("derivations/judge/test_mutants.py",),
    "derivations.calculus.series": ("derivations/relations/test_expansion.py", "attacks/test_expansions.py"),
    "derivations.calculus.shorthands": ("derivations/calculus/test_extrema.py", "attacks/test_bounds.py"),
    "derivations.calculus.variables": ("attacks/test_sums.py", "attacks/test_definedness.py", "attacks/test_registry.py"),
    "derivations.calculus.printing": ("derivations/calculus/test_printing.py",),
    "derivations.relations.base": (
        "derivations/relations/test_protocol.py",
        "attacks/test_points.py",
        "attacks/test_hostile.py",
        "derivations/calculus/test_kernel_bugs.py",
    ),
    "derivations.relations.equation": (
        "derivations/relations/test_base.py",
        "derivations/calculus/test_kernel_bugs.py",
        "attacks/test_truths.py",
    ),
    "derivations.relations.disproof": (
        "derivations/relations/test_equation.py",
        "derivations/relations/test_base.py",
        "attacks/test_points.py",
    ),
    "derivations.relations.differs": ("derivations/relations/test_equation.py", "derivations/relations/test_base.py"),
    "derivations.relations.exporter": ("derivations/rocq/test_export.py",),
    "derivations.relations.unless_equal": ("derivations/relations/test_inequality.py", "attacks/test_truths.py"),
    "derivations.relations.witnesses": ("derivations/relations/test_base.py", "attacks/test_points.py"),
    "derivations.relations.inequality": ("attacks/test_signs.py", "attacks/test_truths.py", "attacks/test_bounds.py"),
    "derivations.relations.limit": ("attacks/test_limits.py",),
    **{f"derivations.relations.{name}": OPTIMA for name in ("optimum", "plan", "problem", "rivals")},
    "derivations.relations.expansion": ("attacks/test_expansions.py",),
    "derivations.relations.objectives": ("attacks/test_confirmation.py",),
    "derivations.relations.further": ("derivations/relations/test_further.py", "attacks/test_confirmation.py"),
    "derivations.relations.implication": (
        "attacks/test_premises.py",
        "derivations/relations/test_inequality.py",
        "derivations/relations/test_universal.py",
    ),
    **{f"derivations.reader.{name}": PRINTS for name in ("assertions", "densities", "links", "posed", "remainders", "spaces")},
    "derivations.records.prints": ("derivations/records/test_records.py",),
    "derivations.records.seals": ("derivations/records/test_records.py",),
    "derivations.ledger.elsewhere": ("derivations/ledger/test_incremental.py", "attacks/test_kept_rows.py"),
    "derivations.run.notebooks": ("notebooks/test_command.py",),
    "derivations.register.wording": (
        "derivations/register/test_catalogue.py",
        "derivations/records/test_records.py",
        "derivations/judge/test_verdicts.py",
    ),
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
    """The dotted names of all modules, but for the chapters and those ``LEFT_OUT``."""
    apart = tuple(f"{name}." for name in (*CHAPTERS, *LEFT_OUT))
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("[a-z]*.py"))
    ]
    return tuple(name for name in names if not f"{name}.".startswith(apart))


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
    looks at the signatures of the package, and at what all of its functions have in common."""
    package, *folders, name = module.split(".")
    folder = ROOT.joinpath("tests", package, *folders)
    if not folders or f"{package}.{folders[0]}" in NAMED:
        candidates = sorted({*folder.glob(f"test_{name}*.py"), *folder.glob(f"test_{folder.name}.py")})
    else:
        while not folder.is_dir():
            folder = folder.parent
        candidates = [path for path in sorted(folder.glob("test_*.py")) if ELSEWHERE not in path.read_text(encoding="utf-8")]
    common = ("numerics/test_defaults.py", "protocol/test_protocol.py") if package == "numerics" else ()
    also = [ROOT / "tests" / path for path in (*ALSO.get(module, ()), *common)]
    return tuple(dict.fromkeys([*candidates, *also]))
