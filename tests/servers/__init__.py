"""Servers that tests talk to over real HTTP, on this machine only."""
