"""How a solution changes with the parameters of its family."""

from sharpfront.sensitivity.member import Member
from sharpfront.sensitivity.steady import Kept

__all__ = ["Kept", "Member"]
