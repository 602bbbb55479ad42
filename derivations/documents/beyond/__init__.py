"""Beyond the documents: exact identities, sharp constants and rigorous bounds about attention."""
