"""What an author may call things: ids, and texts that say something."""

from __future__ import annotations

import re

IDS = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)+")


def is_id(text: object) -> bool:
    """Whether something is an id: document and number, in letters and digits with dots, hyphens and underscores between."""
    return isinstance(text, str) and "." in text and IDS.fullmatch(text) is not None


def is_worded(text: object) -> bool:
    """Whether something is a text in which there is something to see."""
    return isinstance(text, str) and any(letter.isprintable() and not letter.isspace() for letter in text)


def check_words(id: str, **texts: object) -> None:
    """Raises ValueError for a text that says nothing."""
    for name, text in texts.items():
        if not is_worded(text):
            raise ValueError(f"{name}: expected words for {id}, got {text!r}")


def check_lists(id: str, **lists: object) -> None:
    """Raises ValueError for what is no tuple of texts that say something."""
    for name, words in lists.items():
        if not isinstance(words, tuple) or not all(map(is_worded, words)):
            raise ValueError(f"{name}: expected a tuple of strings for {id}, got {words!r}")
