"""Statements at real orders: bounds of Rényi divergences, without a pair."""
