"""ledger.json and the baselines: rows, schema, shards, journals, regression, and what changes affect."""
