"""What `headwater groups` shows, and where it lets a group go on reading."""
