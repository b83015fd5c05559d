// add
extern "C" __global__
void add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
// softmax
extern "C" __global__
void softmax(const float *x, float *out, int columns)
{
    const float *row = x + blockIdx.x * columns;   // a warp, a row
    float largest = row[0], total = 0.0f;
    for (int j = threadIdx.x; j < columns; j += 32)
        largest = fmaxf(largest, row[j]);
    for (int away = 16; away; away /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, away));
    for (int j = threadIdx.x; j < columns; j += 32)
        total += expf(row[j] - largest);
    for (int away = 16; away; away /= 2)
        total += __shfl_xor_sync(~0u, total, away);
    for (int j = threadIdx.x; j < columns; j += 32)
        out[blockIdx.x * columns + j] = expf(row[j] - largest) / total;
}
// matmul
#define T 16
extern "C" __global__
void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float of_a[T][T], of_b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float total = 0.0f;
    for (int begin = 0; begin < k; begin += T) {
        int i = begin + x, j = begin + y;
        of_a[y][x] = row < m && i < k ? a[row * k + i] : 0;
        of_b[y][x] = j < k && column < n ? b[j * n + column] : 0;
        __syncthreads();
        for (int e = 0; e < T; e++)
            total += of_a[y][e] * of_b[e][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = total;
}
// end
