r"""What the printed symbols stand for, as the document defines them; see `derivations.prints.tables`.

Sources   (4) to (20) of the document, whose definitions are those of the later version; τ of Corollary 1
"""

from derivations.deciphering.print_notation import STATIONARY
from derivations.deciphering.print_notation import SYMBOLS as LATER

SYMBOLS = {**LATER, r"\tau": "positive as tau"}

CHAPTERS: dict[str, dict[str, str | None]] = {}

CLAIMS = {
    "inference.17": STATIONARY,
    "inference.18": STATIONARY,
    "inference.19": STATIONARY,
    "inference.20": STATIONARY,
    "inference.cor1": {**STATIONARY, r"\alpha": r"= 1/\sqrt\tau"},
}

INSTANCES: dict[str, dict[str, str | None]] = {}
