"""Who decides where kernels and rows go next."""

from sharpfront.adapt.contract import Adaptor, Proposal, State
from sharpfront.adapt.paper import Paper
from sharpfront.adapt.patchwork import Patches
from sharpfront.adapt.resolve import Resolve
from sharpfront.adapt.space import ResolveSpace
from sharpfront.adapt.uniform import Uniform

__all__ = ["Adaptor", "Paper", "Patches", "Proposal", "Resolve", "ResolveSpace", "State", "Uniform"]
