"""Records as `headwater produce` reads them and `headwater consume` prints them."""
