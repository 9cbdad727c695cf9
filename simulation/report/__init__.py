"""The page of simulations: latency by load beside the closed form without traffic, power by each model, provenance."""
