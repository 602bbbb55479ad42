"""The documents, a package each: claims, the lines of the source that they state, and the notation of the print."""
