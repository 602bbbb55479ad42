"""Join a paper that is spread over several files: \\input, \\include and \\subfile are replaced by what they name."""

import re
from collections.abc import Iterator
from pathlib import Path

COMMENT_OR_INPUT = re.compile(r"(?<!\\)(?:\\\\)*%[^\n]*|\\(?:input|include|subfile)\s*\{([^{}]*)\}|\\input\s+([^\s{}\\%]+)")
BODY = re.compile(r"\\begin\s*\{document\}(.*)\\end\s*\{document\}", re.DOTALL)


SHIPPED = {"glyphtounicode", "pdf-trans", "random"}  # with TeX itself, without formulas


def joined(path: Path) -> str:
    """Return the text of a paper with all files that it names, relative to its folder, as LaTeX reads them.

    Raises ValueError for a file that is missing, is outside of the folder of the paper, is not UTF-8, or names itself.
    """
    return "".join(_pieces(path, path.resolve().parent, ()))


def _pieces(path: Path, folder: Path, above: tuple[Path, ...]) -> Iterator[str]:
    if path.resolve() in above:
        raise ValueError(f"PAPER: expected files that do not name each other, got {path.name} inside of itself")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"PAPER: expected a LaTeX file in UTF-8, got {path}: {error}") from None
    if above and (body := BODY.search(text)):  # a subfile has a preamble of its own
        text = body[1]
    end = 0
    for match in COMMENT_OR_INPUT.finditer(text):
        name = (match[1] or match[2] or "").strip()
        if not name or name in SHIPPED:
            continue
        yield text[end : match.start()]
        yield from _pieces(_file(folder, name, path), folder, (*above, path.resolve()))
        end = match.end()
    yield text[end:]


def _file(folder: Path, name: str, source: Path) -> Path:
    """The file of a name with or without .tex."""
    for file in (folder / f"{name}.tex", folder / name):
        if file.is_file() and file.resolve().is_relative_to(folder):
            return file
    raise ValueError(f"PAPER: missing {name}.tex in {folder}, which {source.name} inputs")
