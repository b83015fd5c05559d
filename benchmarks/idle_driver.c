/* A CUDA driver that does nothing: what stands in for libcuda.so.1 where the host's part of a call is measured (gpu_host.py).
 *
 * numba-cuda, cuda.bindings and cuda.core run as they are. Device memory is host memory, so that arrays come and go; a kernel is
 * launched by doing nothing. What the table below does not name succeeds, and leaves its results as they were. `count` says how
 * often something was asked for.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
typedef unsigned long long address;

enum { LAUNCHES, ALLOCATIONS, OF_THE_POOL, TO_THE_DEVICE, TO_THE_HOST, KINDS };

static long counts[KINDS];
static _Thread_local void *current;
static char context;

long count(int kind) { return counts[kind]; }

static result nothing(void) { return 0; }
static result fails(void) { return 1; }
static result launch(void) { counts[LAUNCHES]++; return 0; }

/* ---- the device: one, as large as an H200 ---- */

static result version(int *out) { *out = 13000; return 0; }
static result device_count(int *out) { *out = 1; return 0; }
static result device(int *out, int ordinal) { *out = ordinal; return 0; }
static result name(char *out, int length, int which) { strncpy(out, "a driver that does nothing", length); return 0; }
static result uuid(char *out, int which) { memset(out, 7, 16); return 0; }
static result bytes(size_t *out, int which) { *out = (size_t)1 << 37; return 0; }
static result memory(size_t *left, size_t *all) { *left = *all = (size_t)1 << 37; return 0; }

static result attribute(int *out, int which, int of) {
    switch (which) { /* CUdevice_attribute */
    case 1: case 2: case 3: *out = 1024; break; /* threads of a block */
    case 4: *out = 64; break;
    case 5: *out = 2147483647; break; /* blocks of a grid */
    case 6: case 7: *out = 65535; break;
    case 8: *out = 49152; break; /* bytes of shared memory */
    case 10: *out = 32; break;   /* threads of a warp */
    case 16: *out = 132; break;  /* multiprocessors */
    case 39: *out = 2048; break; /* threads of one */
    case 75: *out = 9; break;    /* compute capability 9.0 */
    case 76: *out = 0; break;
    default: *out = 1;
    }
    return 0;
}

/* ---- its context ---- */

static result get_current(void **out) { *out = current; return 0; }
static result set_current(void *one) { current = one; return 0; }
static result retain(void **out, int which) { *out = &context; return 0; }
static result context_device(int *out) { *out = 0; return 0; }
static result context_version(void *one, unsigned *out) { *out = 13000; return 0; }
static result context_of(void *one, void **out) { *out = &context; return 0; }

static result pop(void **out) {
    if (out) *out = current;
    current = 0;
    return 0;
}

/* ---- memory ---- */

static result allocate(address *out, size_t size) {
    counts[ALLOCATIONS]++;
    *out = (address)aligned_alloc(512, (size + 511) / 512 * 512);
    return *out ? 0 : 2;
}
static result allocate_from_pool(address *out, size_t size, void *pool, void *stream) {
    counts[ALLOCATIONS]--;
    counts[OF_THE_POOL]++;
    return allocate(out, size);
}
static result release(address one) { free((void *)one); return 0; }
static result allocate_host(void **out, size_t size, unsigned flags) { *out = malloc(size); return *out ? 0 : 2; }
static result release_host(void *one) { free(one); return 0; }
static result pool_attribute(void *pool, int which, uint64_t *out) { *out = 0; return 0; }

static result to_device(void *to, const void *from, size_t size) {
    counts[TO_THE_DEVICE]++;
    memcpy(to, from, size);
    return 0;
}
static result to_host(void *to, const void *from, size_t size) {
    counts[TO_THE_HOST]++;
    memcpy(to, from, size);
    return 0;
}
static result copy(void *to, const void *from, size_t size) { memcpy(to, from, size); return 0; }
static result set_bytes(address to, unsigned char value, size_t size) { memset((void *)to, value, size); return 0; }

/* ---- streams, events, modules, kernels: a handle is a number ---- */

static result handle(void **out) {
    static intptr_t last = 4096;
    *out = (void *)(last += 16);
    return 0;
}
static result pool(void **out, int which) { static char one; *out = &one; return 0; }
static result function_attribute(int *out, int which, void *of) { *out = which ? 0 : 1024; return 0; }
static result kernel_attribute(int *out, int which, void *of, int on) { *out = which ? 0 : 1024; return 0; }
static result elapsed(float *out, void *from, void *to) { *out = 1; return 0; }
static result words(int error, const char **out) { *out = "an error of the driver that does nothing"; return 0; }

static const struct { const char *name; void *function; } table[] = {
    {"cuLaunchKernel", launch}, {"cuLaunchKernelEx", launch}, {"cuLaunchCooperativeKernel", launch},
    {"cuDriverGetVersion", version}, {"cuDeviceGetCount", device_count}, {"cuDeviceGet", device},
    {"cuDeviceGetName", name}, {"cuDeviceGetUuid", uuid}, {"cuDeviceTotalMem", bytes}, {"cuMemGetInfo", memory},
    {"cuDeviceGetAttribute", attribute}, {"cuCtxGetCurrent", get_current}, {"cuCtxSetCurrent", set_current},
    {"cuCtxPushCurrent", set_current}, {"cuCtxPopCurrent", pop}, {"cuDevicePrimaryCtxRetain", retain},
    {"cuCtxGetDevice", context_device}, {"cuCtxGetApiVersion", context_version}, {"cuStreamGetCtx", context_of},
    {"cuMemAlloc", allocate}, {"cuMemAllocFromPoolAsync", allocate_from_pool}, {"cuMemFree", release},
    {"cuMemFreeAsync", release}, {"cuMemHostAlloc", allocate_host}, {"cuMemFreeHost", release_host},
    {"cuDeviceGetMemPool", pool}, {"cuDeviceGetDefaultMemPool", pool}, {"cuMemPoolGetAttribute", pool_attribute},
    {"cuMemcpyHtoD", to_device}, {"cuMemcpyHtoDAsync", to_device}, {"cuMemcpyDtoH", to_host},
    {"cuMemcpyDtoHAsync", to_host}, {"cuMemcpyDtoD", copy}, {"cuMemcpyDtoDAsync", copy}, {"cuMemcpy", copy},
    {"cuMemsetD8", set_bytes}, {"cuMemsetD8Async", set_bytes}, {"cuPointerGetAttribute", fails},
    {"cuEventCreate", handle}, {"cuEventElapsedTime", elapsed}, {"cuStreamCreate", handle},
    {"cuLibraryLoadData", handle}, {"cuLibraryLoadFromFile", handle}, {"cuLibraryGetKernel", handle},
    {"cuLibraryGetModule", handle}, {"cuKernelGetFunction", handle}, {"cuModuleLoadDataEx", handle},
    {"cuModuleGetFunction", handle}, {"cuFuncGetAttribute", function_attribute},
    {"cuKernelGetAttribute", kernel_attribute}, {"cuGetErrorName", words}, {"cuGetErrorString", words},
};

result cuInit(unsigned flags) { return 0; }
result cuDriverGetVersion(int *out) { return version(out); }

result cuGetProcAddress_v2(const char *wanted, void **out, int which, uint64_t flags, int *status) {
    if (status) *status = 0;
    *out = strcmp(wanted, "cuGetProcAddress") ? (void *)nothing : (void *)cuGetProcAddress_v2;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (!strcmp(wanted, table[k].name)) *out = table[k].function;
    return 0;
}
result cuGetProcAddress(const char *wanted, void **out, int which, uint64_t flags) {
    return cuGetProcAddress_v2(wanted, out, which, flags, 0);
}
