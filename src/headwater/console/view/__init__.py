"""The console's pages, on NiceGUI: one file each, and what they share."""
