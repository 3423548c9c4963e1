"""Densities of one to three coordinates: questions, releases and estimates."""
