"""Render `docs/trust.md` as HTML: headings, paragraphs, lists, tables, code and bold; links become plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from markupsafe import Markup, escape

TRUST = Path(__file__).parents[2] / "docs" / "trust.md"


def trust() -> Markup | None:
    """Return the page of `docs/trust.md` as HTML; None if docs/ is not installed with the package."""
    return page(TRUST.read_text(encoding="utf-8")) if TRUST.is_file() else None


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
        _joined('<th scope="col">{}</th>', map(inline, head)), _joined("<tr>{}</tr>", rows))


def _joined(form: str, parts: Iterable[Markup]) -> Markup:
    return Markup("").join(Markup(form).format(part) for part in parts)


def inline(text: str) -> Markup:
    """Render `code`, **bold** and links, of which only the text stays."""
    words = str(escape(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)))
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", words))
