"""The installation of Rocq, and the compiled library: objects are stored by the content of their sources, and checked."""

import hashlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from derivations import files
from derivations.rocq.scanning import forbidden, without_comments

ROOT = Path(__file__).parents[2] / "formal"
LOGICAL = "AttentionProofs"
SCRIPT = "Script"
VERSION = "8.16"
INSTALL = "apt-get install coq libcoq-mathcomp-analysis libcoq-mathcomp-algebra-tactics"
PER_FILE = 600  # seconds to compile one file of the library


class MissingError(Exception):
    """No suitable version of Rocq is installed; the message is one line."""


@cache
def version() -> str:
    """The version of Rocq; raises MissingError where it, or mathcomp-analysis, is missing or another one."""
    try:
        output = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True).stdout
        where = Path(subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        raise MissingError(f"kernel: Rocq is not installed ({INSTALL}): no claim is checked by it") from None
    match = re.search(r"version (\S+)", output)
    number = match.group(1) if match else "?"
    if not number.startswith(VERSION):
        raise MissingError(f"kernel: expected Rocq {VERSION}, got {number}: no claim is checked by it")
    for package in ("analysis", "algebra_tactics"):
        if not (where / "user-contrib" / "mathcomp" / package).is_dir():
            raise MissingError(f"kernel: mathcomp {package} is not installed ({INSTALL}): no claim is checked by Rocq")
    return number


def cache_folder() -> Path:
    """Where compiled objects and answers are stored."""
    return files.cache_folder() / "rocq"


@dataclass(frozen=True)
class Library:
    """The compiled library: its folder, digests of the script's sources and of all sources, and errors by file."""

    folder: Path
    digest: str
    whole: str
    broken: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def options(self) -> list[str]:
        """The options by which Rocq's programs find the library."""
        return ["-R", str(self.folder), LOGICAL]


def digest_of(*texts: str | bytes) -> str:
    """A digest of several texts."""
    digest = hashlib.sha256()
    for each in texts:
        data = each.encode() if isinstance(each, str) else each
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def sources(root: Path = ROOT) -> dict[str, str]:
    """The sources of the library by the name of their file."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted((root / "theories").glob("*.v"))}


def refused(texts: Mapping[str, str]) -> list[str]:
    """The forbidden parts of a source, with file and line."""
    return [
        f"formal/theories/{name}.v:{line}: {words} is not allowed"
        for name, text in texts.items()
        for line, words in forbidden(text)
    ]


REQUIRED = re.compile(r"From\s+AttentionProofs\s+Require\s+(?:Import\s+|Export\s+)?([\w\s]+?)\.(?:\s|$)")


def closure(name: str, texts: Mapping[str, str]) -> list[str]:
    """The files that a file rests on, itself included."""
    files, waiting = [], [name]
    while waiting:
        each = waiting.pop()
        if each in texts and each not in files:
            files.append(each)
            waiting += [other for part in REQUIRED.findall(without_comments(texts[each])) for other in part.split()]
    return sorted(files)


def content(name: str, texts: Mapping[str, str]) -> str:
    """A digest of a file and of all that it rests on."""
    return digest_of(version(), *(part for each in closure(name, texts) for part in (each, texts[each])))


def built(root: Path = ROOT, store: Path | None = None, workers: int = 1) -> Library:
    """Compile the library where necessary; an object that differs from the compiled one is made again.

    Files that do not rest on each other are compiled side by side.  Raises MissingError where there is no Rocq or no library.
    """
    texts = sources(root)
    if SCRIPT not in texts:
        raise MissingError(f"kernel: expected formal/theories/{SCRIPT}.v beside derivations, got none in {root}")
    contents = {name: content(name, texts) for name in texts}
    digest = digest_of(*contents.values())
    folder = (store or cache_folder()) / digest[:24]
    folder.mkdir(parents=True, exist_ok=True)
    order = subprocess.run(
        ["coqdep", "-sort", "-R", ".", LOGICAL, *(_put(folder, name, texts[name]) for name in texts)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    made: dict[str, Future[tuple[float, str]]] = {}

    def make(name: str) -> tuple[float, str]:
        wait([made[other] for other in closure(name, texts) if other != name])
        return _object(name, contents[name], folder)

    with ThreadPoolExecutor(workers) as pool:  # what a file waits for was begun before it
        for name in (Path(file).stem for file in order):
            made[name] = pool.submit(make, name)
    answers = {name: each.result() for name, each in made.items()}
    return Library(
        folder,
        contents[SCRIPT],
        digest,
        {name: wrong for name, (_, wrong) in answers.items() if wrong},
        {name: seconds for name, (seconds, _) in answers.items()},
    )


def _put(folder: Path, name: str, text: str) -> str:
    file = folder / f"{name}.v"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file.name


def _object(name: str, key: str, folder: Path) -> tuple[float, str]:
    """The seconds that a file took to compile, and why it failed; an object is used again if it is the one that was made."""
    stored, file = folder.parent / "objects" / f"{key[:32]}.json", folder / f"{name}.vo"
    copy = stored.with_suffix(".vo")
    record = json.loads(stored.read_text()) if stored.exists() else None
    if record and record["broken"]:
        return record["seconds"], record["broken"]
    if record and _hash(copy) == record["hash"]:
        if _hash(file) != record["hash"]:
            shutil.copyfile(copy, file)
        return record["seconds"], ""
    start = time.perf_counter()
    wrong = _compiled(name, folder)
    seconds = round(time.perf_counter() - start, 2)
    stored.parent.mkdir(exist_ok=True)
    if not wrong:
        shutil.copyfile(file, copy)
    stored.write_text(json.dumps({"hash": _hash(file), "seconds": seconds, "broken": wrong}))
    return seconds, wrong


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""


def _compiled(name: str, folder: Path) -> str:
    """Compile one file; why that failed, empty if it did not."""
    try:
        done = subprocess.run(
            ["coqc", "-q", "-w", "none", "-R", ".", LOGICAL, f"{name}.v"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=PER_FILE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not compiled in {PER_FILE} s"
    return (done.stderr.strip() or "no reason")[-600:] if done.returncode else ""
