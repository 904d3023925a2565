"""Pages and dialogs about schemas."""
