"""CUDA kernels written in Triton, and sums over trees in plain PyTorch.

The modules of this folder import only torch and triton, so that they can be tried and measured
without the core. Each takes padded tensors with the lengths on the device, and returns values in
float64 and gradients over parts. None waits for the device, and none adds floats in an order that
depends on how threads are scheduled.
"""
