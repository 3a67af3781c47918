"""The migrations of the shop: its first tables, and what came later."""
