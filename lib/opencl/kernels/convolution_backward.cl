// The gradient of each weight of a convolution: over all pictures and results, what arrives there times the pixel that
// the weight's tap sees. With rows.cl and convolution.cl before it.
//
// grad: (batch, groups * outs, rows, columns), out: (groups * outs, ins, ky, kx). A work-group for each weight: NDRange
// (GROUP, weights). shared: GROUP numbers.
__kernel void conv2d_weight_gradient(__global const real *grad, __global const real *x, __global real *out, Geometry g,
                                     __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0), weight = get_global_id(1), results = g.rows * g.columns;
    int kx = weight % g.kernel_x, ky = weight / g.kernel_x % g.kernel_y;
    int c = weight / (g.kernel_x * g.kernel_y) % g.ins, channel = weight / (g.kernel_x * g.kernel_y * g.ins);
    int ins = g.groups * g.ins, outs = g.groups * g.outs, from = channel / g.outs * g.ins + c;
    real total = 0;
    for (int i = t; i < g.batch * results; i += group) {
        int picture = i / results, at = i % results;
        size_t plane = (size_t)picture * ins + from;
        real seen = pixel(x + plane * g.height * g.width, g,
                          at / g.columns, at % g.columns, ky, kx);
        plane = (size_t)picture * outs + channel;
        total += grad[plane * results + at] * seen;
    }
    total = sum_of(total, shared);
    if (t == 0) out[weight] = total;
}
