"""The laws: pure functions of numbers and arrays, each with equation, assumptions, source and example.

operators, bounds (roofline), attention, experts, collectives, pipeline, speculation, queueing, memory, cost, energy.
"""
