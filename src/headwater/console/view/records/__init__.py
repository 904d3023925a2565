"""Pages and dialogs about records."""
