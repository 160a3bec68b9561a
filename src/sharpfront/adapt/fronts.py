"""Fronts found in a coarse solution by a Gaussian mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from sharpfront.arrays import Host
from sharpfront.mixture import fit
from sharpfront.pieces.embedding import Embedding, Front

ORIENT = 0.2
BACKGROUND = 4.0
LADDER = (4, 6, 9, 13, 19, 28, 42, 63)
WIDTH = 2.2
CLIMB = 0.4
REACH = 4.0
GAP = 0.5
GAP_SAME = 2.0
BENT = 0.1
FLOOR = 1.0
SHARE_MIN = 0.01


@dataclass(frozen=True, eq=False)
class Strands:
    """Components of a mixture as pieces of curved fronts."""

    weights: Host  # (K,)
    means: Host  # (K,d) on the front
    normals: Host  # (K,d)
    curvatures: Host  # (K,d,d)
    thin: Host  # (K,)
    long: Host  # (K,)
    bent: Host  # (K,)

    def chosen(self, mask):
        return Strands(*(getattr(self, n)[mask] for n in self.__dataclass_fields__))


def density(gradients, volumes):
    steep = np.linalg.norm(gradients, axis=1)
    order = np.argsort(steep)
    level = np.cumsum(volumes[order])
    base = steep[order[np.searchsorted(level, 0.5 * level[-1])]]
    return np.maximum(steep - BACKGROUND * base, 0.0) * volumes


def strands(points, gradients, weights, mixture, spacing):
    """Regress the normal offset on tangential ones for every component."""
    d = points.shape[1]
    unit = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    scale = mixture_scale(mixture, d)
    q = mixture.responsibilities(np.hstack([points, unit * scale[1]]))
    out = []
    for k in range(mixture.components):
        w = q[:, k] * weights
        keep = w > 1e-8 * w.max() if w.max() > 0 else np.zeros(len(w), bool)
        if keep.sum() < 5 * (1 + d + d * d):
            out.append(None)
            continue
        x, w = points[keep], w[keep]
        mass = w.sum()
        w = w / mass
        mu = w @ x
        n = w @ unit[keep]
        n /= np.linalg.norm(n)
        t_axes = np.linalg.svd(n[None])[2][1:]  # (d-1,d)
        pairs = [(i, j) for i in range(d - 1) for j in range(i, d - 1)]
        H = 0.0
        for _ in range(5):
            t = (x - mu) @ t_axes.T
            xi = (x - mu) @ n
            y = xi + 0.5 * H * xi**2
            A = np.column_stack([np.ones(len(x)), t, *(t[:, i] * t[:, j] for i, j in pairs)])
            root = np.sqrt(w)[:, None]
            coef = np.linalg.lstsq(A * root, y * root[:, 0], rcond=1e-10)[0]
            res = y - A @ coef
            last = (mu, n, t_axes, H, coef)
            mu = mu + coef[0] * n
            n = n - coef[1:d] @ t_axes
            n /= np.linalg.norm(n)
            t_axes = np.linalg.svd(n[None])[2][1:]
            H = -2 * sum(c for (i, j), c in zip(pairs, coef[d:]) if i == j) / (d - 1)
        mu, n, t_axes, H, coef = last
        mu = mu + coef[0] * n
        Q = H * np.outer(n, n)
        for (i, j), c in zip(pairs, coef[d:]):
            Q -= c * (np.outer(t_axes[i], t_axes[j]) + np.outer(t_axes[j], t_axes[i]))
        xi = y
        thin2 = w @ res**2
        more = np.column_stack(
            [A, *(t[:, i] ** 3 for i in range(d - 1)), *(t[:, i] ** 4 for i in range(d - 1))]
        )
        more = more * root
        rest = xi * root[:, 0] - more @ np.linalg.lstsq(more, xi * root[:, 0], rcond=1e-10)[0]
        bent = thin2 / (rest @ rest) - 1
        blur = w @ spacing[keep] ** 2 / 4
        thin = np.sqrt(max(thin2 - blur, thin2 / 4))
        long = np.sqrt((w @ (t - w @ t) ** 2).max())
        out.append((mass, mu, n, Q, thin, long, bent))
    kept = [k for k, o in enumerate(out) if o is not None]
    return Strands(*(np.array(a) for a in zip(*(out[k] for k in kept)))), q[:, kept]


def mixture_scale(mixture, d):
    return SCALE


SCALE = [1.0, 1.0]


def links(s, x, w, q):
    """Which strands continue each other: their levels and normals agree where they overlap."""
    K = len(s.thin)
    off = x[:, None] - s.means
    psi = np.einsum("mkb,kb->mk", off, s.normals) + 0.5 * np.einsum(
        "mka,kab,mkb->mk", off, s.curvatures, off
    )
    g = s.normals + np.einsum("kab,mkb->mka", s.curvatures, off)
    g /= np.linalg.norm(g, axis=2, keepdims=True)
    over = np.einsum("m,mi,mj->ij", w, q, q)
    safe = np.maximum(over, 1e-300)
    cos = np.einsum("m,mi,mj,mia,mja->ij", w, q, q, g, g, optimize=True) / safe
    wq = w[:, None] * q
    sq = (wq * psi**2).T @ q
    cross = (wq * psi).T @ (q * psi)
    gap = (sq + sq.T - 2 * np.sign(cos) * cross) / safe
    mass = np.minimum(s.weights[:, None], s.weights[None])
    thin = 0.5 * (s.thin[:, None] + s.thin[None])
    limit = np.where(cos > 0, GAP_SAME, GAP)
    ok = (over > 1e-3 * mass) & (gap < (limit * thin) ** 2) & (np.abs(cos) > 0.9)
    return ok, cos


def groups(s, ok, cos):
    """Label components by front and give each a sign."""
    count, label = connected_components(ok, directed=False)
    sign = np.ones(len(label))
    for g in range(count):
        own = np.flatnonzero(label == g)
        order, before = breadth_first_order(
            ok[np.ix_(own, own)].astype(int), int(np.argmax(s.weights[own])), directed=False
        )
        for i in order[1:]:
            a, b = own[before[i]], own[i]
            c = cos[a, b] if abs(cos[a, b]) > abs(cos[b, a]) else cos[b, a]
            sign[b] = sign[a] * np.sign(c)
    return label, sign


def find(points, gradients, volumes, bounds, seed=0, ladder=LADDER, verbose=False):
    d = points.shape[1]
    size = float(np.prod(bounds[1] - bounds[0]) ** (1 / d))
    w = density(gradients, volumes)
    use = w > 1e-3 * w.max()
    if w.max() <= 0:
        return None
    x, g, w = points[use], gradients[use], w[use]
    spacing = volumes[use] ** (1 / d)
    unit = g / np.linalg.norm(g, axis=1, keepdims=True)
    global SCALE
    SCALE = [1.0, ORIENT * size]
    feats = np.hstack([x, unit * SCALE[1]])
    tried = []
    for K in ladder:
        if len(x) < K * 20:
            break
        mix, rec = fit(
            feats,
            w,
            K,
            floor=FLOOR * float(np.median(spacing)),
            seed=seed,
            max_iterations=60,
            tolerance=1e-5,
        )
        s, q = strands(x, g, w, mix, spacing)
        link, cos = links(s, x, w, q)
        ref = weighted_median(s.thin, s.weights)
        bad = (s.bent > BENT) | (s.thin > 3 * ref) | (s.thin > 0.5 * s.long)
        failing = float(s.weights[bad].sum() / s.weights.sum())
        tried.append((failing, K, s, bad, link, cos, q))
        if verbose:
            print(
                "  K",
                K,
                "thin %.2e" % ref,
                "bent %.2f" % np.median(s.bent),
                "failing %.3f" % failing,
                "its",
                rec.iterations,
                "n",
                len(x),
            )
        if failing < 0.05:
            break
        if len(tried) > 3 and min(t[0] for t in tried[-3:]) >= min(t[0] for t in tried[:-3]):
            break
    least = min(t[0] for t in tried)
    failing, K, s, bad, link, cos, q = next(t for t in tried if t[0] <= least + 0.05)
    good = (s.weights > 0.1 * s.weights.sum() / K) & ~bad
    if verbose:
        print("  dropped", (~good).sum(), "of", K)
    if not good.any():
        return None
    s = s.chosen(good); q = q[:, good]
    label, sign = groups(s, link[np.ix_(good, good)], cos[np.ix_(good, good)])
    fronts = []
    for g_ in np.unique(label):
        own = label == g_
        part = s.chosen(own)
        share = part.weights.sum() / s.weights.sum()
        if verbose:
            print(
                "  front",
                g_,
                "components",
                own.sum(),
                "share %.3f" % share,
                "thin %.2e" % np.median(part.thin),
                "long %.2e" % np.median(part.long),
            )
        if share < SHARE_MIN:
            continue
        fronts.append(front_of(part, sign[own], size, x, unit, w[:, None] * q[:, own], spacing))
    return Embedding(tuple(fronts)) if fronts else None


GRAD = 4.0
RIDGE = 1e-2
REFIT = True


BLUR = 0.25


def front_of(s, sign, size, x, unit, mass, spacing):
    K, d = s.means.shape
    length = np.full(K, REACH * np.average(s.long, weights=s.weights))
    thin = np.average(s.thin, weights=s.weights)
    normals, curv = sign[:, None] * s.normals, sign[:, None, None] * s.curvatures
    a = np.zeros(K)
    plain = Front(s.means, a, normals, curv, length, s.weights / s.weights.sum(), np.full(K, CLIMB * size))
    if REFIT:
        w = mass.sum(1); keep = w > 1e-4 * w.max()
        target = unit[keep] * np.sign((mass[keep] @ sign))[:, None]
        a, normals, curv = refit(plain, x[keep], target, w[keep] / w.sum(), thin)
    new = Front(s.means, a, normals, curv, length, plain.shares, plain.amplitudes)
    off = x[keep][:, None] - s.means
    r = new._shares(off)[0] * w[keep][:, None]
    psi = new.level(x[keep])
    thin = np.sqrt(np.maximum((r * (psi**2 - BLUR * spacing[keep]**2)[:, None]).sum(0), (r * psi[:, None]**2).sum(0) / 4) / r.sum(0))
    W = WIDTH * thin
    return Front(s.means, a / W, normals / W[:, None], curv / W[:, None, None],
                 length, s.weights / s.weights.sum(), np.full(K, CLIMB * size))


def refit(front, x, normal, w, thin):
    """Least squares for all quadrics together: the level vanishes and climbs along the normals."""
    K, d = front.means.shape
    off = x[:, None] - front.means
    r, pull, _ = front._shares(off)
    l = front.lengths[0]
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    # basis functions per component in units of l: 1, d_i, d_i d_j
    f = [np.ones(off.shape[:2])] + [off[..., i] / l for i in range(d)] + [off[..., i] * off[..., j] / l**2 for i, j in pairs]
    f = np.stack(f, -1)                                  # m K B
    df = np.zeros((*f.shape, d))
    for i in range(d):
        df[..., 1 + i, i] = 1 / l
    for b, (i, j) in enumerate(pairs):
        df[..., 1 + d + b, i] += off[..., j] / l**2
        df[..., 1 + d + b, j] += off[..., i] / l**2
    mean = (r[..., None] * pull).sum(1)                   # m d
    phi = r[..., None] * f                                # m K B
    dphi = r[..., None, None] * (df + f[..., None] * (pull - mean[:, None])[:, :, None, :])
    m = len(x); B = f.shape[2]
    root = np.sqrt(w)
    g = thin * np.sqrt(GRAD)
    rows = [phi.reshape(m, -1) * root[:, None]] + [g * dphi[..., i].reshape(m, -1) * root[:, None] for i in range(d)]
    rhs = [np.zeros(m)] + [g * normal[:, i] * root for i in range(d)]
    A = np.vstack(rows); y = np.concatenate(rhs)
    start = np.concatenate([front.offsets[:, None], front.slopes * l,
        np.stack([front.curvatures[:, i, j] * l**2 * (0.5 if i == j else 1.0) for i, j in pairs], -1)], 1).ravel()
    scale = np.linalg.norm(A, axis=0).max()
    A = np.vstack([A, RIDGE * scale * np.eye(K * B)])
    y = np.concatenate([y - A[: len(y)] @ start, np.zeros(K * B)])
    c = (start + np.linalg.lstsq(A, y, rcond=1e-12)[0]).reshape(K, B)
    Q = np.zeros((K, d, d))
    for b, (i, j) in enumerate(pairs):
        Q[:, i, j] += c[:, 1 + d + b] / l**2
        Q[:, j, i] += c[:, 1 + d + b] / l**2
    return c[:, 0], c[:, 1 : 1 + d] / l, Q


def weighted_median(v, w):
    o = np.argsort(v)
    c = np.cumsum(w[o])
    return float(v[o[np.searchsorted(c, 0.5 * c[-1])]])
