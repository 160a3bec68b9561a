"""Problems as files: what the command line solves, and the catalogue in the same words."""

from sharpfront.statement.mistakes import Mistake, StatementError
from sharpfront.statement.statement import Statement, read, read_text

__all__ = ["Mistake", "Statement", "StatementError", "read", "read_text"]
