"""Delegation tokens: what one is, making and renewing them, and logging in with one."""
