// Nearest neighbors under many subsets at once: one neighbor, classes.
//
// Rows are sorted by class. Distances are sums of terms, one for each column in use (fewer.differences says which).
// Three kinds of sums: int32 ones that decide most subsets of an exhaustive sweep (`sweep`), float32 ones that decide
// most rows of given subsets (`nearest`, `verdicts`), and float64 ones, exact to the bit, that decide the rest
// (`decide`). Compile with --fmad=false: products that are meant to be fused say so.
//
// The same text is compiled for the CPU in the tests, with a small shim of the CUDA words it uses.

constexpr int FAR_32 = 1 << 30;  // as fewer.kernels.distances
enum Verdict { WRONG, RIGHT, UNSURE };

// ------------------------------------------------------------------------------------------------------ all subsets
//
// Which of 2^m subsets have at most `bound` sure errors in the first rows of `order`? A sure error is one that no
// rounding can turn: the nearest row of another class is nearer than that of the own one by more than `tol`.
//
// Bits of a subset, low to high: 3 + 2 in registers (8 x 4 sums), 4 + 4 in the thread's index, the others in the
// block's. A thread holds 32 running minima; min(a + b, c) on int32 is one instruction.

constexpr int INNER = 8, OUTER = 4, LOW = 5, SUBSETS = 32, FIXED = 13;
#ifndef TILE
#define TILE 64  // training rows at a time
#endif
constexpr int SHARES = THREADS / TILE;  // threads that share a training row's terms

__device__ __forceinline__ int coarse_term(float x, float z, int kind, float factor, float gap, float clip) {
  float v = x - z;
  if (kind == PLAIN) return (int)(factor * v * v);
  float square;
  if (kind == CLIPPED) {
    square = factor * v * v;
    square = square > clip ? clip : square;
  } else {
    square = v != 0.f ? factor : 0.f;
  }
  return (int)(v == v ? square : gap);
}

template <int BITS> __device__ __forceinline__ void subset_sums(int *t) {  // t[1 << j] holds the terms, t[0] the start
#pragma unroll
  for (int j = 0; j < BITS; j++) {
    int term = t[1 << j];
#pragma unroll
    for (int z = 1; z < 1 << j; z++) t[(1 << j) + z] = t[z] + term;
    t[1 << j] = t[0] + term;
  }
}

struct __align__(16) Tile {
  int c[TILE][INNER + OUTER], ta[TILE][16], tb[TILE][16], part[TILE][SHARES];
};

__device__ __forceinline__ void nearer(int (&m)[SUBSETS], const Tile &s, int width, int lo, int up) {
#pragma unroll 1
  for (int k0 = 0; k0 < width; k0 += 2)  // two training rows a turn
#pragma unroll
    for (int k = k0; k < k0 + 2; k++) {
      int base = s.ta[k][lo] + s.tb[k][up];
      int4 u = *(const int4 *)&s.c[k][0], v = *(const int4 *)&s.c[k][4], o = *(const int4 *)&s.c[k][8];
      int in[INNER] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
      int out[OUTER] = {base + o.x, base + o.y, base + o.z, base + o.w};
#pragma unroll
      for (int q = 0; q < SUBSETS; q++) m[q] = min(in[q % INNER] + out[q / INNER], m[q]);
    }
}

// columns (p, n), kinds (p), factor and gap (k, p) are those of the coarse layout. members[offsets[u]] ... are the
// columns of unit u; units m and beyond are in every subset (their columns end at offsets[m + 1]). Blocks first,
// first + 1, ... of 2^FIXED subsets are judged; survivors are listed by number.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
sweep(const float *columns, const u8 *kinds, const float *factor, const float *gap, float clip, const int *fold,
      const int *starts, int n, int p, int n_classes, const int *members, const int *offsets, int m, int tol,
      const int *order, int n_order, int bound, u64 first, u64 *survivors, u32 *count, u32 capacity) {
  __shared__ Tile s;
  int t = threadIdx.x, mine = t % TILE, share = t / TILE;
  u64 hi = first + blockIdx.x;
  u32 errors[SUBSETS / 2] = {};  // two 16-bit counters each
  for (int r = 0; r < n_order; r++) {
    int i = order[r], k = fold[i], near[2][SUBSETS];  // nearest row of the own class and of the others
#pragma unroll
    for (int q = 0; q < SUBSETS; q++) near[0][q] = near[1][q] = FAR_32;
    for (int cls = 0; cls < n_classes; cls++) {
      bool own = i >= starts[cls] && i < starts[cls + 1];
      for (int j0 = starts[cls], end = starts[cls + 1]; j0 < end; j0 += TILE) {
        int j = j0 + mine, base = 0;
        bool out = j >= end;  // the row that makes the width even
        j = min(j, end - 1);
        out |= fold[j] == k;
        __syncthreads();
        for (int u = share; u <= m; u += SHARES) {
          if (u >= FIXED && u < m && !(hi >> (u - FIXED) & 1)) continue;
          int v = 0;
          for (int e = offsets[u]; e < offsets[u + 1]; e++) {
            int f = members[e];
            v += coarse_term(columns[(size_t)f * n + i], columns[(size_t)f * n + j], kinds[f],
                             factor[(size_t)k * p + f], gap[(size_t)k * p + f], clip);
          }
          if (u >= FIXED) base += v;
          else if (u < 3) s.c[mine][1 << u] = v;
          else if (u < 5) s.c[mine][8 + (1 << (u - 3))] = v;
          else if (u < 9) s.ta[mine][1 << (u - 5)] = v;
          else s.tb[mine][1 << (u - 9)] = v;
        }
        s.part[mine][share] = base;
        __syncthreads();
        if (share == 0) {
          base = out ? FAR_32 : 0;
          for (int q = 0; q < SHARES; q++) base += s.part[mine][q];
          s.ta[mine][0] = base;
          subset_sums<4>(s.ta[mine]);
        }
        if (share == SHARES - 1) s.tb[mine][0] = 0, subset_sums<4>(s.tb[mine]);
        if (share == SHARES / 2) {
          s.c[mine][0] = s.c[mine][8] = 0;
          subset_sums<3>(s.c[mine]);
          subset_sums<2>(s.c[mine] + 8);
        }
        __syncthreads();
        int width = min(TILE, end - j0);
        if (own) nearer(near[0], s, width, t % 16, t / 16);
        else nearer(near[1], s, width, t % 16, t / 16);
      }
    }
#pragma unroll
    for (int q = 0; q < SUBSETS; q++) {
      bool wrong = near[1][q] + tol < near[0][q];
      errors[q / 2] += (u32)wrong << (q % 2 * 16);
    }
    if (r % 16 == 15) {
      bool alive = false;
#pragma unroll
      for (int q = 0; q < SUBSETS; q++) alive |= (int)(errors[q / 2] >> (q % 2 * 16) & 0xffff) <= bound;
      if (!__syncthreads_or(alive)) return;
    }
  }
#pragma unroll
  for (int q = 0; q < SUBSETS; q++)
    if ((int)(errors[q / 2] >> (q % 2 * 16) & 0xffff) <= bound) {
      u32 at = atomicAdd(count, 1u);
      if (at < capacity) survivors[at] = hi << FIXED | (u64)t << LOW | q;
    }
}

// ----------------------------------------------------------------------------------------- given subsets, many rows
//
// The float32 distance of the nearest row of each class, for each candidate: what its base columns add up to, and one
// more column. A thread is a row; training rows come in tiles through shared memory; rows of a class are dealt out to
// `splits` blocks, which meet in an atomic minimum (floats from 0 on are ordered as their bits are).

#ifndef CANDIDATES
#define CANDIDATES 8  // columns tried beside one base; 0: the base alone
#endif
constexpr int ROWS = 32;   // training rows in a tile
constexpr int STAGE = 16;  // columns in shared memory at a time
constexpr int SLOTS = CANDIDATES > 0 ? CANDIDATES : 1;
constexpr float FAR_FLOAT = 1e30f;

// What a column adds to the squared distance of two cells.
__device__ __forceinline__ float float_term(float x, float z, int kind, float root, float gap, float clip) {
  float v = root * (x - z);
  if (kind == PLAIN) return v * v;
  if (kind == CLIPPED) return v == v ? fminf(v * v, clip) : gap;
  return v == v ? (v != 0.f ? root * root : 0.f) : gap;
}

__device__ __forceinline__ void add_column(float (&d)[ROWS], const float (&z)[ROWS], float x, int kind, float root,
                                           float gap, float clip) {
  if (kind == PLAIN) {
    float far = root * x;
#pragma unroll
    for (int r = 0; r < ROWS; r += 4) {
      float4 c = *(const float4 *)&z[r];
      float v0 = fmaf(-root, c.x, far), v1 = fmaf(-root, c.y, far);
      float v2 = fmaf(-root, c.z, far), v3 = fmaf(-root, c.w, far);
      d[r] = fmaf(v0, v0, d[r]), d[r + 1] = fmaf(v1, v1, d[r + 1]);
      d[r + 2] = fmaf(v2, v2, d[r + 2]), d[r + 3] = fmaf(v3, v3, d[r + 3]);
    }
  } else {
#pragma unroll
    for (int r = 0; r < ROWS; r++) d[r] += float_term(x, z[r], kind, root, gap, clip);
  }
}

__device__ __forceinline__ float least_with(const float (&d)[ROWS], const float (&z)[ROWS], float x, int kind,
                                            float root, float gap, float clip, float least) {
  if (kind == PLAIN) {
    float far = root * x;
#pragma unroll
    for (int r = 0; r < ROWS; r += 4) {
      float4 c = *(const float4 *)&z[r];
      float v0 = fmaf(-root, c.x, far), v1 = fmaf(-root, c.y, far);
      float v2 = fmaf(-root, c.z, far), v3 = fmaf(-root, c.w, far);
      least = fminf(least, fminf(fmaf(v0, v0, d[r]), fmaf(v1, v1, d[r + 1])));
      least = fminf(least, fminf(fmaf(v2, v2, d[r + 2]), fmaf(v3, v3, d[r + 3])));
    }
  } else {
#pragma unroll
    for (int r = 0; r < ROWS; r++) least = fminf(least, d[r] + float_term(x, z[r], kind, root, gap, clip));
  }
  return least;
}

// used[first[b]] ... used[first[b + 1] - 1] are the base columns of batch b; tried (batches, CANDIDATES) its
// candidates, -1 for none. near (batches, SLOTS, n_classes, n) must start as FAR_FLOAT. Launch blocks =
// row blocks * n_classes * splits * batches.
extern "C" __global__ void __launch_bounds__(THREADS)
nearest(const float *columns, const u8 *kinds, const float *root, const float *gap, float clip, const int *fold,
        const int *starts, int n, int p, int n_classes, int splits, const int *used, const int *first,
        const int *tried, int *near) {
  __shared__ __align__(16) float tile[STAGE][ROWS];
  __shared__ int folds[ROWS];
  int n_blocks = (n + THREADS - 1) / THREADS, work = blockIdx.x, t = threadIdx.x;
  int i = work % n_blocks * THREADS + t;
  work /= n_blocks;
  int cls = work % n_classes, split = work / n_classes % splits, b = work / n_classes / splits;
  int low = starts[cls], size = starts[cls + 1] - low;
  int begin = low + (int)((long long)size * split / splits), end = low + (int)((long long)size * (split + 1) / splits);
  bool here = i < n;
  int row = here ? i : n - 1, k = fold[row];
  float least[SLOTS];
#pragma unroll
  for (int c = 0; c < SLOTS; c++) least[c] = FAR_FLOAT;
  for (int j0 = begin; j0 < end; j0 += ROWS) {
    __syncthreads();
    if (t < ROWS) folds[t] = fold[min(j0 + t, n - 1)];
    __syncthreads();
    float d[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) d[r] = j0 + r < end && folds[r] != k ? 0.f : FAR_FLOAT;
    for (int a = first[b]; a < first[b + 1]; a += STAGE) {
      int width = min(STAGE, first[b + 1] - a);
      __syncthreads();
      for (int e = t; e < width * ROWS; e += THREADS)
        tile[e / ROWS][e % ROWS] = columns[(size_t)used[a + e / ROWS] * n + min(j0 + e % ROWS, n - 1)];
      __syncthreads();
      for (int q = 0; q < width; q++) {
        int f = used[a + q];
        add_column(d, tile[q], columns[(size_t)f * n + row], kinds[f], root[(size_t)k * p + f],
                   gap[(size_t)k * p + f], clip);
      }
    }
#if CANDIDATES > 0
#pragma unroll
    for (int a = 0; a < CANDIDATES; a += STAGE) {
      __syncthreads();
      for (int e = t; e < STAGE * ROWS; e += THREADS) {
        int f = a + e / ROWS < CANDIDATES ? tried[b * CANDIDATES + a + e / ROWS] : -1;
        if (f >= 0) tile[e / ROWS][e % ROWS] = columns[(size_t)f * n + min(j0 + e % ROWS, n - 1)];
      }
      __syncthreads();
#pragma unroll
      for (int c = a; c < (a + STAGE < CANDIDATES ? a + STAGE : CANDIDATES); c++) {
        int f = tried[b * CANDIDATES + c];
        if (f >= 0)
          least[c] = least_with(d, tile[c - a], columns[(size_t)f * n + row], kinds[f], root[(size_t)k * p + f],
                                gap[(size_t)k * p + f], clip, least[c]);
      }
    }
#else
#pragma unroll
    for (int r = 0; r < ROWS; r++) least[0] = fminf(least[0], d[r]);
#endif
  }
  if (here)
#pragma unroll
    for (int c = 0; c < SLOTS; c++)
      atomicMin(&near[(((size_t)b * SLOTS + c) * n_classes + cls) * n + i], __float_as_int(least[c]));
}

// How far off may a float32 distance be? doubt[0] is the sum of the columns' factors, doubt[1] their number, doubt[2]
// the roundings of exact terms. A cell in 0 ... 1 is off by 2^-25, and so are its partner and its product with the root
// F^1/2; the root and the difference round besides, by 2^-24 of the difference. So a term t is off by 2 d sqrt(F t) +
// 2 d^2 F, with d = 2^-22 to be safe, and 2^-22 t; the sum of k terms by k 2^-24 of itself besides.
__device__ double error_of(double d, const double *doubt) {
  double delta = 2.384185791015625e-07, eps = 5.9604644775390625e-08;
  return 2. * delta * sqrt(d * doubt[0]) + 2. * delta * delta * doubt[0] + (doubt[1] + 4.) * eps * d + doubt[2];
}

__device__ bool surely_nearer(double a, double b, const double *doubt) {
  if (a >= FAR_FLOAT) return false;
  if (b >= FAR_FLOAT) return true;
  return a + error_of(a, doubt) + error_of(b, doubt) < b;
}

// One thread a row and subset. near (subsets, n_classes, n), doubt (subsets, 3), verdicts (subsets, n).
extern "C" __global__ void __launch_bounds__(THREADS)
verdicts(const float *near, const double *doubt, const int *codes, int n, int n_classes, int by_rows, int n_subsets,
         u8 *out) {
  long long at = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (at >= (long long)n_subsets * n) return;
  int i = (int)(at % n), b = (int)(at / n), own = codes[i];
  const float *mine = near + (size_t)b * n_classes * n + i;
  doubt += 3 * b;
  float self = mine[(size_t)own * n], other = FAR_FLOAT, another = FAR_FLOAT;
  for (int c = 0; c < n_classes; c++) {
    float d = mine[(size_t)c * n];
    if (c == own) continue;
    if (d < other) another = other, other = d;
    else if (d < another) another = d;
  }
  // By distances, rows of two other classes may tie for the nearest, and then the next distance may turn the vote.
  bool right = surely_nearer(self, other, doubt);
  bool wrong = surely_nearer(other, self, doubt) &&
               (by_rows || another >= FAR_FLOAT || surely_nearer(other, another, doubt));
  out[at] = right ? RIGHT : wrong ? WRONG : UNSURE;
}

// ------------------------------------------------------------------------------------------------- exact distances

constexpr double FAR_DOUBLE = 1e300;
constexpr double CLIP = 64.;

// As fewer.kernels.distances.add_terms with weight 1, to the bit: adding and taking off 1.5 * 2^52 quanta rounds.
__device__ double exact_term(double x, bool x_missing, double z, bool z_missing, bool nominal, double scale, double gap,
                             double shift) {
  double square;
  if (x_missing || z_missing) square = gap;
  else if (nominal) return x == z ? 0. : (scale + shift) - shift;
  else {
    square = scale * (x - z) * (x - z);
    square = square > CLIP ? CLIP : square;
  }
  return (square + shift) - shift;
}

constexpr int MOST_CLASSES = 8, MOST_LEVELS = 16;

// A block a pair of a row and a subset: rows[pair], subsets[pair]; subset b has columns members[offsets[b]] .... All in
// the table's order. The rows at the nearest distance vote, and while the vote is tied, those at the next as well; by
// rows, the first of the nearest rows decides. What is still tied after MOST_LEVELS stays UNSURE.
extern "C" __global__ void __launch_bounds__(THREADS)
decide(const double *columns, const u8 *missing, const u8 *nominal, const double *scale, const double *gap,
       double shift, const int *fold, int n, int p, int n_classes, int by_rows, const int *codes,
       const double *weights, const int *rows, const int *subsets, const int *members, const int *offsets, u8 *out) {
  __shared__ double room[THREADS];
  int t = threadIdx.x, i = rows[blockIdx.x], b = subsets[blockIdx.x], k = fold[i];
  double total[MOST_CLASSES] = {}, below = -1.;
  int verdict = UNSURE;
  for (int level = 0; level < MOST_LEVELS && verdict == UNSURE; level++) {
    double nearest = FAR_DOUBLE, votes[MOST_CLASSES] = {};
    int first = n;
    for (int j = t; j < n; j += THREADS) {
      if (fold[j] == k) continue;
      double d = 0.;
      for (int e = offsets[b]; e < offsets[b + 1]; e++) {
        size_t f = members[e];
        d += exact_term(columns[f * n + i], missing[f * n + i], columns[f * n + j], missing[f * n + j], nominal[f],
                        scale[(size_t)k * p + f], gap[(size_t)k * p + f], shift);
      }
      if (d <= below || d > nearest) continue;
      if (d < nearest) {
        nearest = d, first = j;
#pragma unroll
        for (int c = 0; c < MOST_CLASSES; c++) votes[c] = 0.;
      }
#pragma unroll
      for (int c = 0; c < MOST_CLASSES; c++) votes[c] += codes[j] == c ? weights[j] : 0.;
    }
    double least = over_block(nearest, room, Smaller());
    if (least >= FAR_DOUBLE) break;
    if (by_rows) {
      double found = over_block(nearest == least ? (double)first : (double)n, room, Smaller());
      verdict = codes[(int)found] == codes[i] ? RIGHT : WRONG;
      break;
    }
    int leader = 0;
    bool alone = true;
#pragma unroll
    for (int c = 0; c < MOST_CLASSES; c++) {
      if (c < n_classes) total[c] += over_block(nearest == least ? votes[c] : 0., room, Sum());
      if (c > 0 && total[c] > total[leader]) leader = c, alone = true;
      else if (c > 0 && c < n_classes && total[c] == total[leader]) alone = false;
    }
    if (alone) verdict = leader == codes[i] ? RIGHT : WRONG;
    below = least;
  }
  if (t == 0) out[blockIdx.x] = (u8)verdict;
}
