"""Pictures of structures as SVG, without anything from outside."""
