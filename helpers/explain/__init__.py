"""What each number means, from its declaration in numbers.yaml: in the terminal, and as one generated page."""

from helpers.explain.declared import Section, sections
from helpers.explain.markdown import PAGE, page, write
from helpers.explain.telling import explain, listed

__all__ = ["PAGE", "Section", "explain", "listed", "page", "sections", "write"]
