// A step of gradient descent, as torch.optim.SGD: a work-item for each parameter.
// first: no buffer yet, its first value is the gradient. heavy: whether there is a momentum at all.
__kernel void sgd(__global real *p, __global const real *grad, __global real *buffer, int n, real lr, real momentum,
                  real dampening, real decay, int heavy, int first, int nesterov) {
    int i = get_global_id(0);
    if (i >= n) return;
    real g = grad[i] + (decay != 0 ? decay * p[i] : 0);
    if (heavy) {
        real b = first ? g : momentum * buffer[i] + (1 - dampening) * g;
        buffer[i] = b;
        g = nesterov ? g + momentum * b : b;
    }
    p[i] -= lr * g;
}
