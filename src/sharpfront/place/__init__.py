"""Where functions go: a monitor, a mixture, maps and splits, before solves and between them."""
