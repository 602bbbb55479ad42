"""The order in which tests run: tests about one claim run together."""

from dataclasses import dataclass
from types import SimpleNamespace

from derivations.run.pytest_plugin import _side_by_side


@dataclass(frozen=True)
class Item:
    """A test, given by the claims that it concerns."""

    name: str
    claim: str | None = None

    def get_closest_marker(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(args=(self.claim, "torch")) if name == "claim" and self.claim else None


def test_tests_about_one_claim_run_together_after_the_others() -> None:
    items = [
        Item("of the kernel"),
        Item("derived", "eot.59"),
        Item("derived", "eot.46"),
        Item("of torch"),
        Item("voted", "eot.46"),
        Item("voted", "eot.59"),
    ]
    _side_by_side(items)  # type: ignore[arg-type]
    assert [item.name for item in items[:2]] == ["of the kernel", "of torch"]
    assert [(item.claim, item.name) for item in items[2:]] == [
        ("eot.46", "derived"),
        ("eot.46", "voted"),
        ("eot.59", "derived"),
        ("eot.59", "voted"),
    ]
