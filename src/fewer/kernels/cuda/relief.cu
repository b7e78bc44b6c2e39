// Near rows for Relief: mean absolute differences over the features that both rows have, in float64.
//
// Features are (p, n), numeric ones scaled to 0 ... 1, nominal ones as codes, NaN where a cell is missing; rows are
// sorted by class. Asking rows are `from` ... from + n_asked - 1. distances is (n, n_asked). MIXED: some feature is
// nominal or has missing cells.

constexpr double FAR = 1e300;
constexpr double GRID = 4294967296.;  // as fewer.kernels.relief
constexpr int ROWS = 16;              // answering rows in a tile
constexpr int STAGE = 16;             // features in shared memory at a time
constexpr int SPAN = 256;             // answering rows of a block
#ifndef CAPACITY
#define CAPACITY 12  // rows listed
#endif
#ifndef MIXED
#define MIXED 0
#endif

__device__ __forceinline__ double gap_of(double x, double z, int nominal) {  // NaN if a cell is missing
  if (!MIXED) return fabs(x - z);
  double gap = fabs(x - z);
  return gap == gap && nominal ? (gap != 0. ? 1. : 0.) : gap;
}

// Mean differences, on the grid that keeps ties, or as they are; FAR where two rows share no feature. Launch row
// blocks * spans.
extern "C" __global__ void __launch_bounds__(THREADS)
gaps(const double *columns, const u8 *nominal, int n, int p, int from, int n_asked, int on_grid, double *distances) {
  __shared__ __align__(16) double tile[STAGE][ROWS];
  int n_blocks = (n_asked + THREADS - 1) / THREADS, i = blockIdx.x % n_blocks * THREADS + threadIdx.x;
  int begin = blockIdx.x / n_blocks * SPAN, end = min(begin + SPAN, n), row = from + min(i, n_asked - 1);
  for (int j0 = begin; j0 < end; j0 += ROWS) {
    double d[ROWS] = {};
    int seen[ROWS] = {};
    for (int a = 0; a < p; a += STAGE) {
      int width = min(STAGE, p - a);
      __syncthreads();
      for (int e = threadIdx.x; e < width * ROWS; e += THREADS)
        tile[e / ROWS][e % ROWS] = columns[(size_t)(a + e / ROWS) * n + min(j0 + e % ROWS, n - 1)];
      __syncthreads();
      for (int q = 0; q < width; q++) {
        double x = columns[(size_t)(a + q) * n + row];
        int special = MIXED ? nominal[a + q] : 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          double gap = gap_of(x, tile[q][r], special);
          if (!MIXED) d[r] += gap;
          else if (gap == gap) d[r] += gap, seen[r]++;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      int share = MIXED ? seen[r] : p;
      double mean = d[r] / share;
      if (on_grid) mean = rint(mean * GRID) / GRID;
      if (i < n_asked && j0 + r < end) distances[(size_t)(j0 + r) * n_asked + i] = share ? mean : FAR;
    }
  }
}

// The k nearest rows of each class: found and near (classes, k, n_asked), -1 where there is none. Launch row blocks *
// classes.
extern "C" __global__ void __launch_bounds__(THREADS)
nearest_gaps(const double *distances, const int *bounds, int from, int n_asked, int k, int *found, double *near) {
  int n_blocks = (n_asked + THREADS - 1) / THREADS, i = blockIdx.x % n_blocks * THREADS + threadIdx.x;
  int c = blockIdx.x / n_blocks;
  if (i >= n_asked) return;
  double d[CAPACITY];
  int rows[CAPACITY];
#pragma unroll
  for (int q = 0; q < CAPACITY; q++) d[q] = FAR, rows[q] = -1;
#pragma unroll 4
  for (int j = bounds[c]; j < bounds[c + 1]; j++) {
    double next = distances[(size_t)j * n_asked + i];
    if (next < d[CAPACITY - 1] && j != from + i) insert(d, rows, next, j);
  }
#pragma unroll
  for (int q = 0; q < CAPACITY; q++)
    if (q < k) found[((size_t)c * k + q) * n_asked + i] = rows[q], near[((size_t)c * k + q) * n_asked + i] = d[q];
}

// The radius of each row (radius NaN: the mean of its distances less half their standard deviation), and whether a row
// lies so near to it that rounding decides; besides the sum and number of its distances.
extern "C" __global__ void __launch_bounds__(THREADS)
radii(const double *distances, int n, int from, int n_asked, double radius, double band, double *out, u8 *unsure,
      double *sums, double *counts) {
  int i = blockIdx.x * THREADS + threadIdx.x, me = from + i;
  if (i >= n_asked) return;
  double total = 0., square = 0.;
  int seen = 0;
  for (int j = 0; j < n; j++) {
    double d = distances[(size_t)j * n_asked + i];
    if (j != me && d < FAR) total += d, seen++;
  }
  if (radius != radius) {
    double mean = seen ? total / seen : 0.;
    for (int j = 0; j < n; j++) {
      double d = distances[(size_t)j * n_asked + i];
      if (j != me && d < FAR) square += (d - mean) * (d - mean);
    }
    radius = seen ? mean - 0.5 * sqrt(square / seen) : 0.;
  }
  bool doubt = false;
  for (int j = 0; j < n; j++) {
    double d = distances[(size_t)j * n_asked + i];
    doubt |= j != me && fabs(d - radius) <= band * radius;
  }
  out[i] = radius, unsure[i] = doubt, sums[i] = total, counts[i] = seen;
}

constexpr int GROUP = 8;  // features of a block

// What each row adds to the score of each feature: parts (p, n_asked). Relation r is class r, or with a bound above 0
// (quantities) 0: targets alike, 1: not. Launch row blocks * groups of features.
extern "C" __global__ void __launch_bounds__(THREADS)
within_radius(const double *columns, const u8 *nominal, int n, int p, int from, int n_asked, const double *distances,
              const double *radius, const double *votes, const int *codes, const int *bounds, const double *shares,
              int n_relations, const double *target, double bound, double *parts) {
  __shared__ __align__(16) double tile[GROUP][ROWS];
  int n_blocks = (n_asked + THREADS - 1) / THREADS, i = blockIdx.x % n_blocks * THREADS + threadIdx.x;
  int f0 = blockIdx.x / n_blocks * GROUP, at = min(i, n_asked - 1), me = from + at;
  double x[GROUP], hit[GROUP] = {}, miss[GROUP] = {}, met[GROUP] = {}, limit = radius[at];
#pragma unroll
  for (int q = 0; q < GROUP; q++) x[q] = columns[(size_t)min(f0 + q, p - 1) * n + me];
  for (int r = 0; r < n_relations; r++) {
    bool own = bound > 0. ? r == 0 : r == codes[me];
    int begin = bound > 0. ? 0 : bounds[r], end = bound > 0. ? n : bounds[r + 1];
    double sum[GROUP] = {};
    int seen[GROUP] = {};
    for (int j0 = begin; j0 < end; j0 += ROWS) {
      __syncthreads();
      for (int e = threadIdx.x; e < GROUP * ROWS; e += THREADS)
        tile[e / ROWS][e % ROWS] = columns[(size_t)min(f0 + e / ROWS, p - 1) * n + min(j0 + e % ROWS, n - 1)];
      __syncthreads();
      for (int k = 0; k < ROWS && j0 + k < end; k++) {
        int j = j0 + k;
        if (j == me || !(distances[(size_t)j * n_asked + at] < limit)) continue;
        if (bound > 0. && (fabs(target[me] - target[j]) < bound) != own) continue;
#pragma unroll
        for (int q = 0; q < GROUP; q++) {
          double gap = gap_of(x[q], tile[q][k], MIXED ? nominal[min(f0 + q, p - 1)] : 0);
          if (!MIXED || gap == gap) sum[q] += gap, seen[q]++;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < GROUP; q++) {
      if (seen[q] == 0) continue;
      if (own) hit[q] = sum[q] / seen[q];
      else miss[q] += shares[r] * sum[q] / seen[q], met[q] += shares[r];
    }
  }
  if (i < n_asked)
#pragma unroll
    for (int q = 0; q < GROUP; q++)
      if (f0 + q < p)
        parts[(size_t)(f0 + q) * n_asked + i] = votes[me] * ((met[q] > 0. ? miss[q] / met[q] : 0.) - hit[q]);
}
