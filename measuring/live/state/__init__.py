"""The live state of a run or lab, kept from batches and events, and the frozen view of one moment."""
