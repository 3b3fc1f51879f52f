/* Log likelihood of roll-outs of the free double pendulum: what the arithmetic costs on one core.

   Equations and names are those of pdsim/systems/double_pendulum.py. Blocks of particles of one
   window go through all steps, so that a state stays in the first cache; within a block the loop
   over particles is innermost and vectorised. A gradient keeps the state before each step and
   computes the rest again on its way back; blocks are smaller, so that the second cache holds
   them. LIBRARY takes sines from the C library's vector
   functions, which need -ffast-math; else they are the polynomials of pdsim/numerics/sincos.py. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define BLOCK 128
#define SLOPES 64
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

/* Equations of motion: M (a, b)'' = right, and what is in them. */
typedef struct { double sa, ca, sw, cw, sb, cb, C, D, vb, right_1, right_2, determinant; } Motion;

INLINE Motion motion(State x, Coefficients k)
{
    Motion m;
    sine_cosine(x.a, &m.sa, &m.ca);
    sine_cosine(x.w, &m.sw, &m.cw);
    m.sb = m.sa * m.cw + m.ca * m.sw, m.cb = m.ca * m.cw - m.sa * m.sw;
    m.C = k.Cy * m.cw - k.Cx * m.sw, m.D = k.Cy * m.sw + k.Cx * m.cw;
    m.vb = x.va + x.vw;
    double viscous = k.f2 * x.vw;
    m.right_1 = m.D * m.vb * m.vb - (k.G1y * m.sa + k.G1x * m.ca) - k.f1 * x.va + viscous;
    m.right_2 = -m.D * x.va * x.va - (k.G2y * m.sb + k.G2x * m.cb) - viscous;
    m.determinant = k.J1 * k.J2 - m.C * m.C;
    return m;
}

INLINE void accelerations(State x, Coefficients k, double *acceleration_a, double *acceleration_w)
{
    Motion m = motion(x, k);
    double a = (k.J2 * m.right_1 - m.C * m.right_2) / m.determinant;
    double b = (k.J1 * m.right_2 - m.C * m.right_1) / m.determinant;
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

/* Squared residuals of a frame. */
INLINE double missed(State s, const double *target, const double *inverse)
{
    double e0 = inverse[0] * (s.a - target[0]), e1 = inverse[1] * (s.w - target[1]);
    double e2 = inverse[2] * (s.va - target[2]), e3 = inverse[3] * (s.vw - target[3]);
    return e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3;
}

/* Of particle i, in place: through a function, forward took a tenth longer. */
#define COLUMN                                                                                   \
    {k[i],              k[stride + i],     k[2 * stride + i], k[3 * stride + i],                 \
     k[4 * stride + i], k[5 * stride + i], k[6 * stride + i], k[7 * stride + i],                 \
     k[8 * stride + i], k[9 * stride + i]}

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
                Coefficients c = COLUMN;                                                         \
                State s = {x[0][i], x[1][i], x[2][i], x[3][i]};                                  \
                s = step(s, c, dt);                                                              \
                x[0][i] = s.a, x[1][i] = s.w, x[2][i] = s.va, x[3][i] = s.vw;                    \
                total[i] += missed(s, target, inverse);                                          \
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

/* Transpose of the accelerations' derivative: pdsim.systems.pendulum_motion._accelerations_adjoint.
   Adds to the cotangents of the state and of the coefficients. */
INLINE void pull(State x, Coefficients k, double bar_a, double mu_b, State *bar, Coefficients *slope)
{
    Motion m = motion(x, k);
    double scale = 1 / m.determinant;
    double a = (k.J2 * m.right_1 - m.C * m.right_2) * scale;
    double b = (k.J1 * m.right_2 - m.C * m.right_1) * scale;
    double mu_a = bar_a - mu_b;
    double nu_1 = (k.J2 * mu_a - m.C * mu_b) * scale, nu_2 = (k.J1 * mu_b - m.C * mu_a) * scale;
    double bar_C = -(nu_1 * b + nu_2 * a), bar_D = nu_1 * m.vb * m.vb - nu_2 * x.va * x.va;
    double gravity_2 = nu_2 * (k.G2y * m.cb - k.G2x * m.sb), relative = nu_1 - nu_2;
    double centrifugal = 2 * m.D * m.vb * nu_1;
    bar->a += -nu_1 * (k.G1y * m.ca - k.G1x * m.sa) - gravity_2;
    bar->w += -gravity_2 - bar_C * m.D + bar_D * m.C;
    bar->va += centrifugal - nu_1 * k.f1 - 2 * m.D * x.va * nu_2;
    bar->vw += centrifugal + relative * k.f2;
    slope->J1 -= nu_1 * a;
    slope->J2 -= nu_2 * b;
    slope->Cy += bar_C * m.cw + bar_D * m.sw;
    slope->Cx += bar_D * m.cw - bar_C * m.sw;
    slope->G1y -= nu_1 * m.sa;
    slope->G1x -= nu_1 * m.ca;
    slope->G2y -= nu_2 * m.sb;
    slope->G2x -= nu_2 * m.cb;
    slope->f1 -= nu_1 * x.va;
    slope->f2 += relative * x.vw;
}

INLINE State euler_back(State x, Coefficients k, double dt, State bar, Coefficients *slope)
{
    bar.va += dt * bar.a;
    bar.vw += dt * bar.w;
    pull(x, k, dt * bar.va, dt * bar.vw, &bar, slope);
    return bar;
}

INLINE State rates_back(State x, Coefficients k, State bar, Coefficients *slope)
{
    State from = {0, 0, bar.a, bar.w};
    pull(x, k, bar.va, bar.vw, &from, slope);
    return from;
}

INLINE State scaled(State x, double by)
{
    return (State){by * x.a, by * x.w, by * x.va, by * x.vw};
}

INLINE State rk4_back(State x, Coefficients k, double dt, State bar, Coefficients *slope)
{
    State x2 = along(x, rates(x, k), 0.5 * dt);
    State x3 = along(x, rates(x2, k), 0.5 * dt);
    State x4 = along(x, rates(x3, k), dt);
    State b4 = rates_back(x4, k, scaled(bar, dt / 6), slope);
    State b3 = rates_back(x3, k, along(scaled(bar, dt / 3), b4, dt), slope);
    State b2 = rates_back(x2, k, along(scaled(bar, dt / 3), b3, 0.5 * dt), slope);
    State b1 = rates_back(x, k, along(scaled(bar, dt / 6), b2, 0.5 * dt), slope);
    return along(along(along(along(bar, b1, 1), b2, 1), b3, 1), b4, 1);
}

/* One block of one window, its squared error and the slopes of that. */
#define SLOPE(name, step, back)                                                                  \
    static void name(size_t count, size_t stride, size_t frames, double dt,                      \
                     const double *restrict start, const double *restrict k,                     \
                     const double *restrict target, const double *restrict inverse,              \
                     double *restrict kept, double *restrict error,                              \
                     double *restrict bar_start, double *restrict bar_k)                         \
    {                                                                                            \
        double x[4][SLOPES], total[SLOPES], bar[4][SLOPES], slope[10][SLOPES];                   \
        for (size_t i = 0; i < count; i++) {                                                     \
            for (int j = 0; j < 4; j++)                                                          \
                x[j][i] = start[j * stride + i], bar[j][i] = 0;                                  \
            for (int j = 0; j < 10; j++)                                                         \
                slope[j][i] = 0;                                                                 \
            total[i] = 0;                                                                        \
        }                                                                                        \
        for (size_t t = 0; t < frames; t++) {                                                    \
            const double *o = target + 4 * t, *v = inverse + 4 * t;                              \
            double *at = kept + 4 * SLOPES * t;                                                  \
            _Pragma("GCC ivdep") for (size_t i = 0; i < count; i++)                              \
            {                                                                                    \
                Coefficients c = COLUMN;                                                         \
                State s = {x[0][i], x[1][i], x[2][i], x[3][i]};                                  \
                at[i] = s.a, at[SLOPES + i] = s.w;                                               \
                at[2 * SLOPES + i] = s.va, at[3 * SLOPES + i] = s.vw;                            \
                s = step(s, c, dt);                                                              \
                x[0][i] = s.a, x[1][i] = s.w, x[2][i] = s.va, x[3][i] = s.vw;                    \
                total[i] += missed(s, o, v);                                                     \
            }                                                                                    \
        }                                                                                        \
        for (size_t t = frames; t-- > 0;) {                                                      \
            const double *o = target + 4 * t, *v = inverse + 4 * t;                              \
            const double *at = kept + 4 * SLOPES * t;                                            \
            _Pragma("GCC ivdep") for (size_t i = 0; i < count; i++)                              \
            {                                                                                    \
                Coefficients c = COLUMN;                                                         \
                Coefficients g = {slope[0][i], slope[1][i], slope[2][i], slope[3][i],            \
                                  slope[4][i], slope[5][i], slope[6][i], slope[7][i],            \
                                  slope[8][i], slope[9][i]};                                     \
                State end = {x[0][i], x[1][i], x[2][i], x[3][i]};                                \
                State y = {bar[0][i] + 2 * v[0] * v[0] * (end.a - o[0]),                         \
                           bar[1][i] + 2 * v[1] * v[1] * (end.w - o[1]),                         \
                           bar[2][i] + 2 * v[2] * v[2] * (end.va - o[2]),                        \
                           bar[3][i] + 2 * v[3] * v[3] * (end.vw - o[3])};                       \
                State s = {at[i], at[SLOPES + i], at[2 * SLOPES + i], at[3 * SLOPES + i]};       \
                y = back(s, c, dt, y, &g);                                                       \
                x[0][i] = s.a, x[1][i] = s.w, x[2][i] = s.va, x[3][i] = s.vw;                    \
                bar[0][i] = y.a, bar[1][i] = y.w, bar[2][i] = y.va, bar[3][i] = y.vw;            \
                slope[0][i] = g.J1, slope[1][i] = g.J2, slope[2][i] = g.Cy, slope[3][i] = g.Cx;  \
                slope[4][i] = g.G1y, slope[5][i] = g.G1x, slope[6][i] = g.G2y;                   \
                slope[7][i] = g.G2x, slope[8][i] = g.f1, slope[9][i] = g.f2;                     \
            }                                                                                    \
        }                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                     \
            error[i] = total[i];                                                                 \
            for (int j = 0; j < 4; j++)                                                          \
                bar_start[j * stride + i] = bar[j][i];                                           \
            for (int j = 0; j < 10; j++)                                                         \
                bar_k[j * stride + i] = slope[j][i];                                             \
        }                                                                                        \
    }

SLOPE(slope_euler, euler, euler_back)
SLOPE(slope_rk4, rk4, rk4_back)

/* The same with its slopes, shaped as start and k. */
void slopes(int runge_kutta, size_t particles, size_t windows, size_t frames, double dt,
            const double *start, const double *k, const double *target, const double *inverse,
            double *error, double *bar_start, double *bar_k)
{
    size_t stride = windows * particles;
    double *kept = malloc(4 * SLOPES * frames * sizeof(double));
    for (size_t w = 0; w < windows; w++)
        for (size_t first = 0; first < particles; first += SLOPES) {
            size_t at = w * particles + first, left = particles - first;
            size_t count = left < SLOPES ? left : SLOPES;
            (runge_kutta ? slope_rk4 : slope_euler)(
                count, stride, frames, dt, start + at, k + at, target + 4 * frames * w,
                inverse + 4 * frames * w, kept, error + at, bar_start + at, bar_k + at);
        }
    free(kept);
}
