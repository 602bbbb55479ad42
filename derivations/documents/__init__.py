"""The documents, a package each: claims, the lines of the source that they state, and the notation of the print."""

import sys

from derivations.authored import guard_modules
from derivations.register.freezing import Chapters

guard_modules(__name__)
sys.meta_path.insert(0, Chapters())  # before the finder that guards them
