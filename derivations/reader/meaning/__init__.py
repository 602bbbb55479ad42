"""The meaning of a formula: the notation, values entry by entry, and relations."""
