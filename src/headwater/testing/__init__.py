"""What users put in their own tests: a broker in this process, and a pytest fixture."""
