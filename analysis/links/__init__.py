"""How links sleep and wake: echoes after gaps, and the EEE policy that explains their delays."""
