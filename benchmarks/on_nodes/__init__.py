"""What runs as a rank on a node: texts that travel there, and import nothing of ours."""
