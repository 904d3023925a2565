"""Pages and dialogs about groups."""
