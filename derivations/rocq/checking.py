"""Rocq's answers to theorems: each is proved separately, and its answer is stored by the content of theorem and library."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from derivations.files import write_whole
from derivations.rocq.export import HEADER, Theorem
from derivations.rocq.headline import Headline
from derivations.rocq.library import Library, cache_folder, digest_of
from derivations.rocq.scanning import forbidden
from derivations.rocq.toplevel import Toplevel

ALLOWED = {"propositional_extensionality", "functional_extensionality_dep", "constructive_indefinite_description"}
"""The axioms of mathcomp-analysis; whatever else a theorem rests on refuses it."""

LETTERS = 1_000_000  # that one process of Rocq reads: it keeps every state, and grows
TOGETHER = "what_all_rest_on"
PER_THEOREM = 30.0  # seconds of the processor


@dataclass(frozen=True)
class Checked:
    """The result for a theorem: accepted, with an upper bound of its assumptions, or the sentence that failed and its goal."""

    accepted: bool
    seconds: float
    assumptions: tuple[str, ...] = ()
    detail: str = ""


def assumed(listing: str) -> tuple[str, ...]:
    """The axioms in the output of `Print Assumptions`; raises ValueError for any other output."""
    if "Closed under the global context" in listing:
        return ()
    if "Axioms:" not in listing:
        raise ValueError(f"assumptions: expected a list of axioms, got {listing[:200]!r}")
    names = re.findall(r"^([\w.']+)\s*$|^([\w.']+)\s*:", listing.split("Axioms:", 1)[1], re.M)
    return tuple(sorted((one or other) for one, other in names))


def foreign(assumptions: Iterable[str]) -> list[str]:
    """The assumptions that do not belong to mathcomp-analysis."""
    return [name for name in assumptions if name.rsplit(".", 1)[-1] not in ALLOWED]


def _judged(accepted: bool, seconds: float, listing: str, error: str) -> Checked:
    if not accepted:
        return Checked(False, round(seconds, 2), detail=error)
    try:
        assumptions = assumed(listing)
    except ValueError as wrong:
        return Checked(False, round(seconds, 2), detail=str(wrong))
    if other := foreign(assumptions):
        return Checked(False, round(seconds, 2), assumptions, f"it rests on the axiom {other[0]}")
    return Checked(True, round(seconds, 2), assumptions)


def opened(library: Library, imports: Sequence[str]) -> Toplevel:
    """A running Rocq that has read parts of the library."""
    rocq = Toplevel(library.options, library.folder)
    for sentence in (*imports, "Set Silent."):
        rocq.say(sentence)
    return rocq


def checked(
    theorems: Sequence[Theorem],
    library: Library,
    workers: int,
    store: Path | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Checked]:
    """Rocq's answer to each theorem, by name; stored answers to the same statement, proof and library are reused."""
    folder = (store or cache_folder()) / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    files = {each.name: folder / f"{digest_of(library.digest, HEADER, each.content)[:32]}.json" for each in theorems}
    answers = {file: answer for file in files.values() if (answer := _stored(file)) is not None}
    missing = {files[each.name]: each for each in theorems if files[each.name] not in answers}
    waiting = deque(sorted(missing.values(), key=lambda each: -len(each.source)))

    def work() -> None:
        while waiting:
            for name, answer in _session(waiting, library):
                write_whole(files[name], json.dumps(asdict(answer)))
                answers[files[name]] = answer
                progress(len(answers))

    with ThreadPoolExecutor(workers) as pool:
        for worker in [pool.submit(work) for _ in range(workers)]:
            worker.result()
    return {name: answers[file] for name, file in files.items()}


def _stored(file: Path) -> Checked | None:
    if not file.exists():
        return None
    data = json.loads(file.read_text())
    return Checked(data["accepted"], data["seconds"], tuple(data["assumptions"]), data["detail"])


def _next(waiting: deque[Theorem]) -> Theorem | None:
    try:
        return waiting.popleft()
    except IndexError:  # another worker took the last one
        return None


def _session(waiting: deque[Theorem], library: Library) -> Iterator[tuple[str, Checked]]:
    """The answers of one process of Rocq to the pending theorems, the longest first, so that all workers end together.

    The assumptions of all that is proved are printed at the end, at once: that takes seconds, however many theorems there are.
    """
    proved: list[tuple[Theorem, float]] = []
    letters = 0
    with opened(library, HEADER.strip().splitlines()) as rocq:
        while letters < LETTERS and (each := _next(waiting)) is not None:
            letters += len(each.source)
            if word := next(forbidden(each.source), None):
                yield each.name, Checked(False, 0.0, detail=f"{word[1]} is not allowed")
                continue
            try:
                answer = rocq.prove(each.source, PER_THEOREM)
            except (EOFError, OSError) as error:  # killed for memory, as a rule
                yield each.name, Checked(False, 0.0, detail=str(error))
                waiting.extendleft(one for one, _ in reversed(proved))
                return
            if answer.accepted:
                proved.append((each, answer.seconds))
            else:
                yield each.name, _judged(False, answer.seconds, "", answer.error)
        yield from _resting(rocq, proved)


def _resting(rocq: Toplevel, proved: Sequence[tuple[Theorem, float]]) -> Iterator[tuple[str, Checked]]:
    """The results for theorems, given their assumptions."""
    listed = _assumptions(rocq, [each.name for each, _ in proved])
    yield from ((each.name, _judged(True, seconds, listed[each.name], "")) for each, seconds in proved)


def _assumptions(rocq: Toplevel, names: Sequence[str]) -> dict[str, str]:
    """The assumptions of theorems: jointly, or separately if the joint ones are more than allowed."""
    if not names:
        return {}
    rocq.say(f"Definition {TOGETHER} := ({', '.join(f'@{name}' for name in names)}, I).")
    listed = rocq.say(f"Print Assumptions {TOGETHER}.")
    if "Axioms:" not in listed or foreign(assumed(listed)):
        return {name: rocq.say(f"Print Assumptions {name}.") for name in names}
    return dict.fromkeys(names, listed)


def headlines_checked(headlines: Sequence[Headline], library: Library, store: Path | None = None) -> dict[Headline, Checked]:
    """The assumptions of the library's theorems; those of a file that was not compiled are not accepted."""
    folder = (store or cache_folder()) / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted({_full(each) for each in headlines if each.file not in library.broken})
    file = folder / f"{digest_of(library.whole, *names)[:32]}.headlines.json"
    listed: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    if not listed:
        sound = sorted({each.file for each in headlines} - set(library.broken))
        with opened(library, [f"From AttentionProofs Require {name}." for name in sound]) as rocq:
            listed = _assumptions(rocq, names)
        write_whole(file, json.dumps(listed))
    answers = {}
    for each in headlines:
        seconds = library.seconds.get(each.file, 0.0)
        broken = library.broken.get(each.file, "")
        answers[each] = (
            Checked(False, seconds, detail=f"{each.file}.v: {broken}")
            if broken
            else _judged(True, seconds, listed[_full(each)], "")
        )
    return answers


def _full(headline: Headline) -> str:
    return f"AttentionProofs.{headline.file}.{headline.theorem}"
