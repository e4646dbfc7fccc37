"""The laws: pure functions of numbers and arrays, each with equation, assumptions, source and example.

Every argument is keyword-only, in base units, named with its unit, and broadcasts against the others.
Nothing is coerced, so quantities that carry units keep them.

    bounds        roofline times, intensities, critical batches, utilisation
    operators     matrix products: work, traffic, intensity
    attention     query-key pairs, work, cache sizes
    experts       how many experts a batch visits
    exchange      tokens on their way to experts and back, over nodes
    imbalance     how much more than the mean the fullest device has to do
    sequence      what attention sends where devices share the positions of a sequence
    collectives   time and volume of communication between devices
    sharding      what collectives of a divided model cost together, how far dividing helps
    overlap       work that hides behind other work
    hierarchy     collectives over fast links inside nodes and slow ones between
    pipeline      bubbles and busy stages
    memory        weights, cache blocks, sequences and contexts that fit
    serving       rates of requests, pools of prefill and decode
    speculation   gain of drafting tokens ahead
    queueing      waiting before service
    waiting       percentiles of a wait, batching windows
    manyserver    waiting before service where servers are very many
    fleet         demand of users, devices, racks and spares
    cost          rented and owned devices, price of a token
    capital       paying off a purchase, owning against renting
    ownership     electricity, power, money of later years
    profit        revenue, margins, volume that pays for a fixed cost
    energy        joules, electricity and carbon of a token
    training      work, activations and size of a training
"""
