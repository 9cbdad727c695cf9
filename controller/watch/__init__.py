"""Live views of a lab or a run: books of what came in, frozen views of them, panels of text, a terminal program."""
