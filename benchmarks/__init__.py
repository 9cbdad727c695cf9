"""Programs that experiments run on a lab, and how to judge their output; `on_nodes` holds what travels to the nodes."""
