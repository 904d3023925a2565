"""The platform as one tree of processes: started in order, watched, restarted, stopped in order."""
