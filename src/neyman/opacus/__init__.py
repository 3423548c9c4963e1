"""Opacus: its trainings accounted for by neyman."""
