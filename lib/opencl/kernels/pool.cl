// The largest of each window of size x size pixels; windows lie side by side, pixels beyond the last one are left out.
//
// x: (planes, height, width), out: (planes, rows, columns).
int largest_at(__global const real *plane, int width, int size, int row, int column) {
    int best = row * size * width + column * size;
    for (int y = row * size; y < (row + 1) * size; y++)
        for (int x = column * size; x < (column + 1) * size; x++)
            if (plane[y * width + x] > plane[best]) best = y * width + x;  // of equal ones the first
    return best;
}

// NDRange (columns, rows, planes), the first two rounded up.
__kernel void max_pool(__global const real *x, __global real *out, int height, int width, int rows, int columns,
                       int size) {
    int column = get_global_id(0), row = get_global_id(1);
    if (row >= rows || column >= columns) return;
    x += get_global_id(2) * height * width;
    out[(get_global_id(2) * rows + row) * columns + column] = x[largest_at(x, width, size, row, column)];
}

// The gradient of x: a pixel gets that of its window if it is the largest. NDRange (width, height, planes), the first
// two rounded up.
__kernel void max_pool_backward(__global const real *grad, __global const real *x, __global real *out, int height,
                                int width, int rows, int columns, int size) {
    int column = get_global_id(0), row = get_global_id(1), at = row * width + column;
    if (row >= height || column >= width) return;
    size_t plane = get_global_id(2);
    int y = row / size, z = column / size;
    x += plane * height * width;
    bool largest = y < rows && z < columns && largest_at(x, width, size, y, z) == at;
    out[plane * height * width + at] = largest ? grad[(plane * rows + y) * columns + z] : 0;
}
