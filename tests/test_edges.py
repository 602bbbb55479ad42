"""The page on the edges agrees with its data file, and covers everything that is measured now."""

import json
from pathlib import Path

from numerics.precision.study import FUNCTIONS, groups
from tests import edges
from tests.mutation.edits import mutants
from tests.mutation.targets import path_of
from tests.numerics.hostile.functions import FUNCTIONS as HOSTILE

ROOT = Path(__file__).parents[1]
DATA = json.loads(edges.DATA.read_text(encoding="utf-8"))


def cell(function: str = "f", state: str = "right", error: float | str = 0.5, decade: int = 0, dtype: str = "float64") -> dict:
    location = {"decade": decade, "scores": "normal", "size": 2, "dtype": dtype, "seed": 0}
    return {"function": function, "place": location, "state": state, "error": error, "said": "1 where 2 is right"}


def test_the_page_is_written_from_its_data() -> None:
    assert edges.page(DATA) == edges.PAGE.read_text(encoding="utf-8"), "run `python -m tests.edges`"


def test_the_page_is_linked() -> None:
    assert "docs/edges.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_function_is_measured() -> None:
    assert set(DATA["errors"]["functions"]) == {function.name for function in FUNCTIONS}
    assert set(DATA["hostile"]["functions"]) == set(HOSTILE)


def test_every_setting_is_counted() -> None:
    errors = DATA["errors"]
    assert {setting.seed for group in groups() for setting in group.settings} == {errors["seed"]}
    for function in FUNCTIONS:
        states = errors["functions"][function.name]["states"]
        assert sum(states.values()) == sum(1 for dtype in function.dtypes for _ in function.settings(dtype)), function.name


def test_no_hostile_input_is_silent() -> None:
    assert not any(row.get("silent") for row in DATA["hostile"]["functions"].values())


def test_the_largest_error_of_each_decade_and_dtype() -> None:
    groups = {
        "f, float64": [cell(error=0.25), cell(error=0.75), cell(decade=3), cell(state="refused", error="nan", decade=4)],
        "f, float32": [cell(dtype="float32", state="silent", error="inf", decade=3)],
    }
    errors = edges.errors([{"groups": groups, "seed": 0}], {})
    assert errors["functions"]["f"] == {
        "decades": {"0": 0.75, "3": "inf"},
        "dtypes": {"float64": 0.75, "float32": "inf"},
        "states": {"right": 3, "refused": 1, "silent": 1},
    }
    assert errors["silent"] == ["f, 10^3, normal, size 2, float32: 1 where 2 is right"]


def test_a_later_file_replaces_an_earlier_one() -> None:
    first, later = ({"groups": {"f, float64": [cell(error=x)]}, "seed": 0} for x in (0.5, 0.125))
    assert edges.errors([first, later], {})["functions"]["f"]["dtypes"] == {"float64": 0.12}


def test_a_function_that_was_not_measured_keeps_its_figures() -> None:
    first, later = (
        edges.errors([{"groups": {name: [cell(name, state="silent")] for name in names}, "seed": 0}], {})
        for names in (("f", "g, near"), ("f",))
    )
    again = edges.errors([{"groups": {"f": [cell("f", error=0.125)]}, "seed": 0}], first)
    assert again["functions"]["g, near"] == first["functions"]["g, near"]
    assert again["functions"]["f"]["dtypes"] == {"float64": 0.12}
    assert [x.partition(", 10^")[0] for x in again["silent"]] == ["g, near"]
    assert edges.errors([{"groups": {"f": [cell("f")]}, "seed": 0}], later)["silent"] == []


def test_silent_errors_are_on_the_page() -> None:
    errors = edges.errors([{"groups": {"f, float64": [cell(state="silent", error=7.0)]}, "seed": 0}], {})
    page = edges.page(DATA | {"errors": errors})
    assert "1 cells: 0 right, 0 refused, 0 limit, 1 silent." in page
    assert "- f, 10^0, normal, size 2, float64: 1 where 2 is right" in page
    assert "| f | 7 |  |  |  |  |  |  | 1 |" in page


def test_unreached_mutants_are_not_called_killed() -> None:
    page = edges.page(
        DATA
        | {
            "mutants": {
                "versions": {},
                "survivors": [],
                "modules": {"m": {"mutants": 9, "killed": 1, "equivalent": 1, "survived": 1, "not reached": 1}},
            }
        }
    )
    assert "| m | 9 | 4 | 1 | 1 | 1 | 1 | 50.0% |" in page


def test_figures_of_a_module_without_new_mutants_are_kept() -> None:
    before = {
        "modules": {"numerics.fisher": {"mutants": 9, "killed": 9}, "numerics.flash": {"mutants": 5, "survived": 5}},
        "survivors": ["numerics.fisher:1 f: a → b", "numerics.flash:1 f: a → b"],
    }
    killed = mutants("numerics.flash", path_of("numerics.flash").read_text(encoding="utf-8"))[0]
    summary = edges.mutation({killed.key: {"mutant": str(killed), "fate": "killed", "by": "a test"}}, before)
    assert summary["modules"]["numerics.fisher"] == {"mutants": 9, "killed": 9}
    assert summary["modules"]["numerics.flash"]["killed"] == 1
    assert summary["survivors"] == ["numerics.fisher:1 f: a → b"]
