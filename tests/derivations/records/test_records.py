"""Records are frozen, are read strictly, and are the same in a file as in memory."""

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from derivations.ledger import baseline
from derivations.ledger import schema as ledger_schema
from derivations.records import base as records
from derivations.records import claims, normal_form, seals, theorems
from derivations.records import prints as outcome
from derivations.records.base import Record, decoded, encoded, exact, from_exact, from_json, to_json
from derivations.records.claims import Witness
from derivations.register import source_lines as printed


@pytest.mark.parametrize(
    "module",
    [records, claims, normal_form, ledger_schema, baseline, printed, theorems, seals, outcome],
    ids=lambda module: module.__name__,
)
def test_every_record_is_frozen_and_strict(module: ModuleType) -> None:
    own = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Record)]
    assert own
    assert [each.__name__ for each in own if not each.__struct_config__.frozen] == []
    assert [each.__name__ for each in own if not each.__struct_config__.forbid_unknown_fields] == []


def test_fields_that_are_as_usual_are_left_out_of_a_file() -> None:
    assert to_json(normal_form.Form(normal_form.Sign.EQUAL)) == {"sign": "equal"}
    assert to_json(normal_form.Declared("size")) == {"kind": "size"}


@pytest.mark.parametrize(
    ("value", "written"), [(3, 3), (Fraction(6, 4), "3/2"), (Fraction(-4, 2), -2), ([1, [Fraction(1, 3), 2]], (1, ("1/3", 2)))]
)
def test_exact_numbers_stay_exact(value: object, written: object) -> None:
    assert exact(value) == written
    assert from_exact(exact(value)) == value


@pytest.mark.parametrize("text", ["0.5", "1/0", "1/-3", "x", " 1/2", "1/2\n"])
def test_invalid_fractions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r'^value: expected an integer or a fraction like "-1/4", got '):
        from_exact(text)


def test_numbers_of_numpy_are_numbers_and_other_objects_are_nothing() -> None:
    assert encoded([np.float64(0.25), 1, float("inf")]) == b"[0.25,1,null]"
    assert to_json(Witness({"x": "1/2"}, "0", "≠", "1")) == {
        "inputs": {"x": "1/2"},
        "left": "0",
        "sign": "≠",
        "right": "1",
        "about": "",
    }
    with pytest.raises(TypeError, match=r"^record: expected plain values, got object$"):
        encoded([object()])


@pytest.mark.parametrize("text", ["{", b"\xff", "[" * 10**5, "NaN"])
def test_invalid_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"^expected JSON, got something else"):
        decoded(text)


GOOD = {"inputs": {}, "left": "0", "sign": "≠", "right": "1"}


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({**GOOD, "left": 0}, "left: expected str, got int"),
        ({**GOOD, "more": 1}, "expected known fields, got more"),
        ({"left": "0"}, "missing field inputs"),
        (3, "expected object, got int"),
        ({**GOOD, "inputs": {"x": None}}, "inputs[...]: expected int | str | array, got null"),
    ],
)
def test_a_refusal_names_the_key(data: object, refusal: str) -> None:
    with pytest.raises(ValueError, match=r"expected|missing") as refused:
        from_json(data, Witness)
    assert str(refused.value) == refusal
