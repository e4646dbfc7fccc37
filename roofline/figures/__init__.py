"""Results as plain Plotly figures: places and words, no physics."""
