"""A lab's folder, read: hosts, switches, cables, outlets, credentials by reference."""
