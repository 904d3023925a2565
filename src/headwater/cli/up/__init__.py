"""What `headwater up` and `headwater cluster` ask and say around a platform."""
