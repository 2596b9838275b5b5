/* The order of entries in the rows of list C, where these hold places in shared memory.
 *
 * Shared memory serves 8 records of 16 bytes at once, if no two of them lie in the same eighth of its banks: place modulo 8 says which. As found, the k-th
 * neighbours of neighbouring particles meet there by chance, and a warp takes 13 turns for 32 pairs of cg_apply where 6 would do. So each row is put into such an
 * order that its k-th entry lies, where it can, in the eighth that follows its own number by k: threads side by side then ask for different ones. */
#include "cuda/cells.h"

namespace OZ_NAMESPACE {
namespace {

enum {
  EIGHTHS = 8,
  LONGEST = 64, /* entries; longer rows, which are few, stay as they are */
  MISFITS = LONGEST - LONGEST / EIGHTHS /* entries that find the places of their eighth taken: all in one leave so many */
};

/* Where P threads put a row each in order. */
template <int P> struct desk {
  uint16_t entry[LONGEST + MISFITS][P];
};

struct spread {
  uint16_t *entries;
  const uint32_t *group;
  const uint16_t *len;
  uint32_t n, step; /* threads a particle: so many entries of a row are read at once */

  template <int P> OZ_D void row(desk<P> *d, uint32_t t, uint32_t i) const {
    const uint32_t many = len[i], phase = step * i;
    if (many < 2 || many > LONGEST) return;
    uint16_t *at = entries + (size_t)group[i / GROUP] * GROUP + i % GROUP * 4;
    uint32_t have = 0, misfits = 0; /* of each eighth, 4 bits; those that found no place */
    for (uint32_t k = 0; k < many; k += 16) {
      uint2 w[4];
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 4; m++) w[m] = *reinterpret_cast<const uint2 *>(at + (size_t)((k + 4 * m < many ? k + 4 * m : k) >> 2) * (4 * GROUP));
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 16; m++) {
        if (k + m >= many) continue;
        const uint32_t two = m & 2u ? w[m / 4].y : w[m / 4].x, e = m & 1u ? two >> 16 : two & 0xffffu, nibble = e % EIGHTHS * 4;
        const uint32_t slot = (have >> nibble & 15u) * EIGHTHS + (e - phase) % EIGHTHS;
        const bool fits = slot < many;
        have += 1u << nibble;
        d->entry[fits ? slot : LONGEST + misfits][t] = (uint16_t)e;
        misfits += !fits;
      }
    }
    uint32_t sum = have - (have >> 4 & 0x0f0f0f0fu) * 15u; /* pairs of nibbles, each pair in its byte */
    sum = (sum & 0x00ff00ffu) + (sum >> 8 & 0x00ff00ffu);
    if (((sum + (sum >> 16)) & 0xffffu) != many) return; /* more than 15 in an eighth were counted wrong; it stays as it is */
    uint64_t holes = 0; /* an eighth has every eighth slot, of which the first are taken */
    for (uint32_t c = 0; c < EIGHTHS; c++) {
      const uint32_t n = have >> 4 * c & 15u;
      if (n < 8) holes |= 0x0101010101010101ull << 8 * n << (c - phase) % EIGHTHS;
    }
    holes &= ~(uint64_t)0 >> (64 - many);
    for (uint32_t m = 0; m < misfits; m++, holes &= holes - 1) {
      const uint32_t low = (uint32_t)holes, slot = low ? lowest(low) : 32u + lowest((uint32_t)(holes >> 32));
      d->entry[slot][t] = d->entry[LONGEST + m][t];
    }
    for (uint32_t k = 0; k < many; k += 4) {
      uint16_t *to = at + (size_t)(k >> 2) * (4 * GROUP);
      if (k + 4 <= many) {
        const uint2 four = {d->entry[k][t] | (uint32_t)d->entry[k + 1][t] << 16, d->entry[k + 2][t] | (uint32_t)d->entry[k + 3][t] << 16};
        *reinterpret_cast<uint2 *>(to) = four;
      } else /* what pads it stays at the end */
        for (uint32_t m = 0; k + m < many; m++) to[m] = d->entry[k + m][t];
    }
  }
};

#if !defined(OZ_CUDA_HOST)
__global__ void __launch_bounds__(BLOCK) spread_kernel(const __grid_constant__ spread s) {
  __shared__ desk<BLOCK> d;
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  await_the_last(); /* on the side it starts early */
  if (i < s.n) s.row(&d, threadIdx.x, i);
}
#endif

} // namespace

cudaError_t spread_rows(const gpu *g, const uint32_t *group, const uint16_t *len, uint16_t *entries, bool early) {
  const spread s = {entries, group, len, g->count, (uint32_t)lanes_for(g)};
#if defined(OZ_CUDA_HOST)
  (void)early;
  static desk<1> d;
  for (uint32_t i = 0; i < s.n; i++) s.row(&d, 0, i);
#else
  if (early) return start_kernel(spread_kernel, (s.n + BLOCK - 1u) / BLOCK, (uint32_t)BLOCK, 0, g->stream, s);
  spread_kernel<<<(s.n + BLOCK - 1) / BLOCK, BLOCK, 0, g->stream>>>(s);
#endif
  return cudaGetLastError();
}

} // namespace OZ_NAMESPACE
