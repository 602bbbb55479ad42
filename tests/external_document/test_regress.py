"""Every class of difference is planted in a paper and reported by verify, accept, change, verify, regress."""

import re
import shutil
from pathlib import Path

import pytest

from tests.external_document.test_document import PAPER, run

SECTION = '''"""Section 2: claims to be changed."""

import sympy as sp

from derivations.domains import Positive
from derivations.calculus.sums import total
from derivations.calculus.variables import index, scalar, size, vector
from derivations.register.claiming import Steps, Undecidable, claim
from derivations.records.claims import Severity
from derivations.relations import AtLeast, Equation, Fails

m = size("m")
i, j, k = index("i", m), index("j", m), index("k", m)
x, y, z, v = scalar("x"), scalar("y"), scalar("z", Positive), vector("v", m)


def twins(entry, left):
    entry.twin("one", lambda: Equation(left, left + 1))
    entry.twin("twice", lambda: Equation(left, 2 * left + 3))


@claim("tiny_paper.4", "identity", title="Reasons", latex="a")
def reasons() -> Steps:
    """A product."""
    yield Equation((x + y) * x, x**2 + x * y, reason="a sum is multiplied term by term")
    yield Equation((x + y) * (x - y), x**2 - y**2, reason="the mixed terms cancel")


@claim("tiny_paper.5", "identity", title="Steps", latex="b")
def steps() -> Steps:
    """A square."""
    yield Equation(x * (2 * y + 1), 2 * x * y + x)
    yield Equation((x + y) ** 2, x**2 + 2 * x * y + y**2)


@claim("tiny_paper.6", "identity", title="Sides", latex="c")
def sides() -> Steps:
    """A sum of squares."""
    yield Equation(total(j, (v[j] + x) ** 2), total(j, v[j] ** 2) + 2 * x * total(j, v[j]) + m * x**2)


@claim("tiny_paper.7", "identity", title="Twins", latex="d")
def with_twins() -> Steps:
    """A cube."""
    yield Equation(x * (x + 1) ** 2, x**3 + 2 * x**2 + x)


@claim("tiny_paper.8", "identity", title="Domains", latex="e")
def real() -> Steps:
    """A square that any number has."""
    yield Equation((x + 1) * (x + 1), x**2 + 2 * x + 1)


@claim("tiny_paper.9", "identity", title="Wider domains", latex="f")
def positive_only() -> Steps:
    """A square that a positive number has."""
    yield Equation((z + 1) * (z + 1), z**2 + 2 * z + 1)


@claim("tiny_paper.10", "identity", title="Indices", latex="g")
def indices() -> Steps:
    """A product of two entries."""
    yield Equation(v[j] * (v[k] + 1), v[j] * v[k] + v[j])


@claim("tiny_paper.11", "identity", title="Values", latex="h")
def values() -> Steps:
    """A difference."""
    yield Equation((x - y) * (x + 1), x**2 + x - x * y - y)


@claim("tiny_paper.12", "identity", title="Corrections", latex="i")
def corrections() -> Steps:
    """A square without its mixed term."""
    yield Fails(Equation((x + y) ** 2, x**2 + y**2, at={x: 1, y: 1}))


@corrections.corrected("ii", Severity.SLIP, replaces="the square")
def with_mixed_term() -> Steps:
    """The square with it."""
    yield Equation((x + y) ** 2, x**2 + 2 * x * y + y**2)


@claim("tiny_paper.13", "identity", title="Nothing", latex="j")
def nothing() -> Steps:
    """A statement about 0."""
    yield Equation(total(j, v[j] - total(k, v[k]) / m), 0)


@claim("tiny_paper.14", "identity", title="Verdicts", latex="k")
def verdicts() -> Steps:
    """A fourth power."""
    yield Equation((x**2 + 1) * (x**2 - 1), x**4 - 1)


@claim("tiny_paper.15", "identity", title="Hypotheses", latex="l")
def hypotheses() -> Steps:
    """A quotient."""
    yield Fails(Equation(x / z, 1, at={x: 2, z: 1}))


@hypotheses.corrected("ll", Severity.HYPOTHESIS, under="numerator and denominator agree", replaces="x, by z")
def equal() -> Steps:
    """The quotient of a number by itself."""
    yield Equation((z**2 + z) / z, 1 + z)


@claim("tiny_paper.16", "equivalence", title="Taste", latex="m")
def taste() -> Undecidable:
    """It is beautiful."""
    return Undecidable("a matter of taste")


@claim("tiny_paper.17", "inequality", title="Squares", latex="n", needs=("tiny_paper.5",))
def squares() -> Steps:
    """A square is at least 0."""
    yield AtLeast(x**2 + y**2, 2 * x * y, because=(x - y) ** 2)


@claim("tiny_paper.18", "identity", title="Old", latex="o")
def old() -> Steps:
    """A claim that will go."""
    yield Equation(x * (y + 1), x * y + x)


twins(reasons, (x + y) * (x - y))
twins(steps, (x + y) ** 2)
twins(sides, total(j, (v[j] + x) ** 2))
twins(with_twins, x * (x + 1) ** 2)
with_twins.twin("a square", lambda: Equation(x * (x + 1) ** 2, x**2))
twins(real, (x + 1) ** 2)
twins(positive_only, (z + 1) ** 2)
twins(indices, v[j] * (v[k] + 1))
twins(values, (x - y) * (x + 1))
twins(corrections, (x + y) ** 2)
twins(nothing, total(j, v[j] ** 2 + 1))
twins(verdicts, (x**2 + 1) * (x**2 - 1))
twins(hypotheses, x / z)
squares.twin("twice as much", lambda: AtLeast(x**2 + y**2, 4 * x * y))
squares.twin("one more", lambda: AtLeast(x**2 + y**2, 2 * x * y + 1))
twins(old, x * (y + 1))
'''

# Each change, with its claim and the expected message.
TEXT = [
    (
        "4",
        'reason="the mixed terms cancel"',
        'reason="multiplied out"',
        "after  2. (x - y)*(x + y) = x**2 - y**2  — multiplied out",
    ),
    (
        "15",
        'under="numerator and denominator agree"',
        'under="the numerator is the denominator"',
        "under\n      before numerator and denominator agree\n      after  the numerator is the denominator",
    ),
    (
        "16",
        '"a matter of taste"',
        '"nobody can say"',
        "why it is left open\n      before a matter of taste\n      after  nobody can say",
    ),
    (
        "17",
        'needs=("tiny_paper.5",)',
        'needs=("tiny_paper.4",)',
        "rests on\n      before tiny_paper.5\n      after  tiny_paper.4",
    ),
]
REWRITE = [
    (
        "5",
        "Equation(x * (2 * y + 1), 2 * x * y + x)",
        "Equation(x * (3 * y + 1), 3 * x * y + x)",
        "before 1. x*(2*y + 1) = 2*x*y + x\n      after  1. x*(3*y + 1) = 3*x*y + x",
    ),
    (
        "6",
        "total(j, v[j] ** 2) + 2 * x * total(j, v[j]) + m * x**2",
        "total(k, v[k] * (v[k] + 2 * x)) + m * x**2",
        "steps of the derivation",
    ),
    (
        "9",
        "Equation((z + 1) * (z + 1), z**2 + 2 * z + 1)",
        'Equation((scalar("z") + 1) * (scalar("z") + 1), scalar("z") ** 2 + 2 * scalar("z") + 1)',
        "domain of z\n      before > 0\n      after  real",
    ),
]
SCOPE = [
    (
        "7",
        'with_twins.twin("a square", lambda: Equation(x * (x + 1) ** 2, x**2))',
        "",
        "twin 'a square'\n      before there\n      after  gone",
    ),
    (
        "8",
        "Equation((x + 1) * (x + 1), x**2 + 2 * x + 1)",
        'Equation((scalar("x", Positive) + 1) ** 2, scalar("x", Positive) ** 2 + 2 * scalar("x", Positive) + 1)',
        "domain of x\n      before real\n      after  > 0",
    ),
    (
        "10",
        "Equation(v[j] * (v[k] + 1), v[j] * v[k] + v[j])",
        'Equation(v[j] * (v[index("k", m, other_than=(j,))] + 1), v[j] * v[index("k", m, other_than=(j,))] + v[j])',
        "domain of k\n      before in 1…m\n      after  in 1…m, other than j",
    ),
    (
        "17",
        'latex="n"',
        'latex=r"n \\leq 1"',
        "latex, which is not compared with the relation\n      before n\n      after  n \\leq 1",
    ),
]
VALUE = [
    (
        "11",
        "Equation((x - y) * (x + 1), x**2 + x - x * y - y)",
        "Equation((x - y) * (x + 2), x**2 + 2 * x - x * y - 2 * y)",
        "left side at x = ",
    ),
    (
        "12",
        'Equation((x + y) ** 2, x**2 + 2 * x * y + y**2)\n\n\n@claim("tiny_paper.13"',
        'Equation(5 * (x + y) ** 2, 5 * x**2 + 10 * x * y + 5 * y**2)\n\n\n@claim("tiny_paper.13"',
        "the correction's left side at x = ",
    ),
    (
        "13",
        "Equation(total(j, v[j] - total(k, v[k]) / m), 0)",
        "Equation(total(j, 2 * v[j] - 2 * total(k, v[k]) / m), 0)",
        "steps of the derivation\n      before 1. ",
    ),
]
VERDICT = [
    (
        "14",
        "yield Equation((x**2 + 1) * (x**2 - 1), x**4 - 1)",
        "yield Fails(Equation((x**2 + 1) * (x**2 - 1), x**4, at={x: 2}))",
        "verdict\n      before proved\n      after  refuted (fatal)",
    )
]
MEMBERSHIP = [
    ("18", "tiny_paper.18", "tiny_paper.19", "removed\n      before proved: Old"),
    ("19", "", "", "added\n      after  proved: Old"),
]


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the paper and the section, verified and accepted."""
    folder = tmp_path_factory.mktemp("regress")
    shutil.copytree(PAPER, folder / "tiny_paper", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tiny_paper" / "section2.py").write_text(SECTION)
    result = run(folder, "verify", "tiny_paper", "-n", "0")
    assert result.returncode == 0, result.stdout + result.stderr
    assert run(folder, "regress", "--accept").returncode == 0
    return folder


def regression_of(folder: Path, *changes: tuple[str, str, str, str]) -> tuple[int, dict[str, str]]:
    """The exit status of regress after these changes and a run, and its messages by class."""
    text = SECTION
    for _, old, new, _ in changes:
        assert not old or text.count(old) == 1, old
        text = text.replace(old, new) if old else text
    (folder / "tiny_paper" / "section2.py").write_text(text)
    process = run(folder, "verify", "tiny_paper", "-n", "0", "--json", "after.json")
    assert "written" in process.stdout, process.stdout + process.stderr
    result = run(folder, "regress", "--json", "after.json")
    (folder / "tiny_paper" / "section2.py").write_text(SECTION)
    _, *parts = re.split(r"^([a-z/ ]+): \d+ claims?$", result.stdout, flags=re.MULTILINE)
    return result.returncode, dict(zip(parts[::2], parts[1::2], strict=True))


def test_nothing_changed(accepted: Path) -> None:
    result = run(accepted, "regress")
    assert result.returncode == 0
    assert result.stdout.startswith("18 claims compared, 18 as before; ")


def test_changes_that_pass(accepted: Path) -> None:
    status, changes = regression_of(accepted, *TEXT, *REWRITE)
    assert status == 0, changes
    assert list(changes) == ["equivalent rewrite", "text only"]
    expect(changes, {"text only": TEXT, "equivalent rewrite": REWRITE})


def test_changes_that_fail_each_in_its_class(accepted: Path) -> None:
    planted = {
        "scope or strength lost": SCOPE,
        "value changed": VALUE,
        "verdict changed": VERDICT,
        "claim removed/added": MEMBERSHIP,
    }
    status, reported = regression_of(accepted, *(change for changes in planted.values() for change in changes))
    assert status == 1
    assert list(reported) == [*reversed(planted)]
    expect(reported, planted)


def expect(reported: dict[str, str], planted: dict[str, list[tuple[str, str, str, str]]]) -> None:
    for change, changes in planted.items():
        numbers = re.findall(r"^  tiny_paper\.(\S+)$", reported[change], flags=re.MULTILINE)
        assert sorted(numbers) == sorted(number for number, *_ in changes)
        for *_, words in changes:
            assert words in reported[change], reported[change]


def test_a_ledger_older_than_its_sources_is_reported(accepted: Path) -> None:
    assert "is older than" not in run(accepted, "regress").stdout
    (accepted / "tiny_paper" / "section2.py").write_text(SECTION + "\n")
    assert "ledger.json is older than tiny_paper.section2: " in run(accepted, "regress").stdout
    (accepted / "tiny_paper" / "section2.py").write_text(SECTION)


def test_the_changes_of_one_claim_are_accepted_and_no_others(accepted: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(accepted, tmp_path / "copy")
    section, recorded = folder / "tiny_paper" / "section2.py", folder / "tiny_paper" / "baseline.json"
    for _, old, new, _ in (VALUE[0], MEMBERSHIP[0]):
        section.write_text(section.read_text().replace(old, new))
    before = recorded.read_text().splitlines()
    assert "written" in run(folder, "verify", "tiny_paper.11", "-n", "0").stdout
    result = run(folder, "regress", "--accept", "tiny_paper.11")
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "accepted 1 changes: 1 value changed"), result.stderr
    changed = [line for line, now in zip(before, recorded.read_text().splitlines(), strict=True) if line != now]
    assert [line.split(":")[0] for line in changed] == ['"tiny_paper.11"']
    assert run(folder, "regress", "tiny_paper.11").stdout.startswith("1 claims compared, 1 as before")
    assert run(folder, "regress").returncode == 2  # tiny_paper.18, of which the ledger has a row, is gone


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("tiny_paper.99", "error: ID: expected a claim or a document, got tiny_paper.99; did you mean "),
        ("eot.46", "error: --json: ledger.json has no row of eot.46; verify it first"),
    ],
)
def test_a_claim_that_cannot_be_accepted_leaves_the_baseline_as_it_was(accepted: Path, id: str, message: str) -> None:
    before = (accepted / "tiny_paper" / "baseline.json").read_bytes()
    result = run(accepted, "regress", "--accept", "tiny_paper.4", id)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert (accepted / "tiny_paper" / "baseline.json").read_bytes() == before
