"""What `new` appends to a notation and to a section that exist, at the level of their text."""

import ast
from pathlib import Path

import pytest

from derivations.papers.new import Written, _appended, _call_of, _merged, _table, _with_local, _write_section
from derivations.reader.tex.paper import read_paper

LINE = '    "y": "real",  # new\n'
TABLES = [
    'NOTATION = Notation({\n    "x": "real",\n})\n',
    'NOTATION = Notation({\n    "x": "real"\n})\n',
    "NOTATION = Notation({})\n",
    'NOTATION = Notation({"x": "real"})\n',
    'NOTATION = Notation({"x": "real",})\n',
    "NOTATION = Notation({\n})\n",
    'NOTATION = Notation({\n    "é": "real"  # a comment, with a comma\n})\n',
    'NOTATION = Notation({"x": "real"}, local={})\n',
    'NOTATION = Notation(\n    {"x": "real"},\n)\n',
]


def table_of(text: str) -> dict[str, str]:
    table: dict[str, str] = ast.literal_eval(_call_of(text).args[0])
    return table


def local_of(text: str) -> dict[str, dict[str, str]]:
    found = [word.value for word in _call_of(text).keywords if word.arg == "local"]
    local: dict[str, dict[str, str]] = ast.literal_eval(found[0])
    return local


@pytest.mark.parametrize("text", TABLES)
def test_lines_are_appended_to_every_table(text: str) -> None:
    """They are the last of the table, after all that was there, which stays as it was."""
    longer = _appended(text, _table(text), LINE)
    assert list(table_of(longer).items()) == [*table_of(text).items(), ("y", "real")]
    old, new = ("".join(x.replace(",", "").split()) for x in (text, longer.replace(LINE, "")))
    assert new == old
    assert longer.index(LINE) == 0 or longer[longer.index(LINE) - 1] == "\n"
    assert _appended(text, _table(text), "") == text
    twice = _appended(longer, _table(longer), '    "z": "real",\n')
    assert list(table_of(twice))[-2:] == ["y", "z"]


@pytest.mark.parametrize("text", TABLES)
def test_local_meanings_are_appended_to_every_notation(text: str) -> None:
    one = _with_local(text, "section2", {"a": '        "a": "real",\n'})
    assert table_of(one) == table_of(text)
    assert local_of(one) == {"section2": {"a": "real"}}
    other = _with_local(one, "p.3", {"b": '        "b": "real",\n'})
    assert local_of(other) == {"section2": {"a": "real"}, "p.3": {"b": "real"}}
    more = _with_local(other, "section2", {"a": '        "a": "positive",\n', "c": '        "c": "real",\n'})
    assert local_of(more) == {"section2": {"a": "real", "c": "real"}, "p.3": {"b": "real"}}
    assert _with_local(more, "section2", {"a": '        "a": "positive",\n'}) == more


def test_local_meanings_that_are_no_table_are_left_alone() -> None:
    text = 'NOTATION = Notation({"x": "real"}, local=OTHERS)\n'
    assert _with_local(text, "section2", {"a": '        "a": "real",\n'}) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NOTATION = Notation(\n", "expected Python, got .* in line 1"),
        ("NOTATION = 3\n", r"expected Notation\(\{...\}\)"),
        ("NOTATION = Notation()\n", r"expected Notation\(\{...\}\)"),
        ("NOTATION = Notation(TABLE)\n", r"expected Notation\(\{...\}\)"),
        ('OTHER = Table({"x": "real"})\n', r"expected Notation\(\{...\}\)"),
    ],
)
def test_a_file_without_a_notation_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"notation.py: {why}"):
        _call_of(text)


def test_the_first_notation_with_a_table_counts() -> None:
    text = 'FIRST = Notation()\nSECOND = derivations.Notation({"x": "real"})\nTHIRD = Notation({"y": "real"})\n'
    assert table_of(text) == {"x": "real"}


def equations(folder: Path, *formulas: str) -> tuple[Path, list[Written]]:
    path = folder / "paper.tex"
    body = " ".join(rf"\begin{{equation}}\label{{eq:{at}}} {each} \end{{equation}}" for at, each in enumerate(formulas))
    path.write_text(rf"\begin{{document}}\section{{One}} {body} \end{{document}}", encoding="utf-8")
    displays = [(at, each) for at, each in enumerate(read_paper(path).formulas) if each.display]
    return path, [Written(f"doc.{each.number}", at, each, defines=False) for at, each in displays]


def test_a_section_is_written_and_then_merged(tmp_path: Path) -> None:
    """What an author has changed in it stays; equations that are new come after the others, and changed ones are replaced."""
    path, written = equations(tmp_path, "x = x", "y = y")
    _write_section(tmp_path, path, read_paper(path), 1, written[:1])
    module = tmp_path / "section1.py"
    first = module.read_text(encoding="utf-8")
    assert first.startswith('"""Section 1: One.')
    assert first.count("equation(") == 1
    module.write_text(first + "\nOWN = 3\n", encoding="utf-8")
    _write_section(tmp_path, path, read_paper(path), 1, written)
    second = module.read_text(encoding="utf-8")
    assert second.startswith(first)
    assert second.count("equation(") == 2
    assert "OWN = 3" in second
    path, written = equations(tmp_path, "x = 2 x", "y = y")
    _write_section(tmp_path, path, read_paper(path), 1, written)
    third = module.read_text(encoding="utf-8")
    assert "x = 2 x" in third
    assert third.count("equation(") == 2
    assert third.replace("x = 2 x", "x = x") == second


def test_equations_are_found_by_their_ids() -> None:
    text = 'X = equation("doc.1", "a = a", N)\nequation("doc.2", "b = b", N)\nother("doc.1")\nequation()\n'
    merged = _merged(text, {"doc.2": 'equation("doc.2", "c = c", N)\n', "doc.3": 'equation("doc.3", "d = d", N)\n'})
    assert merged.startswith('X = equation("doc.1", "a = a", N)\nequation("doc.2", "c = c", N)\nother("doc.1")\nequation()\n')
    assert merged.count("doc.3") == 1
    assert "b = b" not in merged
