"""The report: executed notebooks as one folder of pages that needs no network, no server and no script of others."""

from helpers.report.results import Result, results
from helpers.report.writing import check, report, write

__all__ = ["Result", "check", "report", "results", "write"]
