"""What people ask: evaluate, sweep, curves, explain, catalogues; each returns a frozen result or a table."""
