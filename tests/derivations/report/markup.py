"""Read pages back as elements with their attributes and words."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "br", "input", "img", "hr"}


@dataclass
class Element:
    """One element; `words` is all the text inside."""

    tag: str
    attributes: dict[str, str]
    words: str = ""
    inside: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """A reader that collects the elements of a page and reports unbalanced tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, inside=[outer.tag for outer in self.open])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1].tag != tag:
            raise AssertionError(f"</{tag}> closes {[outer.tag for outer in self.open]}")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for outer in self.open:
            outer.words += data


def read(page: str) -> list[Element]:
    """The elements of a page, in order; raises AssertionError for an unclosed tag."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    if reader.open:
        raise AssertionError(f"left open: {[outer.tag for outer in reader.open]}")
    return reader.elements


def having(elements: list[Element], name: str) -> list[Element]:
    """The elements with a class."""
    return [element for element in elements if name in element.attributes.get("class", "").split()]


def ids(page: Path) -> set[str]:
    """The anchors of a page that a link may name."""
    return {element.attributes["id"] for element in read(page.read_text(encoding="utf-8")) if "id" in element.attributes}
