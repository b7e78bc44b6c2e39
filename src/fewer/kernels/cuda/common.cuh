// What all kernel texts share; it stands before each of them.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

constexpr int THREADS = 256;
enum Kind { PLAIN, CLIPPED, NOMINAL };

struct Smaller {
  __device__ double operator()(double a, double b) const { return b < a ? b : a; }
};
struct Sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};

// Combine one number of each thread; all threads get the result.
template <class Op> __device__ double over_block(double mine, double *room, Op op) {
  int t = threadIdx.x;
  __syncthreads();
  room[t] = mine;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) room[t] = op(room[t], room[t + half]);
    __syncthreads();
  }
  return room[0];
}

// Put a row among the SIZE nearest so far, all in registers; equally near ones stay in the order they came in.
template <int SIZE> __device__ __forceinline__ void insert(double (&near)[SIZE], int (&found)[SIZE], double d, int row) {
#pragma unroll
  for (int place = SIZE - 1; place > 0; place--) {
    bool moves = d < near[place - 1], here = !moves && d < near[place];
    near[place] = moves ? near[place - 1] : here ? d : near[place];
    found[place] = moves ? found[place - 1] : here ? row : found[place];
  }
  if (d < near[0]) near[0] = d, found[0] = row;
}
