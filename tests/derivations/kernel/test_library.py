"""The library: what has no proof is refused, and an object that was not made from its source is made again."""

import shutil
from pathlib import Path

import pytest

from derivations import incremental
from derivations.kernel import library
from derivations.kernel.checking import assumed, foreign, headlines_checked
from derivations.kernel.exports import content_of
from derivations.kernel.headline import headlines
from derivations.kernel.scanning import forbidden
from derivations.kernel.toplevel import sentences

needs_rocq = pytest.mark.skipif(not shutil.which("coqc"), reason="Rocq is not installed")


@pytest.mark.parametrize("source", [
    "Lemma a : False. Admitted.", "Lemma a : False. Proof. admit. Qed.", "Axiom a : False.", "Parameter a : False.",
    "Conjecture a : False.", "#[bypass_check(guard)] Fixpoint f (n : nat) : False := f n.", "Unset Guard Checking.",
    "Variable a : False.", "Section S.\nEnd S.\nHypothesis a : False.", '(* " *) Axiom a : False. (* " *)'])
def test_what_has_no_proof_is_refused(source: str) -> None:
    """Planted: an Admitted, an axiom, a switched-off check, a variable outside of sections."""
    assert list(forbidden(source))


@pytest.mark.parametrize("source", [
    "(* Admitted (* Axiom *) *) Lemma a : True. Proof. by []. Qed.", "Section S.\nVariable R : realType.\nEnd S.",
    'Notation "Axiom x" := x.', "Lemma no_axioms_admitted : True."])
def test_words_in_comments_are_no_axioms(source: str) -> None:
    """Comments nest, strings and longer names are no words."""
    assert not list(forbidden(source))


def test_the_library_has_no_axioms() -> None:
    """The sources of formal/ as they are."""
    assert library.refused(library.sources()) == []


def test_a_foreign_axiom_is_named() -> None:
    """Planted: one more axiom in what `Print Assumptions` says."""
    said = "Axioms:\nboolp.propositional_extensionality : forall P Q : Prop, P <-> Q -> P = Q\nmine\n  : False\n"
    assert foreign(assumed(said)) == ["mine"]
    assert assumed("Closed under the global context") == ()
    with pytest.raises(ValueError, match="expected a list of axioms"):
        assumed("Error: mine not found.")


def test_headlines_are_found() -> None:
    """A comment names the claims of the theorem that follows."""
    found = list(headlines("File", "(* claim: eot.59, eot.60 *)\nTheorem jacobian x :\n  x = x."))
    assert [(each.claim, each.theorem, each.line) for each in found] == [("eot.59", "jacobian", 2), ("eot.60", "jacobian", 2)]
    with pytest.raises(ValueError, match="expected a theorem"):
        list(headlines("File", "(* claim: eot.59 *)"))


def test_sentences_end_with_a_period() -> None:
    """Braces stand alone; successors and dots in names end nothing."""
    assert list(sentences("have H : x.+1 = y.\n{ by f. }\nQed.")) == ["have H : x.+1 = y.", "{", "by f.", "}", "Qed."]


@needs_rocq
def test_a_stale_object_is_made_again(tmp_path: Path) -> None:
    """Planted: an object of another source in the place of the one that was compiled."""
    theories = tmp_path / "formal" / "theories"
    theories.mkdir(parents=True)
    (theories / "Script.v").write_text("Lemma one : 1 = 1.\nProof. reflexivity. Qed.\n")
    (theories / "Wrong.v").write_text(
        "From AttentionProofs Require Import Script.\nLemma two : 1 = 2.\nProof. exact one. Qed.\n")
    first = library.built(tmp_path / "formal", tmp_path / "store")
    assert set(first.broken) == {"Wrong"}
    sound = (first.folder / "Script.vo").read_bytes()
    for stale in (first.folder / "Script.vo", *(tmp_path / "store" / "objects").glob("*.vo")):
        stale.write_bytes(b"stale" + sound)
    again = library.built(tmp_path / "formal", tmp_path / "store")
    assert (again.folder / "Script.vo").read_bytes() == sound
    (theories / "Script.v").write_text("Lemma one : 1 = 1.\nProof. exact eq_refl. Qed.\n")
    assert library.built(tmp_path / "formal", tmp_path / "store").digest != first.digest


@needs_rocq
def test_what_theorems_by_hand_rest_on_is_asked_again_after_a_change(tmp_path: Path) -> None:
    """Planted: an answer about a file as it was before an axiom of another library came into it."""
    theories = tmp_path / "formal" / "theories"
    theories.mkdir(parents=True)
    (theories / "Script.v").write_text("Definition unit_of_all := tt.\n")
    claim = "(* claim: eot.59 *)\nTheorem both : forall P : Prop, P \\/ ~ P \\/ True.\nProof. "
    wrong = f"From Coq Require Import Classical_Prop.\n{claim}intro P. destruct (classic P); auto. Qed.\n"
    found = []
    for source in (claim + "intro P. right. right. exact I. Qed.\n", wrong):
        (theories / "Hand.v").write_text(source)
        answers = headlines_checked(list(headlines("Hand", source)), library.built(tmp_path / "formal", tmp_path / "store"),
                                    tmp_path / "store")
        found += [answer.accepted for answer in answers.values()]
    assert found == [True, False]


def test_exports_are_made_again_after_a_change() -> None:
    """What is kept of an export is kept by the sources of its claim and of the exporter, and of nothing else."""
    module = "derivations.eot.section5_gradient"

    def kept(**changed: str) -> str:
        sources = incremental.project()
        sources.hashes.update({name.replace("__", "."): value for name, value in changed.items()})
        return content_of([module], sources)

    assert kept() == kept() == kept(derivations__eot__section7_fisher="other")
    others = (kept(**{module: "other"}), kept(derivations__kernel__terms="other"), kept(derivations__calculus__sums="other"))
    assert len({kept(), *others}) == 4


def test_a_missing_rocq_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Rocq nothing is checked, and the message says how to get it."""
    monkeypatch.setenv("PATH", "/nowhere")
    library.version.cache_clear()
    with pytest.raises(library.MissingError, match="apt-get install"):
        library.version()
    library.version.cache_clear()
