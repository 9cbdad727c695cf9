"""What a lab is: its model, its inventory, credentials by reference, and the tree of errors."""
