"""The library: theorems without proof are refused, and outdated objects are compiled again."""

import shutil
from pathlib import Path

import pytest

from derivations.ledger import incremental
from derivations.rocq import library
from derivations.rocq.checking import assumed, foreign, headlines_checked
from derivations.rocq.exports import content_of
from derivations.rocq.headline import headlines
from derivations.rocq.scanning import forbidden
from derivations.rocq.toplevel import sentences

needs_rocq = pytest.mark.skipif(not shutil.which("coqc"), reason="Rocq is not installed")


@pytest.mark.parametrize(
    "source",
    [
        "Lemma a : False. Admitted.",
        "Lemma a : False. Proof. admit. Qed.",
        "Axiom a : False.",
        "Parameter a : False.",
        "Conjecture a : False.",
        "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.",
        "Unset Guard Checking.",
        "Variable a : False.",
        "Section S.\nEnd S.\nHypothesis a : False.",
        '(* " *) Axiom a : False. (* " *)',
    ],
)
def test_theorems_without_proof_are_refused(source: str) -> None:
    """Planted: an Admitted, an axiom, a switched-off check, a variable outside of sections."""
    assert list(forbidden(source))


@pytest.mark.parametrize(
    "source",
    [
        "(* Admitted (* Axiom *) *) Lemma a : True. Proof. by []. Qed.",
        "Section S.\nVariable R : realType.\nEnd S.",
        "(*) Axiom a : False. *) Lemma a : True. Proof. by []. Qed.",
        'Notation "Axiom x" := x.',
        "Lemma no_axioms_admitted : True.",
    ],
)
def test_words_in_comments_are_no_axioms(source: str) -> None:
    """Comments nest, and words in strings or longer names are ignored."""
    assert not list(forbidden(source))


def test_the_library_has_no_axioms() -> None:
    """The present sources of formal/."""
    assert library.refused(library.sources()) == []


def test_a_foreign_axiom_is_named() -> None:
    """Planted: another axiom in the output of `Print Assumptions`."""
    answer = "Axioms:\nboolp.propositional_extensionality : forall P Q : Prop, P <-> Q -> P = Q\nmine\n  : False\n"
    assert foreign(assumed(answer)) == ["mine"]
    assert assumed("Closed under the global context") == ()
    with pytest.raises(ValueError, match="expected a list of axioms"):
        assumed("Error: mine not found.")


def test_headlines_are_recognized() -> None:
    """A comment names the claims of the theorem that follows."""
    theorems = list(headlines("File", "(* claim: eot.59, eot.60 *)\nTheorem jacobian x :\n  x = x."))
    assert [(each.claim, each.theorem, each.line) for each in theorems] == [
        ("eot.59", "jacobian", 2),
        ("eot.60", "jacobian", 2),
    ]
    assert [each.line for each in headlines("File", "\n\n(* claim: a *)\nLemma b : True.")] == [4]
    with pytest.raises(ValueError, match="expected a theorem"):
        list(headlines("File", "(* claim: eot.59 *)"))


def test_sentences_end_with_a_period() -> None:
    """Braces are sentences by themselves; successors and dots in names do not end a sentence."""
    assert list(sentences("have H : x.+1 = y.\n{ by f. }\nQed.")) == ["have H : x.+1 = y.", "{", "by f.", "}", "Qed."]


@needs_rocq
def test_a_stale_object_is_made_again(tmp_path: Path) -> None:
    """Planted: an object compiled from another source."""
    theories = tmp_path / "formal" / "theories"
    theories.mkdir(parents=True)
    (theories / "Script.v").write_text("Lemma one : 1 = 1.\nProof. reflexivity. Qed.\n")
    (theories / "Wrong.v").write_text(
        "From AttentionProofs Require Import Script.\nLemma two : 1 = 2.\nProof. exact one. Qed.\n"
    )
    first = library.built(tmp_path / "formal", tmp_path / "store")
    assert set(first.broken) == {"Wrong"}
    sound = (first.folder / "Script.vo").read_bytes()
    for stale in (first.folder / "Script.vo", *(tmp_path / "store" / "objects").glob("*.vo")):
        stale.write_bytes(b"stale" + sound)
    again = library.built(tmp_path / "formal", tmp_path / "store")
    assert (again.folder / "Script.vo").read_bytes() == sound
    (theories / "Script.v").write_text("Lemma one : 1 = 1.\nProof. exact eq_refl. Qed.\n")
    assert library.built(tmp_path / "formal", tmp_path / "store").digest != first.digest


def test_an_object_that_was_changed_or_lost_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: another object, and none, beside the copy of the one that was made; nothing is compiled again."""
    folder, made = tmp_path / "library", []
    file = folder / "Script.vo"
    folder.mkdir()

    def compiled(name: str, _: Path) -> str:
        made.append(name)
        file.write_bytes(b"sound")
        return ""

    monkeypatch.setattr(library, "_compiled", compiled)
    for damage in (lambda: None, lambda: file.write_bytes(b"stale"), file.unlink):
        damage()
        assert library._object("Script", "key", folder)[1] == ""
        assert file.read_bytes() == b"sound"
    assert made == ["Script"]


@needs_rocq
def test_answers_about_handwritten_theorems_expire_when_a_file_changes(tmp_path: Path) -> None:
    """Planted: a stored answer from before an axiom was added to the file."""
    theories = tmp_path / "formal" / "theories"
    theories.mkdir(parents=True)
    (theories / "Script.v").write_text("Definition unit_of_all := tt.\n")
    claim = "(* claim: eot.59 *)\nTheorem both : forall P : Prop, P \\/ ~ P \\/ True.\nProof. "
    wrong = f"From Coq Require Import Classical_Prop.\n{claim}intro P. destruct (classic P); auto. Qed.\n"
    accepted = []
    for source in (claim + "intro P. right. right. exact I. Qed.\n", wrong):
        (theories / "Hand.v").write_text(source)
        answers = headlines_checked(
            list(headlines("Hand", source)), library.built(tmp_path / "formal", tmp_path / "store"), tmp_path / "store"
        )
        accepted += [answer.accepted for answer in answers.values()]
    assert accepted == [True, False]


def test_exports_are_made_again_after_a_change() -> None:
    """A stored export depends only on the sources of its claim and of the exporter."""
    module = "derivations.documents.eot.section5_gradient"

    def key(**changed: str) -> str:
        sources = incremental.project()
        sources.hashes.update({name.replace("__", "."): value for name, value in changed.items()})
        return content_of([module], sources)

    assert key() == key() == key(derivations__documents__eot__section7_fisher="other")
    others = (key(**{module: "other"}), key(derivations__rocq__terms="other"), key(derivations__calculus__sums="other"))
    assert len({key(), *others}) == 4


def test_a_missing_rocq_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Rocq nothing is checked, and the message says how to get it."""
    monkeypatch.setenv("PATH", "/nowhere")
    library.version.cache_clear()
    with pytest.raises(library.MissingError, match="apt-get install"):
        library.version()
    library.version.cache_clear()
