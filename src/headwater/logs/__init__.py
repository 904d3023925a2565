"""What every process logs: in which form, and from which level on."""
