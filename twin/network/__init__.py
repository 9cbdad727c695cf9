"""The lab's network: cables and spanning tree."""
