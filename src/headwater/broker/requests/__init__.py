"""From a frame to its answer: requests, their handlers, and answers that come later."""
