"""Programs that run: started, watched, restarted where they fail, and stopped."""
