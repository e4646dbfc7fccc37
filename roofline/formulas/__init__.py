"""The laws: pure functions of numbers and arrays, each with equation, assumptions, source and example.

Every argument is keyword-only, in base units, named with its unit, and broadcasts against the others.
Nothing is coerced, so quantities that carry units keep them.

    bounds        roofline times, intensities, critical batches, utilisation
    operators     matrix products: work, traffic, intensity
    attention     query-key pairs, work, cache sizes
    experts       how many experts a batch visits
    imbalance     how much more than the mean the fullest device has to do
    sequence      what attention sends where devices share the positions of a sequence
    collectives   time and volume of communication between devices
    overlap       work that hides behind other work
    hierarchy     collectives over fast links inside nodes and slow ones between
    pipeline      bubbles and busy stages
    memory        weights, cache blocks, sequences that fit
    cost          rented and owned devices, price of a token
    energy        joules, electricity and carbon of a token
    speculation   gain of drafting tokens ahead
    queueing      waiting before service
"""
