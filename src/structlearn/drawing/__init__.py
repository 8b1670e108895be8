"""Pictures of structures as self-contained SVG."""
