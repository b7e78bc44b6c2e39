// Near rows by exact distances: any number of neighbors, classes or quantities, columns with weights.
//
// Squared distances are sums of terms in float64, each rounded to whole quanta, so that they are the CPU's to the bit
// in any order (fewer.kernels.distances). Columns are (p, n), NaN where a cell is missing. Rows that ask and rows that
// answer may be parts of the table: `asked` holds rows ids[0], ids[1], ..., `columns` rows from `offset` on. Columns
// members[offsets[b]] ... of subset b count with `weights`. Compile with --fmad=false.

constexpr double FAR = 1e300;  // as fewer.kernels.distances
constexpr double CLIP = 64.;
constexpr int ROWS = 16;          // answering rows in a tile
constexpr int STAGE = 16;         // columns in shared memory at a time
constexpr int MOST_CLASSES = 64;  // as fewer.criteria._exact_device
constexpr int MOST_KS = 8;
#ifndef CAPACITY
#define CAPACITY 8  // rows listed
#endif

struct Column {
  int kind;
  double x, scale, gap, weight;
};

__device__ __forceinline__ double exact_term(double z, const Column &c, double shift) {
  double square;
  if (c.x != c.x || z != z) square = c.gap;
  else if (c.kind == NOMINAL) square = c.x == z ? 0. : c.scale;
  else {
    square = c.scale * (c.x - z) * (c.x - z);
    square = square > CLIP ? CLIP : square;
  }
  return (c.weight * square + shift) - shift;  // adding and taking off 1.5 * 2^52 quanta rounds
}

__device__ __forceinline__ void add_terms(double (&d)[ROWS], const double (&z)[ROWS], const Column &c, double shift) {
  if (c.kind == PLAIN) {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      double v = c.x - z[r], square = c.scale * v * v;
      d[r] += (c.weight * square + shift) - shift;
    }
  } else {
#pragma unroll
    for (int r = 0; r < ROWS; r++) d[r] += exact_term(z[r], c, shift);
  }
}

struct Rows {
  const double *asked;
  int n_asked;
  const double *columns;
  int n_rows;
};

struct Terms {
  const u8 *kinds;
  const double *scale, *gap;
  double shift;
  int p;
  const int *members;
  const double *weights;
  const int *offsets;
};

// The distances of asking row `row` to answering rows j0 ... j0 + ROWS - 1, added to d; all threads of a block together.
__device__ __forceinline__ void add_subset(double (&d)[ROWS], double (&tile)[STAGE][ROWS], int j0, int row, int fold,
                                           int b, const Rows &rows, const Terms &terms) {
  for (int a = terms.offsets[b], end = terms.offsets[b + 1]; a < end; a += STAGE) {
    int width = min(STAGE, end - a);
    __syncthreads();
    for (int e = threadIdx.x; e < width * ROWS; e += THREADS)
      tile[e / ROWS][e % ROWS] =
          rows.columns[(size_t)terms.members[a + e / ROWS] * rows.n_rows + min(j0 + e % ROWS, rows.n_rows - 1)];
    __syncthreads();
    for (int q = 0; q < width; q++) {
      int f = terms.members[a + q];
      size_t at = (size_t)fold * terms.p + f;
      Column c = {terms.kinds[f], rows.asked[(size_t)f * rows.n_asked + row], terms.scale[at], terms.gap[at],
                  terms.weights[a + q]};
      add_terms(d, tile[q], c, terms.shift);
    }
  }
}

// The CAPACITY nearest rows of each asking row under each subset, nearest first and earlier rows first among equally near
// ones. found and distance (subsets, CAPACITY, n_asked) hold those of former parts of the table; to begin with -1 and FAR.
// Rows of one group are not neighbors. Launch row blocks * subsets.
extern "C" __global__ void __launch_bounds__(THREADS)
listed(const double *asked, int n_asked, const int *ids, const double *columns, int n_rows, int offset, const u8 *kinds,
       const double *scale, const double *gap, double shift, const int *fold, const int *group, int p,
       const int *members, const double *weights, const int *offsets, int *found, double *distance) {
  __shared__ __align__(16) double tile[STAGE][ROWS];
  __shared__ int groups[ROWS];
  int n_blocks = (n_asked + THREADS - 1) / THREADS, b = blockIdx.x / n_blocks, t = threadIdx.x;
  int i = blockIdx.x % n_blocks * THREADS + t;
  bool here = i < n_asked;
  int row = here ? i : n_asked - 1, own = group[ids[row]];
  Rows rows = {asked, n_asked, columns, n_rows};
  Terms terms = {kinds, scale, gap, shift, p, members, weights, offsets};
  double near[CAPACITY];
  int near_rows[CAPACITY];
#pragma unroll
  for (int q = 0; q < CAPACITY; q++) {
    size_t at = ((size_t)b * CAPACITY + q) * n_asked + row;
    near[q] = distance[at], near_rows[q] = found[at];
  }
  for (int j0 = 0; j0 < n_rows; j0 += ROWS) {
    __syncthreads();
    if (t < ROWS) groups[t] = group[offset + min(j0 + t, n_rows - 1)];
    __syncthreads();
    double d[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) d[r] = j0 + r < n_rows && groups[r] != own ? 0. : FAR;
    add_subset(d, tile, j0, row, fold[ids[row]], b, rows, terms);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (d[r] < near[CAPACITY - 1]) insert(near, near_rows, d[r], offset + j0 + r);
  }
  if (here)
#pragma unroll
    for (int q = 0; q < CAPACITY; q++) {
      size_t at = ((size_t)b * CAPACITY + q) * n_asked + i;
      distance[at] = near[q], found[at] = near_rows[q];
    }
}

// ------------------------------------------------------------------------------------------------------------ votes

struct Rules {
  const int *codes;
  const double *values, *row_weights;
  int n_classes;
  double grain;
  const int *ks;
  int n_ks;
};

struct List {
  const int *found;
  const double *distance;
  size_t step;
  int count;
  __device__ int row(int place) const { return found[place * step]; }
  __device__ double far(int place) const { return distance[place * step]; }
};

struct Tally {
  double votes[MOST_CLASSES], total, weighted;
};

__device__ int leader(const double *votes, int n_classes) {  // -1 if several share the lead
  int best = 0;
  bool alone = true;
  for (int c = 1; c < n_classes; c++) {
    if (votes[c] > votes[best]) best = c, alone = true;
    else if (votes[c] == votes[best]) alone = false;
  }
  return alone ? best : -1;
}

__device__ void count(Tally &tally, int j, const Rules &rules) {
  tally.total += rules.row_weights[j];
  if (rules.n_classes) tally.votes[rules.codes[j]] += rules.row_weights[j];
  else tally.weighted += rules.row_weights[j] * rules.values[j];
}

// What a row adds to the score: its weight if the vote is right, or minus its weighted squared error.
__device__ double gain_of(int i, int winner, const Tally &tally, const Rules &rules) {
  if (rules.n_classes) return winner == rules.codes[i] ? rules.row_weights[i] : 0.;
  double mean = tally.total > 0. ? tally.weighted / tally.total : 0., error = mean - rules.values[i];
  return -rint(rules.row_weights[i] * error * error / rules.grain) * rules.grain;
}

// As fewer.kernels.votes.vote_by_rows.
__device__ void by_nearest_rows(int i, const List &list, const Rules &rules, double *gain) {
  Tally tally = {};
  int at = 0;
  for (int place = 0; place < rules.ks[rules.n_ks - 1]; place++) {
    if (place < list.count) count(tally, list.row(place), rules);
    if (place + 1 != rules.ks[at]) continue;
    int winner = rules.n_classes ? leader(tally.votes, rules.n_classes) : 0;
    for (int q = 0; winner < 0 && q < list.count; q++) {
      int c = rules.codes[list.row(q)];
      bool leads = true;
      for (int other = 0; other < rules.n_classes; other++) leads &= tally.votes[other] <= tally.votes[c];
      if (leads) winner = c;
    }
    gain[at++] = gain_of(i, max(winner, 0), tally, rules);
  }
}

// As fewer.kernels.votes.vote_by_levels: false if the list, complete up to `reach`, does not reach far enough.
__device__ bool by_distances(int i, const List &list, double reach, const Rules &rules, double *gain) {
  Tally tally = {};
  int place = 0, level = 0, at = 0;
  while (at < rules.n_ks) {
    if (place >= list.count || list.far(place) > reach) return false;
    double nearest = list.far(place);
    for (; place < list.count && list.far(place) == nearest; place++) count(tally, list.row(place), rules);
    level++;
    while (at < rules.n_ks && level >= rules.ks[at]) {
      int winner = rules.n_classes ? leader(tally.votes, rules.n_classes) : 0;
      if (winner < 0) break;
      gain[at++] = gain_of(i, winner, tally, rules);
    }
  }
  return true;
}

// Let the listed rows vote: gains (subsets, n_ks) grow by what rows gain, which is exact in any order; unsure
// (subsets, n_asked) says for which rows the list is too short. If asked for, by_row (n_asked) grows by what each row
// gains with the last k. Launch row blocks * subsets.
extern "C" __global__ void __launch_bounds__(THREADS)
vote(const int *found, const double *distance, int room, int n_asked, const int *ids, const int *codes,
     const double *values, const double *row_weights, int n_classes, double grain, const int *ks, int n_ks, int by_rows,
     double *gains, u8 *unsure, int with_rows, double *by_row) {
  __shared__ double shared[THREADS];
  int n_blocks = (n_asked + THREADS - 1) / THREADS, b = blockIdx.x / n_blocks;
  int i = blockIdx.x % n_blocks * THREADS + threadIdx.x;
  double gain[MOST_KS] = {};
  if (i < n_asked) {
    size_t at = (size_t)b * room * n_asked + i;
    List list = {found + at, distance + at, (size_t)n_asked, 0};
    while (list.count < room && list.row(list.count) >= 0) list.count++;
    Rules rules = {codes, values, row_weights, n_classes, grain, ks, n_ks};
    if (by_rows) {
      by_nearest_rows(ids[i], list, rules, gain);
    } else {
      double reach = FAR;
      if (list.count == room) {  // rows as far as the last one may be missing
        reach = -1.;
        for (int q = room - 1; q > 0 && reach < 0.; q--)
          if (list.far(q - 1) < list.far(room - 1)) reach = list.far(q - 1);
      }
      bool sure = by_distances(ids[i], list, reach, rules, gain);
      unsure[(size_t)b * n_asked + i] = !sure;
      for (int k = 0; k < n_ks; k++) gain[k] = sure ? gain[k] : 0.;
    }
    if (with_rows) atomicAdd(&by_row[i], gain[n_ks - 1]);
  }
  for (int k = 0; k < n_ks; k++) {
    double sum = over_block(gain[k], shared, Sum());
    if (threadIdx.x == 0) atomicAdd(&gains[(size_t)b * n_ks + k], sum);
  }
}

// A block a pair of a row and a subset whose list was too short: as fewer.kernels.votes.vote_level_by_level, classes
// only. `scratch` is (pairs, n).
extern "C" __global__ void __launch_bounds__(THREADS)
levels(const double *columns, int n, const u8 *kinds, const double *scale, const double *gap, double shift,
       const int *fold, const int *group, int p, const int *members, const double *weights, const int *offsets,
       const int *pair_rows, const int *pair_subsets, const int *codes, const double *row_weights, int n_classes,
       const int *ks, int n_ks, double *scratch, double *gains) {
  __shared__ double tally[MOST_CLASSES], shared[THREADS];
  int t = threadIdx.x, i = pair_rows[blockIdx.x], b = pair_subsets[blockIdx.x];
  double *d = scratch + (size_t)blockIdx.x * n;
  for (int j = t; j < n; j += THREADS) {
    double sum = group[j] == group[i] ? FAR : 0.;
    for (int e = offsets[b]; e < offsets[b + 1]; e++) {
      size_t f = members[e], at = (size_t)fold[i] * p + f;
      Column c = {kinds[f], columns[f * n + i], scale[at], gap[at], weights[e]};
      sum += exact_term(columns[f * n + j], c, shift);
    }
    d[j] = sum;
  }
  if (t < MOST_CLASSES) tally[t] = 0.;
  double below = -1.;
  for (int level = 0, at = 0; at < n_ks;) {
    double nearest = FAR;
    for (int j = t; j < n; j += THREADS)
      if (d[j] > below && d[j] < nearest) nearest = d[j];
    nearest = over_block(nearest, shared, Smaller());
    bool exhausted = nearest >= FAR;
    if (!exhausted) {
      for (int j = t; j < n; j += THREADS)
        if (d[j] == nearest) atomicAdd(&tally[codes[j]], row_weights[j]);
      level++, below = nearest;
      __syncthreads();
    }
    while (at < n_ks && (level >= ks[at] || exhausted)) {
      int winner = leader(tally, n_classes);
      if (winner < 0 && !exhausted) break;
      if (winner < 0) {  // the most frequent class of all; of several, the one met first
        double most = tally[0], first = n;
        for (int c = 1; c < n_classes; c++) most = tally[c] > most ? tally[c] : most;
        for (int j = t; j < n && first == n; j += THREADS)
          if (d[j] < FAR && tally[codes[j]] == most) first = j;
        first = over_block(first, shared, Smaller());
        winner = first < n ? codes[(int)first] : 0;
      }
      if (t == 0 && winner == codes[i]) atomicAdd(&gains[(size_t)b * n_ks + at], row_weights[i]);
      at++;
    }
  }
}

// ---------------------------------------------------------------------------------------------------- neighborhoods

enum Mode { HARD_CLASSES, SOFT_CLASSES, HARD_VALUES, SOFT_VALUES };  // as fewer.kernels.classifiability

// What lies within each subset's limit of each row, `from` on: tallies (subsets, n_tallies, n_asked) grow by the weight of those
// rows and by that of the own class (HARD_CLASSES), of each class (SOFT_CLASSES), by their agreement (HARD_VALUES), or
// by their weighted values and squares (SOFT_VALUES). Launch row blocks * subsets.
extern "C" __global__ void __launch_bounds__(THREADS)
within(const double *asked, int n_asked, int from, const double *columns, int n_rows, int offset, const u8 *kinds,
       const double *scale, const double *gap, double shift, const int *fold, int p, const int *members,
       const double *weights, const int *offsets, const double *limits, int mode, int with_self, const int *codes,
       const double *values, const double *row_weights, int n_tallies, double *tallies) {
  __shared__ __align__(16) double tile[STAGE][ROWS];
  int n_blocks = (n_asked + THREADS - 1) / THREADS, b = blockIdx.x / n_blocks;
  int i = blockIdx.x % n_blocks * THREADS + threadIdx.x;
  bool here = i < n_asked;
  int row = here ? i : n_asked - 1, me = from + row;
  Rows rows = {asked, n_asked, columns, n_rows};
  Terms terms = {kinds, scale, gap, shift, p, members, weights, offsets};
  double tally[MOST_CLASSES + 1] = {}, limit = limits[b];
  for (int j0 = 0; j0 < n_rows; j0 += ROWS) {
    double d[ROWS] = {};
    add_subset(d, tile, j0, row, fold[me], b, rows, terms);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      int j = offset + j0 + r;
      if (j == me) d[r] = with_self ? 0. : FAR;
      if (j0 + r >= n_rows || d[r] > limit) continue;
      double weight = row_weights[j];
      tally[0] += weight;
      if (mode == HARD_CLASSES) tally[1] += codes[j] == codes[me] ? weight : 0.;
      else if (mode == SOFT_CLASSES) tally[1 + codes[j]] += weight;
      else if (mode == HARD_VALUES) tally[1] += weight * (1. - (values[me] - values[j]) * (values[me] - values[j]));
      else tally[1] += weight * values[j], tally[2] += weight * (values[j] * values[j]);
    }
  }
  if (here)
    for (int q = 0; q < n_tallies; q++) tallies[((size_t)b * n_tallies + q) * n_asked + i] += tally[q];
}
