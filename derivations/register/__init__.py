"""The register of claims: `@claim`, entries, the catalogue, loading and selection."""
