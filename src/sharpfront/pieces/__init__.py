"""Bases of the line in the mixture's own coordinate, and their linear systems."""

from sharpfront.pieces.basis import PiecewiseBasis, restore_pieces
from sharpfront.pieces.coordinate import Coordinate, Points, coordinate
from sharpfront.pieces.piece import Piece, Places
from sharpfront.pieces.system import condition_blocks, piece_system

__all__ = [
    "Coordinate",
    "Piece",
    "PiecewiseBasis",
    "Places",
    "Points",
    "condition_blocks",
    "coordinate",
    "piece_system",
    "restore_pieces",
]
