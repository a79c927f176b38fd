"""The report: executed notebooks as one folder of pages that needs no network, no server and no script of others."""

from .pages import Result, check, report, results, write

__all__ = ["Result", "check", "report", "results", "write"]
