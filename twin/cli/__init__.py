"""A switch's command line: grammar, line editor, sessions, SSH."""
