"""How a scenario runs: structure, sharding, ledger, timing, memory, serving, planning."""
