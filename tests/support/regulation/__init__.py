"""Networks and traffic for tests of regulation."""
