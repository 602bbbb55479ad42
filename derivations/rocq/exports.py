"""The exported theorem of each claim, compared with its relation and stored by the content of all its sources."""

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from derivations.files import write_whole
from derivations.ledger import incremental, ledger
from derivations.ledger.incremental import Sources
from derivations.register.entry import Entry
from derivations.rocq.export import Theorem, theorem
from derivations.rocq.library import cache_folder, digest_of
from derivations.rocq.readback import disagreement
from derivations.rocq.terms import NotExportedError


@dataclass(frozen=True)
class Export:
    """The theorem of a claim, or the part without counterpart in Rocq, or a difference between theorem and relation."""

    name: str = ""
    statement: str = ""
    proof: str = ""
    not_exported: str = ""
    wrong: str = ""

    @property
    def theorem(self) -> Theorem:
        """The theorem, without the variables, which are compared already."""
        return Theorem(self.name, self.statement, self.proof, {})


def exports(claims: Mapping[str, Entry], store: Path | None = None) -> Iterator[tuple[str, Export]]:
    """The export of each claim that states a relation: that of its correction, or of its print."""
    folder = (store or cache_folder()) / "exports"
    folder.mkdir(parents=True, exist_ok=True)
    sources, settings = incremental.project(), json.dumps([platform.python_version(), ledger.packages()], sort_keys=True)

    @cache
    def content(modules: frozenset[str]) -> str:
        return digest_of(settings, content_of(modules, sources))

    for id, entry in claims.items():
        file = folder / f"{digest_of(id, content(frozenset(entry.modules)))[:32]}.json"
        if not file.exists():
            export = exported(entry)
            write_whole(file, json.dumps(asdict(export) if export else None))
        if stored := json.loads(file.read_text()):
            yield id, Export(**stored)


def content_of(modules: Iterable[str], sources: Sources) -> str:
    """A digest of all that the exports of claims of these modules are a function of: the exporter is, too."""
    names = sorted(sources.closure({__name__, *modules}))
    return digest_of(*(part for name in names for part in (name, sources.hashes.get(name, ""))))


def exported(entry: Entry) -> Export | None:
    """The export of a claim; None for one that states no relation."""
    relation = entry.repaired() or entry.printed()
    if relation is None:
        return None
    try:
        made = theorem(entry.id, relation)
        return Export(made.name, made.statement, made.proof, wrong=disagreement(made, relation))
    except NotExportedError as why:
        return Export(not_exported=str(why))
