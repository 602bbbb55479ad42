"""Render pages of `docs/` as HTML: headings, paragraphs, lists, tables, code and bold; links become plain text."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from markupsafe import Markup, escape

DOCS = Path(__file__).parents[2] / "docs"
TITLES = {"trust": "What has to be believed", "edges": "At the edges"}
"""The pages of `docs/` that are part of a report, with their titles."""


def documented() -> dict[str, Markup]:
    """Return the pages of ``TITLES`` as HTML; those that are not installed with the package are left out."""
    files = {name: DOCS / f"{name}.md" for name in TITLES}
    return {name: page(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()}


def page(text: str) -> Markup:
    """Render a Markdown text block by block, without comments."""
    shown = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return Markup("\n").join(map(_block, filter(str.strip, re.split(r"\n\s*\n", shown))))


def _block(block: str) -> Markup:
    lines = block.strip().splitlines()
    if heading := re.match(r"(#+) (.*)", lines[0]):
        level = len(heading[1])
        return Markup("<h{}>{}</h{}>").format(level, inline(heading[2]), level)
    if lines[0].startswith("|"):
        return _table(lines)
    if lines[0].startswith("- "):
        return Markup("<ul>{}</ul>").format(_joined("<li>{}</li>", map(inline, _items(lines))))
    return Markup("<p>{}</p>").format(inline(" ".join(lines)))


def _items(lines: list[str]) -> Iterator[str]:
    """Yield the items of a list with their continuation lines."""
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield " ".join(line.strip().removeprefix("- ") for line in lines[start:end])


def _table(lines: list[str]) -> Markup:
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    head, *body = [row for row in cells if not set("".join(row)) <= set("-: ")]
    rows = [_joined("<td>{}</td>", map(inline, row)) for row in body]
    return Markup('<div class="scroll"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>').format(
        _joined('<th scope="col">{}</th>', map(inline, head)), _joined("<tr>{}</tr>", rows)
    )


def _joined(form: str, parts: Iterable[Markup]) -> Markup:
    return Markup("").join(Markup(form).format(part) for part in parts)


def inline(text: str) -> Markup:
    """Render `code`, **bold** and links, of which only the text stays."""
    pieces = re.split(r"`([^`]+)`", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text))
    return Markup("").join(Markup("<code>{}</code>").format(x) if at % 2 else _bold(x) for at, x in enumerate(pieces))


def _bold(text: str) -> Markup:
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", str(escape(text))))
