"""Records: frozen, typed, and the same in a JSON file as in memory.

Files are decoded strictly: an unknown field, a missing one or a value of another type is an error that names the key.  Exact
numbers stay exact: an integer is a number in JSON, a fraction the text "1/4".
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

import msgspec

Number = int | str
Exact = Number | tuple[Number | tuple[Number | tuple[Number | tuple[Number, ...], ...], ...], ...]
"""An exact number, or a vector or matrix of such numbers (up to four axes), as it is written to a file."""

FRACTION = re.compile(r"-?\d+/[1-9]\d*")

Type = TypeVar("Type")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen record whose fields are checked when it is read from a file."""


# ── exact numbers ───────────────────────────────────────────────────────────────────────────────────────────────────


def exact(value: Any) -> Exact:
    """Encode an exact value (an integer, a fraction, or nested sequences of them) for a file."""
    if isinstance(value, Sequence):
        entries: Any = tuple(exact(each) for each in value)
        return entries  # type: ignore[no-any-return]
    number = Fraction(str(value))
    return number.numerator if number.denominator == 1 else str(number)


def from_exact(value: Exact) -> Any:
    """Decode an integer, a fraction, or lists of them that `exact` wrote; raises ValueError for another text."""
    if isinstance(value, tuple | list):
        return [from_exact(each) for each in value]
    if isinstance(value, str) and not FRACTION.fullmatch(value):
        raise ValueError(f'value: expected an integer or a fraction like "-1/4", got {value!r}')
    return value if isinstance(value, int) else Fraction(value)


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def to_json(record: Any) -> Any:
    """Convert records to JSON data: objects, lists, texts, numbers; a number that is not finite becomes null."""
    return msgspec.json.decode(encoded(record))


def encoded(record: Any) -> bytes:
    """Return one or several records as JSON text on one line; raises TypeError for anything else."""
    return msgspec.json.encode(record, enc_hook=_number)


def _number(value: object) -> float:
    if isinstance(value, float):  # one of NumPy's
        return float(value)
    raise TypeError(f"record: expected plain values, got {type(value).__name__}")


def from_json(data: Any, expected: type[Type]) -> Type:
    """Decode a record from JSON data.

    Raises ValueError, as "key: expected X, got Y", for an unknown field, a missing one, and a value of another type.
    """
    try:
        return msgspec.convert(data, expected)
    except msgspec.ValidationError as error:
        raise ValueError(_refusal(str(error))) from None


def decoded(text: str | bytes) -> Any:
    """Return the data in a JSON text; raises ValueError, as "expected X, got Y", if it is not JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"expected JSON, got something else ({error})") from None


REFUSED = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
WORDS = {  # msgspec's phrases and ours
    r"Object missing required field (\w+)": r"missing field \1",
    r"Object contains unknown field (\w+)": r"expected known fields, got \1",
    r"Invalid enum value (.*)": r"expected a known word, got \1",
    r"Expected": "expected",
}


def _refusal(message: str) -> str:
    """Return msgspec's message in our wording, with the key in front."""
    refused = REFUSED.fullmatch(message)
    assert refused is not None
    what = refused["what"].replace("`", "")
    for phrase, words in WORDS.items():
        what = re.sub(phrase, words, what)
    return f"{refused['path']}: {what}" if refused["path"] else what
