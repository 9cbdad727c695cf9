"""The closed loop of link regulation on a lab: counters of an epoch in, decisions and plans out, the lab restored."""
