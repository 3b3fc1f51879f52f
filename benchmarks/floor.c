/* Log likelihood of roll-outs of the free double pendulum: what the arithmetic costs on one core.

   Equations and names are those of pdsim/systems/double_pendulum.py. Blocks of particles of one
   window go through all steps, so that a state stays in the first cache; within a block the loop
   over particles is innermost and vectorised. LIBRARY takes sines from the C library's vector
   functions, which need -ffast-math; else they are the polynomials of pdsim/numerics/sincos.py. */

#include <math.h>
#include <stddef.h>

#define BLOCK 128
#define INLINE static inline __attribute__((always_inline))

typedef struct { double a, w, va, vw; } State;
typedef struct { double J1, J2, Cy, Cx, G1y, G1x, G2y, G2x, f1, f2; } Coefficients;

#ifdef LIBRARY
/* Under names of their own: gcc would join sin and cos of one angle, and has no vector of the pair. */
__attribute__((simd("notinbranch"), const)) double vector_sine(double) __asm__("sin");
__attribute__((simd("notinbranch"), const)) double vector_cosine(double) __asm__("cos");

INLINE void sine_cosine(double angle, double *sine, double *cosine)
{
    *sine = vector_sine(angle);
    *cosine = vector_cosine(angle);
}
#else
INLINE void sine_cosine(double angle, double *sine, double *cosine)
{
    double turns = rint(angle * 0.63661977236758134308);
    double r = angle - turns * 1.57079632673412561417e+00;
    r = r - turns * 6.07710050630396597660e-11;
    r = r - turns * 2.02226624879595063154e-21;
    double z = r * r;
    double s = 1.58962301576546568060e-10;
    s = s * z - 2.50507477628578072866e-8;
    s = s * z + 2.75573136213857245213e-6;
    s = s * z - 1.98412698295895385996e-4;
    s = s * z + 8.33333333332211858878e-3;
    s = s * z - 1.66666666666666307295e-1;
    double c = -1.13585365213876817300e-11;
    c = c * z + 2.08757008419747316778e-9;
    c = c * z - 2.75573141792967388112e-7;
    c = c * z + 2.48015872888517045348e-5;
    c = c * z - 1.38888888888730564116e-3;
    c = c * z + 4.16666666666665929218e-2;
    s = r + r * z * s;
    c = 1 - 0.5 * z + z * z * c;
    double quadrant = turns - 4 * floor(0.25 * turns);
    int swap = (quadrant == 1) | (quadrant == 3);
    double first = swap ? c : s, second = swap ? s : c;
    *sine = quadrant >= 2 ? -first : first;
    *cosine = (quadrant == 1) | (quadrant == 2) ? -second : second;
}
#endif

INLINE void accelerations(State x, Coefficients k, double *acceleration_a, double *acceleration_w)
{
    double sa, ca, sw, cw;
    sine_cosine(x.a, &sa, &ca);
    sine_cosine(x.w, &sw, &cw);
    double sb = sa * cw + ca * sw, cb = ca * cw - sa * sw;
    double C = k.Cy * cw - k.Cx * sw, D = k.Cy * sw + k.Cx * cw;
    double vb = x.va + x.vw, viscous = k.f2 * x.vw;
    double right_1 = D * vb * vb - (k.G1y * sa + k.G1x * ca) - k.f1 * x.va + viscous;
    double right_2 = -D * x.va * x.va - (k.G2y * sb + k.G2x * cb) - viscous;
    double determinant = k.J1 * k.J2 - C * C;
    double a = (k.J2 * right_1 - C * right_2) / determinant;
    double b = (k.J1 * right_2 - C * right_1) / determinant;
    *acceleration_a = a;
    *acceleration_w = b - a;
}

INLINE State euler(State x, Coefficients k, double dt)
{
    double a, w;
    accelerations(x, k, &a, &w);
    x.va += dt * a;
    x.vw += dt * w;
    x.a += dt * x.va;
    x.w += dt * x.vw;
    return x;
}

INLINE State along(State x, State rate, double dt)
{
    return (State){x.a + dt * rate.a, x.w + dt * rate.w, x.va + dt * rate.va, x.vw + dt * rate.vw};
}

INLINE State rates(State x, Coefficients k)
{
    State rate = {x.va, x.vw, 0, 0};
    accelerations(x, k, &rate.va, &rate.vw);
    return rate;
}

INLINE State rk4(State x, Coefficients k, double dt)
{
    State k1 = rates(x, k);
    State k2 = rates(along(x, k1, 0.5 * dt), k);
    State k3 = rates(along(x, k2, 0.5 * dt), k);
    State k4 = rates(along(x, k3, dt), k);
    State mean = along(k1, k4, 1);
    mean = along(along(mean, k2, 2), k3, 2);
    return along(x, mean, dt / 6);
}

/* One block of one window. Arrays of one number per particle are `stride` apart. */
#define ROLL_OUT(name, step)                                                                     \
    static void name(size_t count, size_t stride, size_t frames, double dt,                      \
                     const double *restrict start, const double *restrict k,                     \
                     const double *restrict target, const double *restrict inverse,              \
                     double *restrict error)                                                     \
    {                                                                                            \
        double x[4][BLOCK], total[BLOCK];                                                        \
        for (size_t i = 0; i < count; i++) {                                                     \
            for (int j = 0; j < 4; j++)                                                          \
                x[j][i] = start[j * stride + i];                                                 \
            total[i] = 0;                                                                        \
        }                                                                                        \
        for (size_t t = 0; t < frames; t++, target += 4, inverse += 4) {                         \
            _Pragma("GCC ivdep") for (size_t i = 0; i < count; i++)                              \
            {                                                                                    \
                Coefficients c = {k[i],              k[stride + i],     k[2 * stride + i],       \
                                  k[3 * stride + i], k[4 * stride + i], k[5 * stride + i],       \
                                  k[6 * stride + i], k[7 * stride + i], k[8 * stride + i],       \
                                  k[9 * stride + i]};                                            \
                State s = {x[0][i], x[1][i], x[2][i], x[3][i]};                                  \
                s = step(s, c, dt);                                                              \
                x[0][i] = s.a, x[1][i] = s.w, x[2][i] = s.va, x[3][i] = s.vw;                    \
                double e0 = inverse[0] * (s.a - target[0]), e1 = inverse[1] * (s.w - target[1]); \
                double e2 = inverse[2] * (s.va - target[2]), e3 = inverse[3] * (s.vw - target[3]); \
                total[i] += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3;                               \
            }                                                                                    \
        }                                                                                        \
        for (size_t i = 0; i < count; i++)                                                       \
            error[i] = total[i];                                                                 \
    }

ROLL_OUT(block_euler, euler)
ROLL_OUT(block_rk4, rk4)

/* Squared error of every particle and window.

   start: (4, window, particle); k: (10, window, particle); target, inverse: (window, frame, 4);
   error: (window, particle). */
void squared_error(int runge_kutta, size_t particles, size_t windows, size_t frames, double dt,
                   const double *start, const double *k, const double *target,
                   const double *inverse, double *error)
{
    size_t stride = windows * particles;
    for (size_t window = 0; window < windows; window++)
        for (size_t first = 0; first < particles; first += BLOCK) {
            size_t at = window * particles + first, seen = window * frames * 4;
            size_t left = particles - first, count = left < BLOCK ? left : BLOCK;
            (runge_kutta ? block_rk4 : block_euler)(count, stride, frames, dt, start + at, k + at,
                                                    target + seen, inverse + seen, error + at);
        }
}
