/* The kernel of mirror pressure by rows (mirror_pressure.h), which overlaps the move, whose end
 * waits for it: it is short and small. Some blocks take contacts of the wall layer, four threads
 * each; the others take contacts with no image but the particle's own, one thread each. It is bound
 * by latency, a chain of dependent loads: so loads of lists and walls precede the launch dependency
 * wait, and all loads behind it are in flight at once. That serves contacts with one plane; the few
 * others go step by step. Included by stage_kernels.cu, inside its
 * namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_MIRROR_ROWS_H
#define OZ_CUDA_MIRROR_ROWS_H

/* A contact with one plane: the loads before the wait. */
struct mirror_contact {
  uint32_t i;
  float omega, x[3];
  oz_wall wall;   /* its n and s */
  bool on, plain; /* on: it has images; plain: from one plane */
  OZ_D void open(const stage_args &a, uint32_t slot) {
    const oz_frame *f = &a.f;
    const oz_wall *from = f->wall + (size_t)slot * f->contact_planes;
    const uint32_t planes = f->wall_planes[slot], dense = from->dense;
    oz_real v[4], w[4];
    static_assert(offsetof(oz_wall, n) == 0 && offsetof(oz_wall, s) == 12 &&
                      sizeof(oz_wall) % 16 == 0,
                  "read as one");
    oz_ld4(reinterpret_cast<const float *>(from), 0, 4, 0, w);
    i = f->wall_particle[slot];
    omega = f->omega[i];
    oz_ld4(f->x, i, 4, 0, v);
    for (int c = 0; c < 3; c++) x[c] = v[c], wall.n[c] = w[c];
    wall.s = w[3];
    on = f->wall_density && omega > 0.0f, plain = planes == 1 && dense;
  }
};

/* One of the four threads of a row. */
struct mirror_team {
  /* entries of a thread: known before the wait (rows of the wall layer have some 30), in flight at
   * once, and replaced at a time */
  enum { T = mirror_row_walk::T, AHEAD = 12, AT_ONCE = 6, HALF = 3 };
  struct copy_view {              /* in shared memory, to save registers */
    float4 x[BLOCK], wall[BLOCK]; /* start position; n and s */
    uint2 here[BLOCK], place[AHEAD][BLOCK];
    uint32_t later[AHEAD - AT_ONCE][BLOCK];
  };
  uint32_t i, length, j[AT_ONCE];
  /* Whether the contact has images, from one plane. */
  OZ_D bool open(const stage_args &a, uint32_t slot, copy_view &kept) {
    const oz_frame *f = &a.f;
    const oz_wall *wall = f->wall + (size_t)slot * f->contact_planes;
    const uint32_t lane = threadIdx.x % T, planes = f->wall_planes[slot], dense = wall->dense;
    static_assert(offsetof(oz_wall, n) == 0 && offsetof(oz_wall, s) == 12 &&
                      sizeof(oz_wall) % 16 == 0,
                  "read as one");
    copy_async<16>(shared_address_of(&kept.wall[threadIdx.x]), wall);
    i = f->wall_particle[slot];
    copy_async<16>(shared_address_of(&kept.x[threadIdx.x]), f->x + 4 * (size_t)i);
    copy_async<8>(shared_address_of(&kept.here[threadIdx.x]), a.place + 2 * (size_t)i);
    const float omega = f->omega[i];
    mirror_row_walk row;
    uint32_t who[AHEAD];
    row.open(a, i);
    length = row.length;
    for (uint32_t m = 0; m < AHEAD; m++) who[m] = row.neighbour(lane + T * m);
    for (uint32_t m = 0; m < AHEAD; m++) {
      copy_async<8>(shared_address_of(&kept.place[m][threadIdx.x]), a.place + 2 * (size_t)who[m]);
      if (m < AT_ONCE)
        j[m] = who[m];
      else
        kept.later[m - AT_ONCE][threadIdx.x] = who[m];
    }
    return f->wall_density && omega > 0.0f && planes == 1 && dense;
  }
  /* Entries that were not loaded ahead: of dense fluid with long rows. By a whole warp. */
  OZ_D void add_rest(const stage_args &a, oz_place here, bool there, const oz_mirror *seen,
                     oz_real *sum) const {
    const uint32_t lane = threadIdx.x % T;
    mirror_row_walk row;
    if (there) row.open(a, i);
    for (uint32_t e = T * AHEAD; __any_sync(0xffffffffu, there && e < length); e += T * HALF) {
      uint32_t who[HALF];
      oz_place place[HALF];
      oz_real d[HALF][4];
      if (!there) continue;
      for (uint32_t m = 0; m < HALF; m++) who[m] = row.neighbour(e + lane + T * m);
      for (uint32_t m = 0; m < HALF; m++)
        place[m] = oz_place_ld(a.place, who[m]), oz_ld4(a.f.dx, who[m], 4, 0, d[m]);
      for (uint32_t m = 0; m < HALF; m++) mirror_row_walk::add(a, here, place[m], d[m], seen, sum);
    }
  }
  static OZ_D float of_lane(const float v[3]) {
    return threadIdx.x % T == 0 ? v[0] : threadIdx.x % T == 1 ? v[1] : v[2];
  }
  /* By a whole warp; there: this thread has a row. */
  OZ_D void make(const stage_args &a, uint32_t slot, const copy_view &kept, bool there) const {
    const oz_frame *f = &a.f;
    /* the first three threads take an axis each */
    const uint32_t lane = threadIdx.x % T, axis = lane < 3 ? lane : 2;
    const size_t plane = (size_t)slot * f->contact_planes;
    oz_real own[4] = {0.0f, 0.0f, 0.0f, 0.0f}, d[AT_ONCE][4], sum[OZ_MIRROR_SUMS];
    float y = 0.0f, impulse = 0.0f, press = 0.0f, omega = 0.0f, move = 0.0f;
    for (uint32_t m = 0; m < AT_ONCE; m++)
      for (int c = 0; c < 4; c++) d[m][c] = 0.0f;
    if (there) {
      oz_ld4(f->dx, i, 4, 0, own);
      for (uint32_t m = 0; m < AT_ONCE; m++) oz_ld4(f->dx, j[m], 4, 0, d[m]);
      y = f->y[4 * (size_t)i + axis], impulse = f->wall_impulse[3 * plane + axis],
      press = __ldcg(&f->wall[plane].press), omega = f->omega[i];
    }
    __syncwarp(); /* keeps the compiler from delaying the loads until their use; the same below */
    const float4 x4 = kept.x[threadIdx.x], w4 = kept.wall[threadIdx.x];
    const float x[3] = {x4.x, x4.y, x4.z};
    const oz_place here = oz_place_ld(&kept.here[threadIdx.x].x, 0);
    oz_wall wall;
    oz_mirror m, seen;
    wall.n[0] = w4.x, wall.n[1] = w4.y, wall.n[2] = w4.z, wall.s = w4.w;
    mirror_begin(own, x, &m, &seen);
    const int others = mirror_turn(f, x, &wall, &m, &seen);
    for (int c = 0; c < OZ_MIRROR_SUMS; c++) sum[c] = 0.0f;
    /* whether any row of the warp is that long; shorter ones repeat the particle itself */
    bool on[AHEAD / HALF];
#pragma unroll
    for (uint32_t e = 0; e < AHEAD; e += HALF) {
      if (e >= AT_ONCE && !on[e / HALF]) break;
      for (uint32_t u = e; u < e + HALF; u++)
        mirror_row_walk::add(a, here, oz_place_ld(&kept.place[u][threadIdx.x].x, 0), d[u % AT_ONCE],
                             &seen, sum);
      if (e + AT_ONCE < AHEAD) {
        on[(e + AT_ONCE) / HALF] = __any_sync(0xffffffffu, there && T * (e + AT_ONCE) < length);
        if (there && on[(e + AT_ONCE) / HALF])
          for (uint32_t u = e; u < e + HALF; u++)
            oz_ld4(f->dx, kept.later[u][threadIdx.x], 4, 0, d[u % AT_ONCE]);
        __syncwarp();
      }
    }
    add_rest(a, here, there, &seen, sum);
    for (int c = 0; c < OZ_MIRROR_SUMS; c++)
      for (int e = T / 2; e; e >>= 1) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], e);
    oz_mirror_axis(f, oz_mirror_push(f, &m, press, others, sum), of_lane(m.n), others,
                   of_lane(sum + 2), &impulse, &move);
    if (!there || lane == 3) return;
    f->wall_impulse[3 * plane + axis] = impulse;
    f->y[4 * (size_t)i + axis] = oz_mirror_moved(f, omega, y, move);
  }
};
/* One thread a contact. Returns whether there are further images, in which case nothing is written.
 */
__device__ __forceinline__ bool mirror_own(const stage_args &a, uint32_t slot,
                                           const mirror_contact &at, bool there) {
  const oz_frame *f = &a.f;
  const size_t plane = (size_t)slot * f->contact_planes;
  oz_real own[4] = {0.0f, 0.0f, 0.0f, 0.0f}, y[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  float impulse[3] = {0.0f, 0.0f, 0.0f}, move[3] = {0.0f, 0.0f, 0.0f}, press = 0.0f;
  if (there) {
    oz_ld4(f->dx, at.i, 4, 0, own), oz_ld4(f->y, at.i, 4, 0, y);
    for (int c = 0; c < 3; c++) impulse[c] = f->wall_impulse[3 * plane + c];
    press = __ldcg(&f->wall[plane].press);
  }
  __syncwarp(); /* all loads are in flight */
  oz_mirror m, seen;
  mirror_begin(own, at.x, &m, &seen);
  if (mirror_turn(f, at.x, &at.wall, &m, &seen)) return there;
  const float push = oz_mirror_push(f, &m, press, 0, nullptr);
  for (int c = 0; c < 3; c++) oz_mirror_axis(f, push, m.n[c], 0, 0.0f, impulse + c, move + c);
  for (int c = 0; there && c < 3; c++)
    f->wall_impulse[3 * plane + c] = impulse[c], f->y[4 * (size_t)at.i + c] =
                                                     oz_mirror_moved(f, at.omega, y[c], move[c]);
  return false;
}

__device__ __forceinline__ void mirror_wait(const stage_args &a) {
  if (!a.overlaps) launch_dependency_trigger();
  launch_dependency_wait();
  /* the dependent kernel finds all earlier kernels done */
  if (a.overlaps) launch_dependency_trigger();
}
/* Idle warps leave at once; the first one stays, so that this kernel outlasts the one before. */
__device__ __forceinline__ bool mirror_idle() { return blockIdx.x || threadIdx.x >= 32; }
/* The kernels that write contacts and the wall layer's list do not trigger early. */
__device__ __forceinline__ void mirror_teams(const stage_args &a, uint32_t blocks) {
  __shared__ mirror_team::copy_view kept;
  constexpr uint32_t EACH = BLOCK / mirror_team::T;
  const oz_frame *f = &a.f;
  const uint32_t many = *f->near_wall_contacts,
                 begin = blockIdx.x * EACH + threadIdx.x / mirror_team::T;
  bool waits = true, more = false;
  for (uint32_t k = begin;; k += blocks * EACH) {
    /* of the warp's first contact; the launch has room for that many, and the count need not be
     * known */
    const uint32_t slot = k < f->wall_count ? f->near_wall_contacts[1 + k] : 0u, first = k & ~7u;
    bool there = k < many;
    mirror_team team;
    if (first >= many && (!waits || mirror_idle())) break;
    if (there) {
      there = team.open(a, slot, kept);
      more |= !there;
    }
    copies_wait();
    if (waits) mirror_wait(a);
    waits = false;
    team.make(a, slot, kept, there);
  }
  for (uint32_t k = begin; more && k < many; k += blocks * EACH) {
    const uint32_t slot = f->near_wall_contacts[1 + k];
    if (f->wall_planes[slot] != 1 || !f->wall[(size_t)slot * f->contact_planes].dense)
      mirror_row<true>(a, slot, threadIdx.x % mirror_team::T);
  }
}
__device__ __forceinline__ void mirror_owns(const stage_args &a, uint32_t block, uint32_t blocks) {
  const uint32_t many = *a.wall_count;
  bool waits = true;
  for (uint32_t slot = block * BLOCK + threadIdx.x;; slot += blocks * BLOCK) {
    bool there = slot < many;
    mirror_contact at;
    if ((slot & ~31u) >= many && (!waits || mirror_idle())) break;
    if (there) {
      at.open(a, slot);
      there = at.on && !in_wall_layer(&a.f, slot, a.f.wall_planes[slot]);
    }
    if (waits) mirror_wait(a);
    waits = false;
    const bool more = mirror_own(a, slot, at, there && at.plain);
    if (more || (there && !at.plain)) mirror_row<false>(a, slot, 0);
  }
}
template <class S>
__global__ void __launch_bounds__(BLOCK, 8)
    mirror_rows_kernel(const __grid_constant__ stage_args a, uint32_t teams) {
  if (blockIdx.x < teams)
    mirror_teams(a, teams);
  else
    mirror_owns(a, blockIdx.x - teams, gridDim.x - teams);
}
#endif
