"""Power that follows from the state of ports, and the meters that measure it."""
