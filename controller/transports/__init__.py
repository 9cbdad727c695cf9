"""The only files that open sockets to a lab's devices."""
