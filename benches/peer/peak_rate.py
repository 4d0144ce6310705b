"""What f32 products reach on this machine, FLOP/s: the best of square products through PyTorch on so many threads."""

import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]))
size = 2048
left, right = torch.randn(size, size), torch.randn(size, size)
seconds = []
for _ in range(12):
    start = time.perf_counter()
    left @ right
    seconds.append(time.perf_counter() - start)
print(2 * size**3 / min(seconds))
