"""Rocq's interactive program, one sentence at a time: acceptance, messages and time."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from select import select
from types import TracebackType

PROMPT = re.compile(r"<prompt>.*?</prompt>", re.S)
BETWEEN = 0.2  # seconds by the clock between two looks at the processor time
GRACE = 10.0  # seconds of processor time until an interrupted Rocq is killed
NOTHING = "nothing_of_this_name"


@dataclass(frozen=True)
class Answer:
    """The result of a proof: the error with the remaining goal, if there is one."""

    accepted: bool
    seconds: float
    error: str = ""
    output: str = ""


def sentences(source: str) -> Iterator[str]:
    """The sentences of a script in the style of `export`: a period and a space end one, and braces are separate."""
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
            ["coqtop", "-emacs", "-q", "-w", "none", *options],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._read()

    def __enter__(self) -> "Toplevel":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()

    def _write(self, sentence: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(sentence.replace("\n", " ").encode() + b"\n")
        self.process.stdin.flush()

    def _read(self, until: float = inf) -> str:
        """Read Rocq's output up to its next prompt; raises TimeoutError once its processor time exceeds `until`."""
        assert self.process.stdout is not None
        text = b""
        while not text.rstrip().endswith(b"</prompt>"):
            if select([self.process.stdout], [], [], BETWEEN)[0]:
                more = os.read(self.process.stdout.fileno(), 2**16)
                if not more:
                    raise EOFError(f"coqtop ended: {text[-500:].decode(errors='replace')}")
                text += more
            elif self.cpu() > until:
                raise TimeoutError(f"coqtop: expected an answer in {until:.0f} s of the processor, got none")
        return PROMPT.sub("", text.decode(errors="replace"))

    def say(self, sentence: str, until: float = inf) -> str:
        """Rocq's answer to one sentence: an error, by an interrupt, once its processor time exceeds `until`."""
        self._write(sentence)
        try:
            return self._read(until)
        except TimeoutError:
            self.process.send_signal(signal.SIGINT)
            answer = self._read(until + GRACE)
            self._write(f"Locate {NOTHING}.")  # an interrupt after the end has an answer of its own
            while NOTHING not in self._read():
                pass
            return answer

    def cpu(self) -> float:
        """The processor time that Rocq has used, which does not depend on the load of the machine."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # no Linux
            return time.perf_counter()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def prove(self, source: str, limit: float = inf) -> Answer:
        """Run the sentences of one theorem until one fails, or the time is over before the last; what failed is forgotten."""
        start, output = self.cpu(), ""
        for sentence in sentences(source):
            output = self.say(sentence, start + limit)
            late = self.cpu() - start > limit
            if "Error" in output or (late and sentence != "Qed."):
                reason = f"{sentence}\n{_cleaned(output)}"
                if late:
                    reason = f"not finished in {limit:.0f} s of the processor: {sentence}"
                goal = self.say("Show.")
                self.say("Abort All.")
                return Answer(False, self.cpu() - start, f"{reason}\n{_cleaned(goal)}")
        return Answer(True, self.cpu() - start, output=_cleaned(output))


def _cleaned(text: str) -> str:
    text = re.sub(r"</?infomsg>|</?warning>", "", text)
    return re.sub(r"Debug:.*", "", text, flags=re.S).strip()
