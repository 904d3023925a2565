"""The monitor's answers, in Burrow's paths and form."""
