"""Whether the text asserts a displayed formula: “one might expect that …”, “… does not hold”, “there is an x with …”.

Words such as “conjecture” or “does not imply” mean that the paper does not assert the formula: it stays open.  Words such as
“for some”, “approximately” or “with equality iff” mean that it asserts less than the formula says of all values: a proof
counts, and a counterexample refutes nothing.
"""

import re
from collections.abc import Sequence

from derivations.papers.guesses.guesses import Guess, Guesses
from derivations.papers.guesses.premises import CASE
from derivations.reader.meaning.notation import DENIED, QUALIFIED
from derivations.reader.syntax.tree import Chain, Node, Scripted, Symbol, spelled, walk
from derivations.reader.tex.paper import Formula

TRUE = r"(hold|true|valid|correct|exact|so|possible|the case|imply|follow|conclude|expect|satisf\w+)"
FALSE = r"(false|wrong(ly)?|incorrect(ly)?|erroneous(ly)?|mistaken(ly)?|untrue|absurd|impossible|violated)"
NOT = r"(n't|n’t| not| never|not)( \w+){0,2}"
CLAIM = r"(last|latter|above|equation|identity|equality|inequality|claim|statement|formula|bound)"
DENYING = re.compile(
    rf"\b(does|do|is|are|can|need|will|would|should|may){NOT} {TRUE}\b|\bcannot (\w+ )?(hold|conclude|have|expect|be)\b"
    rf"|\bit is (\w+ )?{FALSE}\b|\b{FALSE} (\w+ )?(that|claim|statement|identity|formula|conclusion|to)\b"
    r"|\b(wrongly|erroneously|incorrectly|mistakenly|misconception|fallacy|mistake is|mistake to|tempt\w+)\b"
    r"|\b(might|may|could|would) (\w+ )?(expect|think|hope|guess|believe|suspect|wonder|ask|like|wish|be tempted)\b"
    r"|\b(is|are|was|has been) (often|sometimes|frequently|commonly|widely) (\w+ )?(claim|stat|believ|assum|assert)ed\b"
    r"|\b(we|it is|was|authors?) (\w+ )?(conjecture|hypothesi[sz]e|speculate|suspect)[sd]?\b|\b(our|following) conjecture\b"
    r"|\bopen (question|problem)\b|\bwhether$|\bideally\b"
    r"|\b(contrary|contrast|opposed) to [^,…]*\b(claim\w*|belief|statement|assertion|intuition|wisdom|hope)\b[^,…]*$"
    r"|\b(for( a)?|to obtain a|by|seeking a) contradiction\b|\bto the contrary\b|^were (it|this|that)\b|\bfor no\b"
    r"|\bthere (is|are|exists?) no\b.*\b(such that|with|for which|satisf\w+)|\bno longer (have|holds?|true)\b"
    r"|\b(instead of|rather than)( \w+){0,2}:?$|\bnot (\w+ )?(bounded|given|equal|implied) (by|to)$"
    r"|\b(refute|disprove|reject|dispute)[sd]?\b|\bneither that$|\bby no means\b"
    r"|^(no …|not (every|all)\b|hardly any\b)|\b(counterexample|misprint|unclear)\w*\b",
    re.IGNORECASE,
)
QUESTION = re.compile(r"(is|are|does|do|can|could|why|which|for which|when (is|are|do|does|can))\b", re.IGNORECASE)
DENIED_AFTER = re.compile(
    rf"^(\W|hold|…)*(but |which |and |yet )*((this|that|it|which|the {CLAIM}) )*(\w+ )?"
    rf"((does|do|is|are|can|need|will|would|could){NOT} {TRUE}|cannot\b|(is|are|was|would be) (\w+ )?({FALSE}|contradict\w+)\b|"
    rf"fails?\b|{FALSE}\b)|\bbut (this|that|it|which|we)? ?(\w+ )?(is {FALSE}|is not|does not|fails|cannot)\b|\bcannot hold\b"
    r"|\b(we would have|leads? to) a contradiction\b|\b(miss|overlook|forget|double-count)(e?s|ing)\b"
    rf"|^[^,…]* (is|are|was) (\w+ )?{FALSE}$",
    re.IGNORECASE,
)
NEXT = re.compile(
    rf"^(but|however|yet|unfortunately|alas)?\W*((this|that|the) {CLAIM}|this|that|it) (?P<rest>.*)", re.IGNORECASE
)
HOLDS_IF = re.compile(
    r"^(holds|is (true|valid|tight|exact|correct|satisfied|possible|attained))?\W*(\w+ )?"
    r"(only|if|when|whenever|iff|exactly|precisely|for|provided|unless|as long as|up to|approximately|asymptotically)\b",
    re.IGNORECASE,
)

SOME = (
    r"\bthere (is|are|exists?|must be)\b|\bfor (some|at least|almost|most|infinitely|suitable|certain|a suitable|generic)\b"
    r"|\b(can|may|choose|pick|find|select)\b.*\b(such|so) that\b|\b(can|may) (\w+ )?(choose|pick|find|select)\b"
    r"|\balmost (surely|all|every)\b|\bprobability\b.*\b(at least|high|one|1|approaching)\b|\bwith (\w+ )?high probability\b"
)
EQUIVALENT = (
    r"\bfollowing (\w+ )*are equivalent\b|"
    r"\biff\b|\bif,? and only if\b|\bonly (if|when|for)\b|\b(exactly|precisely) (if|when)\b|\bunless\b|\bexcept\b"
    r"|\bequality (is )?(holds?|attained|occurs?|if|when|for|only)\b|\bwith equality\b|\bcases? of equality\b"
)
APPROXIMATE = (
    r"\bdropping\b|\berrors? of order\b|"
    r"\bapproximat\w+|\basymptotic\w*|\b(first|second|third|leading|lowest|higher|next)[ -]orders?\b(?! (optimal|condition))"
    r"|(?<!add )(?<!adds )(?<!sum )(?<!sums )\bup to\b[^:]*$|\bneglect\w*|\bignor(e|ing)\b|\broughly\b|\bheuristic\w*"
    r"|\blineari[sz]\w+|\bfor (\w+ )?(large|small|high|low)\b|\btends? to\b|\bconverges?\b|\bin the (\w+ ){0,2}limit\b"
    r"|\bat (zero|infinite|high|low) temperature\b|\beventually\b|\b(typically|usually|often|on average|nearly|almost)\b"
    r"|\b(naive|naively|numerically|empirically|in practice|in (our|all|the) experiments|sometimes|regime)\b"
    r"|^(as|letting|sending|taking) …$|\bas … (tends|goes|grows|approaches)\b"
)
REQUIRED = (
    r"\b(must|require[sd]?|requiring|requirement|constraints?|impos\w+|demand\w*|enforc\w+|subject to|a zero of)\b"
    r"|\bwe (want to |need to )?solve\b|\b(root|fixed point) of$|\bsuch that$|\b(set|setting|equat\w+)\b.* to (zero|0)\b"
    r"|\b(optimality|stationarity|order) conditions?\b"
    r"|\b(let|choose|pick|suppose|assume|fix|consider)\b.*\b(satisf\w+|(such|so) that)\b"
    r"|^(suppose|assume|let)( that| us assume that)?$|\bthe (equation|constraint|condition|requirement)$"
    r"|\b(if|when|whenever|provided|provided that)$|\b(enough|suffices|sufficient|necessary)\b"
)
CONDITIONAL = (
    r"^(\w+ )?(if|when|whenever|suppos\w+|assum\w+|provided|unless|in the (\w+ )?case)\b(?! we\b)"
    r"([^…,]*(,(?! …| that is| i\.e)|:|$| then\b)|[^,]*… (\w+ )?(is|are|be|has|have|lies?|follows?|commutes?) (?!…)\w[^…]*$)"
    r"|\bunder (suitable|mild|this|these|the|some|certain|additional) (\w+ )?(assumption|condition|hypothes|restriction)"
    r"|^for (\w+ )?(uniform|constant|equal|identical|symmetric|orthogonal|unit|normali[sz]ed|sorted|cente?red|independent)\b"
)
QUALIFYING = re.compile("|".join((SOME, EQUIVALENT, APPROXIMATE, REQUIRED, CONDITIONAL)), re.IGNORECASE)
QUALIFIED_AFTER = re.compile(
    rf"{SOME}|{EQUIVALENT}|{APPROXIMATE}|^\W*(if|when|whenever|provided|as long as|assuming|under)\b[^…]*$"
    r"|\bhas (a|two|exactly|no|at most|at least)\b.*\bsolutions?\b|^\W*for (constant|uniform|equal)\b"
    r"|^\W*on …|^\W*(by|our|a|the) (\w+ )?(assumption|hypothesis|convention|normali[sz]ation|constraint)\b",
    re.IGNORECASE,
)

EXISTS = re.compile(r"(\bthere (is|are|exists?|must be)|\bfor (some|a suitable|a certain)|存在)( \w+){0,3}$", re.IGNORECASE)
DECLARED = re.compile(r"\b(let|for (all|any|every|each)|fix|take|given|set)( \w+){0,3}$", re.IGNORECASE)
SENTENCE = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\beq)(?<!\bfig)(?<!\bresp)[.;!?]\s", re.IGNORECASE)
ASSUMING = re.compile(
    r"(suppose|assume|throughout|we (\w+ )?(assume|require|impose)|imposing)\b"
    r"|(we )?(fix|choose|pick|take)\b.*\b(such|so) that\b",
    re.IGNORECASE,
)
ASSUMED = re.compile(r"(suppose|assume)\b", re.IGNORECASE)
THEN = re.compile(r"(then|thus|hence|in this case|under)\b", re.IGNORECASE)
KEPT = 120  # characters of the words
SHORT = 4  # words between “does not hold” and the formula that it is said of
ASSUMPTIONS = ("assumption", "hypothesis", "condition")
CONJECTURES = ("conj", "question", "open")
LIMIT = re.compile(r"\\(lim|to)(?![A-Za-z])")


def read_stances(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Note the displays that the text does not assert, or not of all values of their symbols."""
    for position, formula, _ in formulas:
        if not formula.display:
            continue
        read = bool(guesses.premises.get(position) or guesses.local.get(("formula", position)))
        for kind, words in ((DENIED, denial(formula)), (QUALIFIED, qualification(formula))):
            if words and not (read and kind == QUALIFIED and CASE.match(words)):  # a condition that a meaning expresses
                local = guesses.local.setdefault(("formula", position), {})
                local[kind] = Guess(words[-KEPT:].lstrip(), f"line {formula.line}")
                if kind == QUALIFIED and (ASSUMING.match(words) or words == formula.environment):
                    guesses.restrictions.append((formula.line, formula.latex))
                break
    _read_existence(guesses, formulas)


def _read_existence(guesses: Guesses, formulas: Sequence[tuple[int, Formula, Node]]) -> None:
    """Note the displays of a number that exists, as in “there is a $c \\in (0, 1)$ such that”, up to its next declaration."""
    existing: dict[str, Formula] = {}
    section = 0
    for position, formula, tree in formulas:
        existing = existing if formula.section == section else {}
        section = formula.section
        if formula.display:
            for name in sorted(existing.keys() & {spelled(node) for node in walk(tree)})[:1]:
                said = existing[name]
                local = guesses.local.setdefault(("formula", position), {})
                if DENIED not in local:
                    words = f"{_around(said)[0][-KEPT:]} {name}".lstrip()
                    local.setdefault(QUALIFIED, Guess(words, f"line {said.line}"))
        elif isinstance(declared := tree.parts[0] if isinstance(tree, Chain) else tree, Symbol | Scripted):
            exists, name = EXISTS.search(formula.words), spelled(declared)
            if exists:
                existing[name] = formula
            elif DECLARED.search(formula.words):
                existing.pop(name, None)


def denial(formula: Formula) -> str:
    """Return the words by which the text does not assert a formula; empty if there are none."""
    if formula.environment.startswith(CONJECTURES):
        return formula.environment
    before, rest, following = _around(formula)
    denying = DENYING.search(before)
    between = before[denying.end() :].split() if denying else []
    if QUESTION.match(before) or (denying and ("that" in (*between[:1], *between[-1:]) or len(between) <= SHORT)):
        return before
    if DENIED_AFTER.search(rest):
        return rest
    said = NEXT.match(following)
    return following if said and DENIED_AFTER.search(said["rest"]) else ""


def qualification(formula: Formula) -> str:
    """Return the words by which the text asserts a formula of some values only; empty if there are none."""
    before, rest, following = _around(formula)
    if formula.environment.startswith(ASSUMPTIONS):
        return formula.environment
    if not LIMIT.search(formula.latex) and QUALIFYING.search(before):
        return before
    if QUALIFIED_AFTER.search(rest):
        return rest
    said = NEXT.match(following)
    return following if said and HOLDS_IF.match(said["rest"]) else ""


def _around(formula: Formula) -> tuple[str, str, str]:
    """Return the sentence before a formula, the rest of it, and the beginning of the next sentence, with … for formulas."""
    *_, earlier, before = ["", *SENTENCE.split(f"{formula.words} ")]
    if ASSUMED.match(earlier.strip()) and THEN.match(before.strip()):
        before = f"{earlier.strip()}, {before.strip()}"
    new = formula.after.lstrip()[:1].isupper() or not formula.rest
    return before.strip(" ,:"), formula.rest, formula.after.strip(" .") if new else ""
