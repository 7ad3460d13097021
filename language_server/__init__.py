"""Langwright: completions, diagnostics and generation that stay completable, for textX."""
