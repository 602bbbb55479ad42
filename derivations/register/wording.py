"""Checks of the ids and texts that authors give: ids are well formed, and texts are not blank."""

import re

IDS = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)+")


def is_id(text: object) -> bool:
    """Return whether a value is an id: document and number, of letters and digits joined by dots, hyphens and underscores."""
    return isinstance(text, str) and "." in text and IDS.fullmatch(text) is not None


def is_worded(text: object) -> bool:
    """Return whether a value is a string with at least one visible character."""
    return isinstance(text, str) and any(letter.isprintable() and not letter.isspace() for letter in text)


def check_words(id: str, **texts: object) -> None:
    """Check that texts are not blank; raises ValueError, naming the claim and the field."""
    for name, text in texts.items():
        if not is_worded(text):
            raise ValueError(f"{name}: expected words for {id}, got {text!r}")


def check_lists(id: str, **lists: object) -> None:
    """Check that values are tuples of strings that are not blank; raises ValueError, naming the claim and the field."""
    for name, words in lists.items():
        if not isinstance(words, tuple) or not all(map(is_worded, words)):
            raise ValueError(f"{name}: expected a tuple of strings for {id}, got {words!r}")
