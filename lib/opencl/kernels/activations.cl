// Activations and their slopes, by number: the order of NAMES in lib/opencl/launches.py.
enum { NONE, RELU, LEAKY_RELU, ELU, SIGMOID, TANH, SILU, GELU };

#define ROOT_HALF ((real)0.70710678118654752)
#define BELL ((real)0.39894228040143268)  // 1 / sqrt(2 pi)

real activated(real x, int which) {
    switch (which) {
    case RELU: return x <= 0 ? 0 : x;  // this way round NaN stays NaN
    case LEAKY_RELU: return x > 0 ? x : (real)0.01 * x;
    case ELU: return x > 0 ? x : expm1(x);
    case SIGMOID: return 1 / (1 + exp(-x));
    case TANH: return tanh(x);
    case SILU: return x / (1 + exp(-x));
    case GELU: return (real)0.5 * x * erfc(-x * ROOT_HALF);
    default: return x;
    }
}

real slope(real x, int which) {
    real s, t;
    switch (which) {
    case RELU: return x > 0 ? 1 : 0;
    case LEAKY_RELU: return x > 0 ? 1 : (real)0.01;
    case ELU: return x > 0 ? 1 : exp(x);
    case SIGMOID: t = exp(-fabs(x)); return t / ((1 + t) * (1 + t));
    case TANH: t = exp(-2 * fabs(x)); return 4 * t / ((1 + t) * (1 + t));
    case SILU: s = 1 / (1 + exp(-x)); return s + x * s / (1 + exp(x));
    case GELU: return (real)0.5 * erfc(-x * ROOT_HALF) + x * exp((real)-0.5 * x * x) * BELL;
    default: return 1;
    }
}

__kernel void activation(__global const real *x, __global real *out, int n, int which) {
    int i = get_global_id(0);
    if (i < n) out[i] = activated(x[i], which);
}

// The gradient of x, given grad, the one of activation(x).
__kernel void activation_backward(__global const real *grad, __global const real *x, __global real *out, int n,
                                  int which) {
    int i = get_global_id(0);
    if (i < n) out[i] = grad[i] * slope(x[i], which);
}
