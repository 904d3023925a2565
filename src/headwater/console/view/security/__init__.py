"""Pages and dialogs about users, rights, certificates and quotas."""
