"""What speaks against an answer: asked of the statement, of its data and of what was found."""
