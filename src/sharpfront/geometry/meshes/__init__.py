"""Simplicial meshes of domains: of boxes, of any shape, closer where it is small."""
