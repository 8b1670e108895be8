"""Kernels for CUDA, written in Triton, and the sums over trees that are plain PyTorch.

The modules of this folder import torch and triton alone, so that they can be tried and measured
where the core is not built. Each takes padded tensors with the lengths on the device, and gives
values as float64 and gradients over parts; none waits for the device, and none adds floats in an
order that depends on how threads are scheduled.
"""
