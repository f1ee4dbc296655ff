"""Reports: the numbers, the sentences that go with them, and the page."""
