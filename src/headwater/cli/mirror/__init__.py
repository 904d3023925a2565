"""What `headwater mirror` is made of: how far MirrorMaker is, told in a line."""
