// Reward against the square root of the KL, with the held-out score below: the picture of over-optimisation.

import type { Curve } from "./curve";
import { curve, nearest } from "./curve";
import { h, svg } from "./dom";
import { ticks, value } from "./format";
import type { Payload, Run } from "./payload";
import { smoothed } from "./smooth";
import { t } from "./text";
import type { Tone } from "./tones";
import { paint, runTone, tone } from "./tones";

const HELD_OUT = ["eval_score", "eval_reward", "eval_accuracy", "eval_preference_accuracy", "eval_alignment"];
const SIZE = { width: 460, height: 176, left: 56, right: 12, top: 10, bottom: 34 };
/** Dots of one picture, and those that each run has however many there are. */
const MOST = 600;
const LEAST = 40;

interface Points {
  look: Tone;
  xs: number[];
  ys: number[];
}

/** The picture over some runs; null where a run has no KL or no reward. */
export function frontier(payload: Payload, shown: number[]): HTMLElement | null {
  const rewards: Points[] = [];
  const heldOut: Points[] = [];
  let names: [string, string, string] = ["", "", ""];
  const several = payload.runs.length > 1;
  const most = Math.max(LEAST, MOST / shown.length);
  for (const at of shown) {
    const run = payload.runs[at];
    const kl = run && find(run, at, ["ref_kl"], "train");
    const reward = run && find(run, at, ["reward"], "train");
    if (!kl || !reward || kl.xs.length < 8) continue;
    rewards.push(points(kl, reward, several ? runTone(payload, at) : tone(0), most));
    const score = HELD_OUT.map((c) => find(run, at, [c], "eval")).find((c) => c !== null);
    if (score) heldOut.push(points(kl, score, several ? runTone(payload, at) : tone(1), most));
    names = [kl.metric, reward.metric, score?.metric ?? names[2]];
  }
  if (!rewards.length) return null;
  const far = Math.max(...[...rewards, ...heldOut].flatMap((p) => p.xs));
  return h(
    "section",
    { class: "frontier" },
    h("h2", {}, t("Reward against √KL")),
    h(
      "p",
      { class: "hint" },
      t(
        "The policy pays for reward with distance from the reference. Where the reward still rises and the held-out score falls, it is over-optimised. Later steps are darker.",
      ),
    ),
    h(
      "div",
      { class: "frontier-charts" },
      picture(names[1], rewards, far, names[0]),
      heldOut.length
        ? picture(t("{metric}, held out", { metric: names[2] }), heldOut, far, names[0])
        : h(
            "p",
            { class: "nothing" },
            t("No held-out score in this log: over-optimisation cannot be seen or excluded here."),
          ),
    ),
  );
}

function find(run: Run, at: number, concepts: string[], split: "train" | "eval"): Curve | null {
  const series = run.series.find(
    (s) => concepts.includes(s.concept) && s.split === split && s.facts.n - s.facts.nan - s.facts.infinite >= 2,
  );
  return series ? curve(run, at, series, tone(0)) : null;
}

/** The values of one curve over the root of the KL at its steps. */
function points(kl: Curve, y: Curve, look: Tone, most: number): Points {
  // A running median of the KL, so that the noise of one batch does not fold the picture.
  const through = kl.middle ?? kl;
  const level = { ...kl, ...through, ys: smoothed(through.ys, "strong") ?? through.ys };
  const xs: number[] = [];
  const ys: number[] = [];
  const drawn = y.middle ?? y;
  const every = Math.max(1, Math.ceil(drawn.ys.length / most));
  for (let i = 0; i < drawn.ys.length; i += every) {
    const x = level.ys[nearest(level, drawn.xs[i] ?? NaN)] ?? NaN;
    const v = drawn.ys[i] ?? NaN;
    if (Number.isFinite(x) && Number.isFinite(v)) {
      xs.push(Math.sqrt(Math.max(x, 0)));
      ys.push(v);
    }
  }
  return { look, xs, ys };
}

function picture(name: string, drawn: Points[], most: number, kl: string): HTMLElement {
  const all = drawn.flatMap((p) => p.ys);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 0.5;
  const x = (v: number): number => SIZE.left + (v / (most || 1)) * (SIZE.width - SIZE.left - SIZE.right);
  const y = (v: number): number =>
    SIZE.top + (1 - (v - low + pad) / (high - low + 2 * pad)) * (SIZE.height - SIZE.top - SIZE.bottom);
  const root = svg("svg", {
    viewBox: `0 0 ${SIZE.width} ${SIZE.height}`,
    role: "img",
    "aria-label": t("{metric} from {low} to {high} over √{kl} up to {most}", {
      metric: name,
      low: value(low),
      high: value(high),
      kl,
      most: value(most),
    }),
  });
  for (const v of round(low, high))
    root.append(
      svg("line", { class: "grid", x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: y(v), y2: y(v) }),
      svg("text", { class: "tick end", x: SIZE.left - 6, y: y(v) + 3.5 }, ticks([v])[0]),
    );
  for (const v of round(0, most))
    root.append(svg("text", { class: "tick middle", x: x(v), y: SIZE.height - SIZE.bottom + 14 }, ticks([v])[0]));
  root.append(svg("text", { class: "tick middle", x: (SIZE.left + SIZE.width) / 2, y: SIZE.height - 4 }, `√ ${kl}`));
  for (const p of drawn) {
    const way = svg("polyline", {
      class: "way",
      points: p.xs.map((v, i) => `${x(v).toFixed(1)},${y(p.ys[i] ?? 0).toFixed(1)}`).join(" "),
    });
    paint(way, p.look);
    root.append(way);
    for (let i = 0; i < p.xs.length; i++) {
      const dot = svg("circle", {
        class: "dot",
        "data-colour": p.look.colour.slice(2),
        cx: x(p.xs[i] ?? 0),
        cy: y(p.ys[i] ?? 0),
        r: p.xs.length > 60 ? 2 : 3,
      });
      dot.style.opacity = String(0.18 + (0.75 * i) / p.xs.length);
      root.append(dot);
    }
  }
  return h("figure", {}, h("figcaption", {}, h("code", {}, name)), root);
}

/** A few round numbers between two. */
function round(low: number, high: number): number[] {
  const raw = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const by = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let v = Math.ceil(low / by) * by; v <= high + by * 1e-9; v += by) out.push(Number(v.toPrecision(12)));
  return out;
}
