// Convolutions with stride, padding, dilation and groups, directly and as a matrix product that is never stored.
//
// x: (batch, groups * ins, height, width), w: (groups * outs, ins, ky, kx), out: (batch, groups * outs, rows, columns);
// ins and outs are those of one group.
typedef struct {
    int batch, ins, outs, height, width, rows, columns, kernel_y, kernel_x, stride_y, stride_x, top, left, dilation_y,
        dilation_x, groups, biased;
} Geometry;

// The pixel that a tap of the kernel sees from one result; zero outside of the
// picture.
real pixel(__global const real *plane, Geometry g, int row, int column, int ky,
           int kx) {
    int y = row * g.stride_y + ky * g.dilation_y - g.top;
    int x = column * g.stride_x + kx * g.dilation_x - g.left;
    bool inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
    return inside ? plane[(size_t)y * g.width + x] : 0;
}

// A work-item for each result. NDRange (columns, rows, batch * groups * outs), the first two rounded up.
__kernel void conv2d_direct(__global const real *x, __global const real *w, __global const real *bias,
                            __global real *out, Geometry g) {
    int column = get_global_id(0), row = get_global_id(1), plane = get_global_id(2);
    if (row >= g.rows || column >= g.columns) return;
    int channels = g.groups * g.outs, channel = plane % channels, picture = plane / channels;
    int first = channel / g.outs * g.ins;  // input channel of its group
    real total = 0;
    for (int c = 0; c < g.ins; c++) {
        __global const real *source = x + ((size_t)picture * g.groups * g.ins + first + c) * g.height * g.width;
        __global const real *taps = w + ((size_t)channel * g.ins + c) * g.kernel_y * g.kernel_x;
        for (int ky = 0; ky < g.kernel_y; ky++)
            for (int kx = 0; kx < g.kernel_x; kx++)
                total += taps[ky * g.kernel_x + kx] * pixel(source, g, row, column, ky, kx);
    }
    out[((size_t)plane * g.rows + row) * g.columns + column] = g.biased ? total + bias[channel] : total;
}

// Implicit GEMM: weights (outs, ins ky kx) times patches (ins ky kx, rows columns). The patches are never stored: a
// tile of them is gathered into local memory. NDRange (rows * columns, outs, batch * groups), the first two rounded up
// to TILE; work-group (TILE, TILE, 1).
#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void conv2d_implicit(__global const real *x, __global const real *w, __global const real *bias, __global real *out,
                     Geometry g) {
    __local real weights[TILE][TILE], patches[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1), place = get_global_id(0), o = get_global_id(1);
    int row = place / g.columns, column = place % g.columns, places = g.rows * g.columns;
    int group = get_global_id(2) % g.groups, picture = get_global_id(2) / g.groups, channel = group * g.outs + o;
    int taps = g.kernel_y * g.kernel_x, k = g.ins * taps;
    __global const real *source = x + (size_t)(picture * g.groups + group) * g.ins * g.height * g.width;
    real total = 0;
    for (int first = 0; first < k; first += TILE) {
        int of_patch = first + ty;
        weights[ty][tx] = o < g.outs && first + tx < k ? w[(size_t)channel * k + first + tx] : 0;
        patches[ty][tx] = place < places && of_patch < k
            ? pixel(source + (size_t)(of_patch / taps) * g.height * g.width, g, row, column,
                    of_patch % taps / g.kernel_x, of_patch % g.kernel_x)
            : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < TILE; p++) total += weights[ty][p] * patches[p][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (o >= g.outs || place >= places) return;
    size_t at = ((size_t)picture * g.groups * g.outs + channel) * places + place;
    out[at] = g.biased ? total + bias[channel] : total;
}
