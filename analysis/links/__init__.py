"""How links sleep and wake: echoes after pauses, and the EEE policy that explains them."""
