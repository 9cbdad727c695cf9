"""How near to the truth the tool's models are, on labs whose truth is known."""
