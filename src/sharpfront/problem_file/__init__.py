"""Problems as files: what the command line solves, and the catalogue in the same words."""

from sharpfront.problem_file.mistakes import Mistake, StatementError
from sharpfront.problem_file.statement import Statement, read, read_text

__all__ = ["Mistake", "Statement", "StatementError", "read", "read_text"]
