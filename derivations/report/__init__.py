"""From ledgers to a folder of HTML pages that an author can act on."""
