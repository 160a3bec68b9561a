"""The problem file of a layer, which tests of files and of the command line begin with."""

LAYER = """\
equation = "-nu*u_xx + u_x = 0"
[domain]
interval = [0, 1]
[parameters]
nu = 1e-4
[conditions]
left = "u = 0"
right = "u = 1"
"""
