"""The documentation as a website: README, docs and the public Python package, built by `make site`."""
