"""How a domain falls into boxes, quadrilaterals, and boxes that its boundary cuts."""
