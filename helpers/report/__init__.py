"""The report: executed notebooks as pages that need no network, no server and no script of others."""
