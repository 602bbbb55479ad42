"""A conversation with Rocq, played by a script: what is sent, what is read up to the prompt, and what ends a proof."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from derivations.rocq import toplevel
from derivations.rocq.toplevel import Toplevel, sentences

SCRIPT = """#!{python}
import signal
import sys

signal.signal(signal.SIGINT, signal.default_int_handler)     # a process in the background may ignore it

def answer(sentence):
    if "spin" in sentence:
        while True:
            pass
    if "wrong" in sentence:
        return "Error: no such equality"
    if sentence == "Show.":
        return "1 goal\\n<infomsg>x = y</infomsg>"
    if sentence.startswith("Locate"):
        return "No object of basename nothing_of_this_name"
    return "<infomsg>" + sentence + "</infomsg> Debug: much more"

with open("said", "a") as said:
    print("Welcome " + " ".join(sys.argv[1:]) + "<prompt>Coq < 1 |</prompt>", end="", flush=True)
    for line in sys.stdin:
        sentence = line.rstrip("\\n")
        print(sentence, file=said, flush=True)
        if "quit" in sentence:
            print("Fatal: out of memory", end="", flush=True)
            break
        try:
            output = answer(sentence)
        except KeyboardInterrupt:
            output = "Error: user interrupt"
        print(output + "\\n<prompt>Coq < 2 |</prompt>", end="", flush=True)
"""


@pytest.fixture
def rocq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toplevel]:
    program = tmp_path / "coqtop"
    program.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with Toplevel(["-R", "lib", "AttentionProofs"], tmp_path) as running:
        yield running
    assert running.process.poll() is not None


def said(tmp_path: Path) -> list[str]:
    return (tmp_path / "said").read_text(encoding="utf-8").splitlines()


def test_a_sentence_is_one_line_and_its_answer_ends_at_the_prompt(rocq: Toplevel, tmp_path: Path) -> None:
    assert rocq.say("Check\n1.") == "<infomsg>Check 1.</infomsg> Debug: much more\n"
    assert said(tmp_path) == ["Check 1."]
    assert rocq.process.args == ["coqtop", "-emacs", "-q", "-w", "none", "-R", "lib", "AttentionProofs"]


def test_a_proof_is_accepted_with_its_last_answer(rocq: Toplevel, tmp_path: Path) -> None:
    answer = rocq.prove("Theorem it : True.\nProof.\nsplit. { exact: I. } Qed.")
    assert (answer.accepted, answer.error, answer.output) == (True, "", "Qed.")
    assert said(tmp_path) == ["Theorem it : True.", "Proof.", "split.", "{", "exact: I.", "}", "Qed."]
    assert 0 <= answer.seconds < 5


def test_the_first_error_ends_a_proof_with_its_goal_and_nothing_of_it_remains(rocq: Toplevel, tmp_path: Path) -> None:
    answer = rocq.prove("Theorem it : True.\nwrong x.\nQed.")
    assert not answer.accepted
    assert answer.error == "wrong x.\nError: no such equality\n1 goal\nx = y"
    assert said(tmp_path) == ["Theorem it : True.", "wrong x.", "Show.", "Abort All."]
    assert rocq.prove("Theorem it : True.\nQed.").accepted


def test_what_takes_too_long_is_interrupted_and_shifts_no_answer(
    rocq: Toplevel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toplevel, "BETWEEN", 0.02)
    answer = rocq.prove("Theorem it : True.\nspin.\nQed.", 0.3)
    assert not answer.accepted
    assert answer.error.startswith("not finished in 0 s of the processor: spin.")
    assert 0.3 < answer.seconds < 3
    assert rocq.say("Check 2.").startswith("<infomsg>Check 2.")
    assert said(tmp_path) == ["Theorem it : True.", "spin.", "Locate nothing_of_this_name.", "Show.", "Abort All.", "Check 2."]


def test_a_rocq_that_ends_is_an_error_with_its_last_words(rocq: Toplevel) -> None:
    with pytest.raises(EOFError, match="coqtop ended: Fatal: out of memory"):
        rocq.say("quit.")


def test_the_processor_time_is_that_of_rocq(rocq: Toplevel, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rocq.cpu()
    assert 0 <= before < 2
    monkeypatch.setattr(toplevel, "BETWEEN", 0.02)
    rocq.say("spin.", before + 0.2)
    assert before + 0.2 <= rocq.cpu() < before + 3
    for proof, accepted in (("Theorem it : True.\nQed.", True), ("Theorem it : True.\nwrong.", False)):
        answer = rocq.prove(proof, 0.15)  # since its own beginning
        assert (answer.accepted, answer.seconds < 0.15) == (accepted, True)


def test_sentences_end_at_a_period_before_a_space() -> None:
    source = "have H1 : x.+1 = y.\n{ apply: a.b => z. { by []. } }\nQed.\n"
    assert list(sentences(source)) == ["have H1 : x.+1 = y.", "{", "apply: a.b => z.", "{", "by [].", "}", "}", "Qed."]
