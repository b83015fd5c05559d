// LSTM: a step as a launch, or a whole sequence as one. Gates in PyTorch's order: input, forget, cell, output.
//
// of_x: (steps, batch, 4 hidden), W x + b for all steps, a product that waits for nothing. w: (4 hidden, hidden), U.
// bias: (4 hidden,), or anything where biased is 0. lengths: of each sequence. out: (steps, batch, hidden); beyond the
// end of a sequence zeros, and its state stays.
real sigmoid(real x) { return 1 / (1 + exp(-x)); }

// The new state of one unit from its gates; its cell is changed.
real unit_step(const real *gate, __global real *cell) {
    *cell = sigmoid(gate[1]) * *cell + sigmoid(gate[0]) * tanh(gate[2]);
    return sigmoid(gate[3]) * tanh(*cell);
}

// One step: a work-item for each unit of each sequence. The host swaps h and next. NDRange (hidden, batch), the first
// rounded up.
__kernel void lstm_step(__global const real *of_x, __global const real *w, __global const real *bias,
                        __global const int *lengths, __global const real *h, __global real *next, __global real *c,
                        __global real *out, int t, int batch, int hidden, int biased) {
    int unit = get_global_id(0), sequence = get_global_id(1), at = sequence * hidden + unit;
    if (unit >= hidden) return;
    size_t step = (size_t)t * batch + sequence;
    if (t >= lengths[sequence]) {
        next[at] = h[at];
        out[step * hidden + unit] = 0;
        return;
    }
    real gate[4];
    for (int q = 0; q < 4; q++) {
        int row = q * hidden + unit;
        real total = of_x[step * 4 * hidden + row] + (biased ? bias[row] : 0);
        for (int p = 0; p < hidden; p++) total += w[(size_t)row * hidden + p] * h[sequence * hidden + p];
        gate[q] = total;
    }
    next[at] = out[step * hidden + unit] = unit_step(gate, c + at);
}

// All steps: a work-group for each sequence, whose state stays in local memory: work-groups never wait for one another.
// NDRange (GROUP, batch); state: 2 hidden numbers. backward: 1 for a sequence that is read from its end.
__kernel void lstm_sequence(__global const real *of_x, __global const real *w, __global const real *bias,
                            __global const int *lengths, __global real *h, __global real *c, __global real *out,
                            int steps, int batch, int hidden, int biased, int backward, __local real *state) {
    int t0 = get_local_id(0), group = get_local_size(0), sequence = get_global_id(1), length = lengths[sequence];
    __local real *now = state, *next = state + hidden;
    for (int unit = t0; unit < hidden; unit += group) now[unit] = h[sequence * hidden + unit];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < steps; k++) {
        int t = backward ? steps - 1 - k : k;
        size_t step = (size_t)t * batch + sequence;
        for (int unit = t0; unit < hidden; unit += group) {
            if (t >= length) {
                next[unit] = now[unit];
                out[step * hidden + unit] = 0;
                continue;
            }
            real gate[4];
            for (int q = 0; q < 4; q++) {
                int row = q * hidden + unit;
                real total = of_x[step * 4 * hidden + row] + (biased ? bias[row] : 0);
                for (int p = 0; p < hidden; p++) total += w[(size_t)row * hidden + p] * now[p];
                gate[q] = total;
            }
            next[unit] = out[step * hidden + unit] = unit_step(gate, c + sequence * hidden + unit);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // one barrier is enough: what is written next was last read before it
        __local real *swap = now;
        now = next;
        next = swap;
    }
    for (int unit = t0; unit < hidden; unit += group) h[sequence * hidden + unit] = now[unit];
}
