"""Keys for a platform of one's own: an authority, certificates, users, and what clients need."""
