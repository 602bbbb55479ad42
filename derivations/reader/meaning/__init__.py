"""What a formula says: the notation, values entry by entry, and relations."""
