// Work on rows, a work-group for each: it finds a maximum, or a sum, by a tree in local memory.
//
// x, out: (rows, n). NDRange (GROUP, rows). shared: GROUP numbers, GROUP a power of two.
real largest_of(real x, __local real *shared) {
    int t = get_local_id(0);
    shared[t] = x;
    for (int reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < reach) shared[t] = fmax(shared[t], shared[t + reach]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    real found = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // before somebody writes there again
    return found;
}

real sum_of(real x, __local real *shared) {
    int t = get_local_id(0);
    shared[t] = x;
    for (int reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < reach) shared[t] += shared[t + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    real found = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

// e^x / sum of e^x.
__kernel void softmax(__global const real *x, __global real *out, int n, __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0);
    size_t row = get_global_id(1) * n;
    real top = -INFINITY, total = 0;
    for (int i = t; i < n; i += group) top = fmax(top, x[row + i]);
    top = largest_of(top, shared);
    for (int i = t; i < n; i += group) total += exp(x[row + i] - top);
    total = sum_of(total, shared);
    for (int i = t; i < n; i += group) out[row + i] = exp(x[row + i] - top) / total;
}

// -log softmax of the target, smoothed: 1 - smoothing of the weight on the target, the rest on all classes alike. Rows
// whose target is `ignored` give 0. target: (rows,). out: (rows,).
__kernel void cross_entropy(__global const real *x, __global const int *target, __global real *out, int n, int ignored,
                            real smoothing, __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0), wanted = target[get_global_id(1)];
    size_t row = get_global_id(1) * n;
    real top = -INFINITY, total = 0, far = 0;
    for (int i = t; i < n; i += group) top = fmax(top, x[row + i]);
    top = largest_of(top, shared);
    for (int i = t; i < n; i += group) {
        total += exp(x[row + i] - top);
        if (smoothing > 0) far += top - x[row + i];
    }
    real lse = log(sum_of(total, shared));
    far = sum_of(far, shared) / n;  // the mean distance of a class from the largest
    if (t > 0) return;
    real loss = 0;
    if (wanted != ignored) {
        loss = lse + (top - x[row + wanted]);
        if (smoothing > 0) loss = (1 - smoothing) * loss + smoothing * (lse + far);
    }
    out[get_global_id(1)] = loss;
}

// The gradient of x: grad (softmax - what is wanted), times scale. grad: (rows,), or one number where each is 0.
__kernel void cross_entropy_backward(__global const real *grad, __global const real *x, __global const int *target,
                                     __global real *out, int n, int each, int ignored, real smoothing, real scale,
                                     __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0), wanted = target[get_global_id(1)];
    size_t row = get_global_id(1) * n;
    real top = -INFINITY, total = 0, arriving = scale * grad[each ? get_global_id(1) : 0];
    for (int i = t; i < n; i += group) top = fmax(top, x[row + i]);
    top = largest_of(top, shared);
    for (int i = t; i < n; i += group) total += exp(x[row + i] - top);
    total = sum_of(total, shared);
    for (int i = t; i < n; i += group) {
        real share = smoothing / n + (i == wanted ? 1 - smoothing : 0);
        out[row + i] = wanted == ignored ? 0 : arriving * (exp(x[row + i] - top) / total - share);
    }
}

// (x - mean) / sqrt(variance + eps) * weight + bias along rows. weighted, biased: whether there are such.
__kernel void layer_norm(__global const real *x, __global const real *weight, __global const real *bias,
                         __global real *out, int n, int weighted, int biased, real eps, __local real *shared) {
    int t = get_local_id(0), group = get_local_size(0);
    size_t row = get_global_id(1) * n;
    real mean = 0, squares = 0;
    for (int i = t; i < n; i += group) mean += x[row + i];
    mean = sum_of(mean, shared) / n;
    for (int i = t; i < n; i += group) squares += (x[row + i] - mean) * (x[row + i] - mean);
    real scale = 1 / sqrt(sum_of(squares, shared) / n + eps);
    for (int i = t; i < n; i += group) {
        real y = (x[row + i] - mean) * scale;
        if (weighted) y *= weight[i];
        out[row + i] = biased ? y + bias[i] : y;
    }
}
