"""Foreign files into specs."""
