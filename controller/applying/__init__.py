"""Plans carried out: announced in a journal, sent, read back, taken back."""
