"""A live page: the panels of the terminal in a browser, read-only, renewed by server-sent events."""
