"""Settings every test shares."""

from hypothesis import settings

# Timings on a loaded machine vary; the laws do not.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")
