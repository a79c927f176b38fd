"""What each number means, from its declaration in numbers.yaml: in the terminal, and as one generated page."""

from helpers.explain.markdown import PAGE, Section, explain, listed, page, sections, write

__all__ = ["PAGE", "Section", "explain", "listed", "page", "sections", "write"]
