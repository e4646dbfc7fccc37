"""Facts into specs: hardware, models, formats, engine profiles."""
