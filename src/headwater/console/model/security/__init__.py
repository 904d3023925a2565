"""Users, rights, certificates, quotas, and who did what."""
