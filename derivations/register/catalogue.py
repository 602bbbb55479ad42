"""The claims of all documents by id; each is loaded when it is looked up, by the import of its chapter.

Nothing is imported to know which claims our documents have: their ids are read from the chapters' text, see `contents`.
"""

import pkgutil
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from derivations.records.documents import CHECKS, documents, location, outside, package
from derivations.register import contents
from derivations.register.contents import Registration, registration, title
from derivations.register.loading import LoadingError, imported, printed_place

if TYPE_CHECKING:
    from derivations.register.entry import Entry

ENTRIES: "dict[str, Entry]" = {}
"""The claims that have been registered, by `claim` and `reprint`."""


class _Loaded(Mapping[str, "Entry"]):
    """All claims by id.  Looking one up imports its chapter, or its whole document where that is an outside one."""

    def __getitem__(self, id: str) -> "Entry":
        if id not in ENTRIES and id in self and (known := registration(id)):
            imported(known.module)
        return ENTRIES[id]

    def __iter__(self) -> Iterator[str]:
        return _printed(documents())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, id: object) -> bool:
        return id in ENTRIES or (isinstance(id, str) and id in _own(id.partition(".")[0]))


LOADED = _Loaded()
"""All claims; a look-up here is not recorded."""


class Catalogue(Mapping[str, "Entry"]):
    """A read-only mapping of ids to claims; `accessed_ids` collects the ids that were looked up.

    Iteration yields the ids in printed order and imports no chapter of our documents; `items` and `values` import them all.
    """

    accessed_ids: ClassVar[set[str]] = set()

    def __getitem__(self, id: str) -> "Entry":
        entry = LOADED[id]
        self.accessed_ids.add(id)
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(LOADED)

    def __len__(self) -> int:
        return len(LOADED)

    def __contains__(self, id: object) -> bool:
        return id in LOADED

    def items(self) -> "ItemsView[str, Entry]":
        """Return all pairs, without recording a look-up."""
        return LOADED.items()

    def values(self) -> "ValuesView[Entry]":
        """Return all entries, without recording a look-up."""
        return LOADED.values()


def entries() -> Catalogue:
    """Return all claims by id, in printed order; a look-up raises LoadingError if a document cannot be loaded."""
    return Catalogue()


def ordered(ids: Iterable[str]) -> list[str]:
    """Return those of some ids that are claims, in printed order."""
    chosen = set(ids)
    homes = {id.partition(".")[0] for id in chosen}
    return [id for id in _printed(document for document in documents() if document in homes) if id in chosen]


def claims_of(document: str) -> list[str]:
    """Return the claims of a document, in printed order."""
    return [id for id in _printed([document]) if id.startswith(f"{document}.")]


def parts_of(id: str) -> list[str]:
    """Return the claims that are parts of a printed statement, in printed order."""
    own = _own(id.partition(".")[0])
    return ordered([other for known in (own, ENTRIES) for other, each in known.items() if each.part_of == id])


def title_and_place(id: str) -> tuple[str, str]:
    """Return the title of a claim, and the file and line where it is registered, without importing a chapter of ours."""
    known = registration(id)
    return (title(id), location(known.module, known.line)) if known else (ENTRIES[id].title, ENTRIES[id].where)


def _printed(keys: Iterable[str]) -> Iterator[str]:
    """Yield the claims of documents in printed order, then those that no module of a document has registered."""
    found: set[str] = set()
    for document in keys:
        found |= (own := _own(document)).keys()
        yield from own
    others = [id for id in ENTRIES if id not in found]
    homes = {document: _own(document) for document in {id.partition(".")[0] for id in others}}
    yield from (id for id in others if id not in homes[id.partition(".")[0]])


def _own(document: str) -> "Mapping[str, Registration] | Mapping[str, Entry]":
    """Return the claims that the modules of a document register, in printed order."""
    return _loaded(document) if document in outside() else contents.registered(document)


# ── loading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

FROZEN: "dict[str, Entry]" = {}
"""The claims of our documents as their chapters registered them."""


@cache
def _loaded(document: str) -> "Mapping[str, Entry]":
    """Import an outside document, after those that are named before it, and return its claims, frozen, in printed order.

    Raises LoadingError if it changes claims that are registered already, or registers others than its own.
    """
    for earlier in takewhile(document.__ne__, outside()):
        _loaded(earlier)
    before, home = dict(ENTRIES), package(document)
    names = sorted((info.name for info in pkgutil.iter_modules(home.__path__) if info.name != CHECKS), key=printed_place)
    from derivations.calculus.quick import shortcuts  # here, since looking up what is listed needs no SymPy
    from derivations.register.entry import Entry

    with shortcuts():
        modules = [imported(f"{home.__name__}.{name}") for name in names]
    if overwritten := [id for id, entry in (before | FROZEN).items() if ENTRIES.get(id) is not entry]:
        raise LoadingError(f"claim: expected new ids in {document}, got {overwritten[0]}, which is the id of an earlier claim")
    own = {id: entry for id, entry in ENTRIES.items() if id not in before and id not in FROZEN}
    if strangers := [id for id in own if not id.startswith(f"{document}.")]:
        raise LoadingError(f"claim: expected ids like {document}.1 in {document}, got {min(strangers)}")
    for id, entry in own.items():
        if type(entry) is not Entry or entry.id != id or entry.module not in modules:
            raise LoadingError(f"claim: expected one registered by `claim` or `reprint` in a module of a document, got {id}")
        entry.seal()
    return dict(sorted(own.items(), key=lambda item: modules.index(item[1].module)))
