"""Turn ledgers into a folder of HTML pages for authors."""
