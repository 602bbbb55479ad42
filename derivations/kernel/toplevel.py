"""Rocq's interactive program, one sentence at a time: what it accepts, what it says, and how long it takes."""

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

PROMPT = re.compile(r"<prompt>.*?</prompt>", re.S)
PER_SENTENCE = 20                                            # seconds


@dataclass(frozen=True)
class Answer:
    """What became of a proof: the error with the goal that was left, if there is one."""

    accepted: bool
    seconds: float
    error: str = ""
    output: str = ""


def sentences(source: str) -> Iterator[str]:
    """The sentences of a script that is written as `export` does: a period and a space end one, braces stand alone."""
    for part in re.split(r"(?<=\.)\s+", source.strip()):
        while part.startswith(("{", "}")):
            yield part[0]
            part = part[1:].lstrip()
        if part:
            yield part


class Toplevel:
    """A running coqtop; a context manager."""

    def __init__(self, options: Sequence[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            ["coqtop", "-emacs", "-q", "-w", "none", *options], cwd=folder, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._read()

    def __enter__(self) -> "Toplevel":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()

    def _read(self) -> str:
        assert self.process.stdout is not None
        text = ""
        while not PROMPT.search(text):
            more = self.process.stdout.read(1)
            if not more:
                raise EOFError(f"coqtop ended: {text[-500:]}")
            text += more
        return PROMPT.sub("", text)

    def say(self, sentence: str) -> str:
        """What is answered to one sentence."""
        assert self.process.stdin is not None
        self.process.stdin.write(sentence.replace("\n", " ") + "\n")
        self.process.stdin.flush()
        return self._read()

    def prove(self, source: str, limit: float = float("inf")) -> Answer:
        """Run the sentences of one theorem until one fails, or the time is over; what failed is forgotten."""
        start, said = time.perf_counter(), ""
        for sentence in sentences(source):
            said = self.say(sentence)
            late = time.perf_counter() - start > limit
            if "Error" in said or late:
                said = said if "Error" in said else f"not finished in {limit:.0f} s"
                goal = self.say("Show.")
                self.say("Abort All.")
                return Answer(False, time.perf_counter() - start, f"{sentence}\n{_cleaned(said)}\n{_cleaned(goal)}")
        return Answer(True, time.perf_counter() - start, output=_cleaned(said))


def _cleaned(text: str) -> str:
    text = re.sub(r"</?infomsg>|</?warning>", "", text)
    return re.sub(r"Debug:.*", "", text, flags=re.S).strip()
