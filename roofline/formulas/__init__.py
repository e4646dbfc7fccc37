"""The laws: pure functions of numbers and arrays, each with equation, assumptions, source and example.

Every argument is keyword-only, in base units, named with its unit, and broadcasts against the others.
Nothing is coerced, so quantities that carry units keep them.

    bounds        roofline times, intensities, critical batches, utilisation
    operators     matrix products: work, traffic, intensity
    attention     query-key pairs, work, cache sizes
    experts       how many experts a batch visits
    collectives   time and volume of communication between devices
    pipeline      bubbles and busy stages
    memory        weights, cache blocks, sequences that fit
    cost          rented and owned devices, price of a token
    energy        joules, electricity and carbon of a token
    ownership     annuity, present value, break-even with an API
    power         draw under load, devices on a supply
    fleet         users into requests, requests into replicas
    speculation   gain of drafting tokens ahead
    queueing      waiting before service
    waiting       percentiles of a wait, batching windows
"""
