// add
kernel void add(global const float *a, global const float *b,
                global float *out, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = a[i] + b[i];
}
// softmax
#define ITEMS 32

float over_all(local float *part, float mine, int sum)
{
    int t = get_local_id(0);
    part[t] = mine;
    for (int away = ITEMS / 2; away; away /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < away)
            part[t] = sum ? part[t] + part[t + away]
                          : fmax(part[t], part[t + away]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return mine;
}

kernel void softmax(global const float *x, global float *out, int columns)
{
    local float part[ITEMS];                  // a work-group, a row
    global const float *row = x + get_group_id(0) * columns;
    int t = get_local_id(0);
    float largest = row[0], total = 0.0f;
    for (int j = t; j < columns; j += ITEMS)
        largest = fmax(largest, row[j]);
    largest = over_all(part, largest, 0);
    for (int j = t; j < columns; j += ITEMS)
        total += exp(row[j] - largest);
    total = over_all(part, total, 1);
    for (int j = t; j < columns; j += ITEMS)
        out[get_group_id(0) * columns + j] = exp(row[j] - largest) / total;
}
// matmul
#define T 16
kernel void matmul(global const float *a, global const float *b,
                   global float *c, int m, int n, int k)
{
    local float of_a[T][T], of_b[T][T];
    int x = get_local_id(0), y = get_local_id(1);
    int row = get_group_id(1) * T + y, column = get_group_id(0) * T + x;
    float total = 0.0f;
    for (int begin = 0; begin < k; begin += T) {
        int i = begin + x, j = begin + y;
        of_a[y][x] = row < m && i < k ? a[row * k + i] : 0;
        of_b[y][x] = j < k && column < n ? b[j * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int e = 0; e < T; e++)
            total += of_a[y][e] * of_b[e][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[row * n + column] = total;
}
// end
