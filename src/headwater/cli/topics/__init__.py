"""What `headwater topics` and `headwater configs` show and change."""
