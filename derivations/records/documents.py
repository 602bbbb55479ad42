"""The list of documents: those that ship with the project, and folders named by `--document` or the environment.

The last that ships, `beyond`, is not a printed document: its claims are our own.

A document of one's own is a folder with an `__init__.py` (whose docstring is the title), one module per section that
registers claims with `@claim`, and, where other layers vote, a package `checks` whose modules register them with
`@confirms`.  The folder's name is the document's key, and its `baseline.json` lies in it.
"""

import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

from derivations.authored import Loader, guard_modules

DOCUMENTS = ("deciphering", "inference", "eot", "geometric", "transport", "beyond")
VARIABLE = "ATTENTION_PROOFS_DOCUMENTS"
CHECKS = "checks"
NOTATION = "print_notation"  # the module with the meanings of printed symbols


def outside() -> dict[str, Path]:
    """The folders of the documents that do not ship with the project, by key, in the order in which they are named.

    Raises ValueError for a folder that is not a document, a key that is taken, and a name that is not a key.
    """
    folders: dict[str, Path] = {}
    for named in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        folder = Path(named).resolve()
        key = folder.name
        if not (folder / "__init__.py").is_file():
            raise ValueError(f"document: expected a folder with an __init__.py, got {named}")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            raise ValueError(f"document: expected a folder named in small letters, digits and _, got {key}")
        if folders.get(key, folder) != folder or key in DOCUMENTS or _taken(key, folder):
            raise ValueError(f"document: expected a folder with a name of its own, got {key}, which names something else")
        folders[key] = folder
    return folders


def _taken(key: str, folder: Path) -> bool:
    """Return whether another module already has the name."""
    spec = importlib.util.find_spec(key)
    if key in ("derivations", "evidence", "numerics", "tests"):
        return True
    return spec is not None and spec.origin != str(folder / "__init__.py")


def documents() -> tuple[str, ...]:
    """The keys of all documents."""
    return (*DOCUMENTS, *outside())


def package(document: str) -> ModuleType:
    """The package that holds a document's claims."""
    if document in DOCUMENTS:
        return importlib.import_module(f"derivations.documents.{document}")
    if document not in sys.modules:
        folder = outside()[document]
        guard_modules(document)
        loader = Loader(document, str(folder / "__init__.py"))
        spec = importlib.util.spec_from_loader(document, loader, is_package=True)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[document] = module
        try:
            loader.exec_module(module)
        except BaseException:  # else a second call would find half a module
            del sys.modules[document]
            raise
    return sys.modules[document]


def checks() -> list[str]:
    """The packages of the outside documents whose modules vote."""
    return [f"{key}.{CHECKS}" for key, folder in outside().items() if (folder / CHECKS / "__init__.py").is_file()]


def location(module: str, line: int) -> str:
    """Return file and line of a definition in a module, as in derivations/documents/eot/section5_gradient.py:61."""
    return f"{module.replace('.', '/')}.py:{line}"


def title(document: str) -> str:
    """Return the first line of the docstring of a document's package, or the key if there is none."""
    return (package(document).__doc__ or document).splitlines()[0].rstrip(".")


def baselines() -> dict[str, Path]:
    """Return the path of each document's baseline."""
    own = {key: Path(__file__).parents[1] / "documents" / key for key in DOCUMENTS}
    return {key: folder / "baseline.json" for key, folder in (own | outside()).items()}
