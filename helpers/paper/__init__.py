"""What a paper needs of results: figures of its columns, tables, numbers as macros, methods, sources, a checklist."""

from .layout import PAGES
from .writing import Written, write

__all__ = ["PAGES", "Written", "write"]
