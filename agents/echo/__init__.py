"""Parts of the echo probe, which `agents/echo_probe.py` runs: gaps, socket, stamps, CPU and the history of echoes."""
