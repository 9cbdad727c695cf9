"""A virtual machine with Debian's kernel."""
