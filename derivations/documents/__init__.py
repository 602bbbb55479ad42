"""The documents, a package each: claims, the lines of the source that they state, and the notation of the print."""

from derivations.authored import guard_modules

guard_modules(__name__)
