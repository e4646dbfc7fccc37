"""The nouns: frozen, validated values that text becomes."""
