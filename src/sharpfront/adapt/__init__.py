"""Who decides where kernels and rows go next; each is loaded when it is asked for."""

from typing import TYPE_CHECKING

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.adapt.contract import Adaptor, Proposal, State
    from sharpfront.adapt.paper import Paper
    from sharpfront.adapt.patchwork import Patches
    from sharpfront.adapt.resolve import Resolve
    from sharpfront.adapt.space import ResolveSpace
    from sharpfront.adapt.uniform import Uniform

__all__ = ["Adaptor", "Paper", "Patches", "Proposal", "Resolve", "ResolveSpace", "State", "Uniform"]

__getattr__ = fetcher(
    __name__,
    {
        "contract": "Adaptor Proposal State",
        "paper": "Paper",
        "patchwork": "Patches",
        "resolve": "Resolve",
        "space": "ResolveSpace",
        "uniform": "Uniform",
    },
)
