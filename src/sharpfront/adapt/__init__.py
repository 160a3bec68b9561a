"""Who decides where kernels and rows go next; each is loaded when it is asked for."""

from typing import TYPE_CHECKING

from sharpfront.loading import fetcher

if TYPE_CHECKING:
    from sharpfront.adapt.contract import Adaptor, Proposal, State
    from sharpfront.adapt.one_patch import OnePatch
    from sharpfront.adapt.paper import Paper
    from sharpfront.adapt.patchwork import Patches
    from sharpfront.adapt.resolve import Resolve
    from sharpfront.adapt.uniform import Uniform

__all__ = ["Adaptor", "OnePatch", "Paper", "Patches", "Proposal", "Resolve", "State", "Uniform"]

__getattr__ = fetcher(
    __name__,
    {
        "contract": "Adaptor Proposal State",
        "one_patch": "OnePatch",
        "paper": "Paper",
        "patchwork": "Patches",
        "resolve": "Resolve",
        "uniform": "Uniform",
    },
)
