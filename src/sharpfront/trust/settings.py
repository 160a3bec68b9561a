"""What answers are doubted with: one record, with the reason for each number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrustSettings:
    """From where on noise, jumps and misses count, and how closely data are looked at."""

    singular: float = 1e5  # amplified more than this: near-singular
    # A leading coefficient touches zero if it falls below this share of its largest, which for
    # (x - a)^2 is rounding; 1e-12 + x^2 does not.
    touches: float = 1e-14
    # Amplified so much that rounding decides: nothing can be said of the error.
    unknowable: float = 1e7
    grown: float = 1e12  # a solution this many times its data: rounding leaves four digits of them
    # Noise of size one in rows of patches that grows beyond this leaves the solution undetermined:
    # 4e2 for waves, 2e6 and 7e7 for cantilevers 40 and 100 times as long as thick, beyond 1e10 on a
    # resonance.
    amplified: float = 1e9
    apart: float = 0.3  # two discretisations that differ by this much do not confirm each other
    # A rate is believed for so many times the kernels it was seen with. It decides between two
    # pieces of advice only; halved and doubled it changes neither for holes, rims and spikes in a
    # disk, whose rates ask for 10 to 1000 times as many.
    far: float = 4.0
    # Solves with fewer kernels than this share of the most say nothing of the rate at the end.
    recent: float = 0.1
    hopeless: float = 0.1  # an estimate above this is no tolerance that anybody wants
    # The last functions of a solution that is resolved to rounding carry less than this: 1e-16 to
    # 1e-13 measured, while kinks leave 1e-9 and more beside estimates of 1e-8.
    resolved: float = 1e-12
    more: float = 1.25  # nothing less than this many times the kernels there were is worth a try
    # Points inside at which an equation is told to be one of balance, and points of the sums.
    in_balance: int = 100
    in_sums: int = 40_000
    # Sums that differ by more than this share of their sizes do not balance, if sums over half as
    # many points differ from them by no more than that share of the difference.
    imbalance: float = 3e-3
    drift: float = 0.1
    # Where formulas tell of something so many times larger than all points see, sums say nothing.
    larger: float = 2.0
    # Points at which something wide is looked for: inside a domain, on a side, towards an end, on
    # an edge that moves, and of edges along which one function is followed to its zero. A hundredth
    # and a hundred times as many changed nothing on 29 problems.
    places: int = 256
    on_piece: int = 16  # and on each smooth piece of a boundary, of which there may be many
    # Points inside and directions that are looked at.
    in_domain: int = 20
    directions: int = 24
    # Jumps of data, values that a solution misses and what stands at a place count from this many
    # tolerances on; that is unseen if less than the rest of this share of it is there: an edge that
    # was rounded has half of it.
    counts: float = 10.0
    missing: float = 0.75
    # A surveyed value is a surprise if it is off the line between two checked ones by this many
    # times what the checked ones around are off the line between their neighbours.
    surprise: float = 2.0
    free_cells: int = 60  # cells on which conditions are asked whether they leave something free
    # A condition that follows from the others is missed by no more tolerances: derivatives are
    # known to fewer digits than u.
    implied: float = 100.0
    # Even points of the close look; more of them where something narrow may be.
    even_points: int = 1001
    # Points that miss more than this share of an integral do not see what it is of. A jump between
    # two of them is missed by less.
    missed: float = 0.3
    # Between points of the look where a part's integral may be off by more than this share of it,
    # there are more of them, up to so many halvings: what is left of a jump that leaves the domain
    # is narrow.
    unsure: float = 0.05
    closer: int = 30
    look: int = 65_536  # points of the look over place and time
    near: int = 64  # moments of interest at which it looks at places of interest, at most
    # A value stands out with this share of the largest deviation; it is rare if few points have it.
    height: float = 0.1
    rare: float = 0.02
    # Events of one part that are followed, and how far the next is, of span and domain.
    most_events: int = 8
    events_apart: float = 0.02
    # Points along a line on which an event is climbed to, and the reach of the first line.
    on_line: int = 513
    first_reach: float = 1.0 / 32.0
    edge_moments: int = 1025  # at which the lines of a moving edge are looked for
    # Places at which nodes are sampled along one coordinate, and places of interest of them.
    along_one: int = 2049
    most_hints: int = 256
    on_panel: int = 64  # points along each panel
    straight: int = 8  # so many times as many along a straight side
    turn_points: int = 17  # points at a time between which a function's turn is looked for
    # Triangles that are looked at are no longer than this share of the domain.
    spacing: float = 1.0 / 24.0
    crossed: int = 512  # triangles at most in which crossings are looked for
    # Triangles that are halved towards a place where a function is largest, those in which it is
    # more than in all others: enough for a ridge that is twenty times as long as it is wide.
    turn_triangles: int = 64
    # Points inside, and on each part of the boundary, at which a motion must satisfy all forms.
    inside: int = 144
    beside: int = 24
    piece: int = 16  # so many times as many of all points where a domain has several pieces
    # Fluxes are where they are so many times as large as this share of them is.
    fluxes: float = 30.0
    usual: float = 0.98
    # A solution is not trusted if data stand out from what a patch sees by this many times more
    # than what it would be cut for.
    unseen: float = 10.0


TRUST = TrustSettings()
