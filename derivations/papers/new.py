"""Make a document from a LaTeX paper: its sections as modules, its equations as claims, its symbols as a notation to correct.

Running it again after a change preserves the author's work: lines of the notation, and additions to the modules.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from derivations.files import write_whole
from derivations.papers.guesses.guesses import Guesses
from derivations.papers.guesses.guessing import guess
from derivations.reader.syntax.names import split
from derivations.reader.tex.inputs import joined
from derivations.reader.tex.paper import Formula, Paper, paper_of

KEY = re.compile(r"[a-z][a-z0-9_]*")
NOTATION = "notation.py"
JOINED = "joined.tex"  # a paper of several files as one, whose lines the claims name


@dataclass(frozen=True)
class Written:
    """An equation of a paper as a claim."""

    id: str
    position: int
    formula: Formula
    defines: bool


def create(path: Path, folder: Path) -> list[Written]:
    """Write the folder of a paper, or bring it up to date; raises ValueError for a folder that cannot be a document."""
    if not KEY.fullmatch(folder.name):
        raise ValueError(f"FOLDER: expected a name in small letters, digits and _, got {folder.name}")
    if not folder.parent.is_dir():
        raise ValueError(f"FOLDER: expected a folder in an existing one, got {folder}")
    text = joined(path)
    paper = paper_of(text)
    guesses = guess(paper)
    equations = list(_equations(folder.name, paper, guesses))
    if not equations:
        raise ValueError(f"PAPER: no displayed formula in {path}")
    folder.mkdir(exist_ok=True)
    title = paper.title or path.stem
    if text != path.read_text(encoding="utf-8"):
        path = folder / JOINED
        write_whole(path, text)
    _write_once(folder / "__init__.py", f'"""{title}."""\n')
    _write_notation(folder / NOTATION, title, guesses, _local(equations, guesses), _new_scopes(folder, equations))
    for section in sorted({each.formula.section for each in equations}):
        _write_section(folder, path, paper, section, [each for each in equations if each.formula.section == section])
    return equations


def _equations(document: str, paper: Paper, guesses: Guesses) -> Iterator[Written]:
    """Every displayed formula, and an id for each; s3.2 is the second of section 3 without a number and a label."""
    used: set[str] = set()
    unnamed: Counter[int] = Counter()
    for position, formula in enumerate(paper.formulas):
        if not formula.display:
            continue
        words = re.sub(r"[^A-Za-z0-9.]+", "-", formula.number or formula.label.split(":")[-1]).strip("-.")
        if not words:
            unnamed[formula.section] += 1
            words = f"s{formula.section}.{unnamed[formula.section]}"
        id, copy = f"{document}.{words}", 1
        while id in used:
            copy += 1
            id = f"{document}.{words}-{copy}"
        used.add(id)
        premises = "".join(rf", \quad \text{{if }} {each}" for each in guesses.premises.get(position, ()))
        yield Written(id, position, replace(formula, latex=formula.latex + premises), position in guesses.defining)


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_once(path: Path, text: str) -> None:
    if not path.exists():
        write_whole(path, text)


def _new_scopes(folder: Path, equations: list[Written]) -> set[str]:
    """Return the equations that a document does not have yet or has in another form, and the sections that it does not have."""
    modules = {each.formula.section: folder / f"section{each.formula.section}.py" for each in equations}
    texts = {section: path.read_text(encoding="utf-8") for section, path in modules.items() if path.exists()}
    new = {each.id for each in equations if _raw(each.formula.latex) not in texts.get(each.formula.section, "")}
    return new | {f"section{section}" for section in modules if section not in texts}


def _local(equations: list[Written], guesses: Guesses) -> dict[str, dict[str, str]]:
    """Return the lines of local meanings by symbol, by module or id."""
    ids = {each.position: each.id for each in equations}
    named = {(kind, number): f"section{number}" if kind == "section" else ids.get(number, "") for kind, number in guesses.local}
    return {
        named[scope]: {symbol: _line(symbol, each.meaning, each.why, indent=8) for symbol, each in lines.items()}
        for scope, lines in guesses.local.items()
        if named[scope]
    }


def _write_notation(
    path: Path, title: str, guesses: Guesses, local: Mapping[str, Mapping[str, str]], new_scopes: Set[str]
) -> None:
    """Write the notation; new symbols go to its end, with local meanings of new equations; existing lines stay unchanged."""
    if not path.exists():
        lines = [_line(symbol, each.meaning, each.why) for symbol, each in guesses.lines.items()]
        write_whole(
            path,
            f'"""What the symbols of the paper stand for: {_quoted(title)}.\n\nCorrect what is guessed wrong; '
            'see docs/a_document_of_your_own.md for what a line may say.\n"""\n\n'
            "from derivations import Notation\n\nNOTATION = Notation({\n"
            + "".join(lines)
            + _closing(local, guesses)
            + _unread(guesses),
        )
        return
    text = path.read_text(encoding="utf-8")
    table = _table(text)
    declared = {symbol for key in _keys(table) for symbol in split(key)}
    new = [_line(symbol, each.meaning, each.why) for symbol, each in guesses.lines.items() if symbol not in declared]
    text = _appended(text, table, "".join(new))
    for scope in [scope for scope in local if scope in new_scopes]:
        text = _with_local(text, scope, local[scope])
    write_whole(path, text)


def _with_local(text: str, scope: str, lines: Mapping[str, str]) -> str:
    """Return a notation with local meanings in a scope, beside those that it has."""
    call = _call_of(text)
    table = next((word.value for word in call.keywords if word.arg == "local"), None)
    if not isinstance(table, ast.Dict):
        whole = f"    {_raw(scope)}: {{\n{''.join(lines.values())}    }},\n"
        return _appended(text, call, f"local={{\n{whole}}}") if table is None else text
    own = [
        value
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == scope and isinstance(value, ast.Dict)
    ]
    if own:
        return _appended(text, own[0], "".join(line for symbol, line in lines.items() if symbol not in _keys(own[0])), "    ")
    return _appended(text, table, f"    {_raw(scope)}: {{\n{''.join(lines.values())}    }},\n")


def _keys(table: ast.Dict) -> list[str]:
    return [str(key.value) for key in table.keys if isinstance(key, ast.Constant)]


def _appended(text: str, node: ast.Dict | ast.Call, piece: str, indent: str = "") -> str:
    """Return a text with lines before the closing bracket of a table or a call, after a comma if it has none."""
    if not piece:
        return text
    parts = node.values if isinstance(node, ast.Dict) else [*node.args, *(word.value for word in node.keywords)]
    end = _position(text, node.end_lineno, node.end_col_offset) - 1
    last = _position(text, parts[-1].end_lineno, parts[-1].end_col_offset) if parts else end
    between = text[last:end]
    comma = "," if parts and "," not in re.sub(r"#.*", "", between) else ""
    lines = isinstance(node, ast.Dict) and not between.endswith("\n" + indent)
    head = text[:last] + comma + (between.removesuffix(indent) if not lines else f"{between.rstrip()}\n")
    return head + piece + indent + text[end:]


def _position(text: str, line: int | None, column: int | None) -> int:
    """Return where a position of the parser, which counts bytes, stands in a text."""
    lines = text.splitlines(keepends=True)
    row = (line or 1) - 1
    return sum(map(len, lines[:row])) + len(lines[row].encode()[: column or 0].decode())


def _unread(guesses: Guesses) -> str:
    """Return comments with the statements of the text, other than conditions, that are not used."""
    head = "\n# Not used: statements of the text.\n"
    lines = (f"#     line {line}: {latex}\n" for line, latex in dict.fromkeys(guesses.unread))
    return "".join([head, *lines]) if guesses.unread else ""


def _table(text: str) -> ast.Dict:
    """Return the table of a notation; raises ValueError if the file is not Python or has no table."""
    table = _call_of(text).args[0]
    assert isinstance(table, ast.Dict)
    return table


def _call_of(text: str) -> ast.Call:
    """Return the call of Notation with a table; raises ValueError as `_table` does."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"{NOTATION}: expected Python, got {error.msg} in line {error.lineno}") from None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Notation")]
    tables = [call for call in calls if call.args and isinstance(call.args[0], ast.Dict)]
    if not tables:
        raise ValueError(f"{NOTATION}: expected Notation({{...}}) with a line for each symbol, got none")
    return tables[0]


def _closing(local: Mapping[str, Mapping[str, str]], guesses: Guesses) -> str:
    """Return the end of a notation, with its local meanings and with conditions of the text that are not used."""
    tables = "".join(f"    {_raw(scope)}: {{\n{''.join(lines.values())}    }},\n" for scope, lines in local.items())
    conditions = "".join(f"    ({line}, {_raw(latex)}),\n" for line, latex in dict.fromkeys(guesses.restrictions))
    restrictions = f", restrictions=[  # conditions of the text, by line, that no meaning above comes from\n{conditions}]"
    return "}" + (f", local={{\n{tables}}}" if tables else "") + (restrictions if conditions else "") + ")\n"


def _line(symbol: str, meaning: str, why: str, indent: int = 4) -> str:
    return f"{' ' * indent}{_raw(symbol)}: {_raw(meaning)},  # {why}\n"


def _raw(text: str) -> str:
    """Return a text as a Python literal, raw if it has backslashes."""
    raw = '"' not in text and not text.endswith("\\") and "\n" not in text
    return f'r"{text}"' if raw and "\\" in text else f'"{text}"' if raw else repr(text)


def _quoted(text: str) -> str:
    return text.replace("\\", "").replace('"', "'")


def _write_section(folder: Path, path: Path, paper: Paper, section: int, equations: list[Written]) -> None:
    module = folder / f"section{section}.py"
    title = paper.sections[section - 1][0] if section else "Before the first section"
    calls = {each.id: _call(each) for each in equations}
    if module.exists():
        write_whole(module, _merged(module.read_text(encoding="utf-8"), calls))
        return
    key = folder.name
    head = (
        f'"""Section {section}: {_quoted(title)}.\n\nClaims     {", ".join(calls)}\nNotation   notation.py\n'
        f'References {path.name}\n"""\n\nfrom {key}.notation import NOTATION\n\nfrom derivations import equation\n\n'
    )
    write_whole(module, head + "\n".join(calls.values()))


def _call(each: Written) -> str:
    label = f", {each.formula.label}" if each.formula.label else ""
    number = f"Equation ({each.formula.number})" if each.formula.number else "Equation" if label else "Display"
    defines = ", defines=True" if each.defines else ""
    return (
        f"equation({_raw(each.id)}, {_raw(each.formula.latex)}, NOTATION,\n"
        f"         title={_raw(_quoted(number + label))}, line={each.formula.line}{defines})\n"
    )


def _merged(text: str, calls: Mapping[str, str]) -> str:
    """Return a module with updated equations and new ones at the end; everything else stays."""
    lines = text.splitlines(keepends=True)
    spans: dict[str, tuple[int, int]] = {}
    for node in ast.parse(text).body:
        call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "equation" and call.args:
            first = call.args[0]
            if isinstance(first, ast.Constant) and isinstance(node, ast.Expr):
                spans[str(first.value)] = (node.lineno - 1, node.end_lineno or node.lineno)
    for id, (start, end) in sorted(spans.items(), key=lambda item: -item[1][0]):
        lines[start:end] = [calls[id]] if id in calls else []
    new = "\n".join(call for id, call in calls.items() if id not in spans and f'"{id}"' not in text)
    return "".join(lines) + (f"\n{new}" if new else "")
