// Columns of numbers as holter.reports.html.columns writes them: a progression, increasing whole numbers, or floats.

/** Bytes, in base64 or as the place where they begin behind a frame. */
type Bytes = string | number;

export interface Encoded {
  n: number;
  start?: number;
  by?: number;
  u8?: Bytes;
  u16?: Bytes;
  u32?: Bytes;
  f32?: Bytes;
  f64?: Bytes;
}

/** Numbers as a report carries them; decoded already, or by their position among a frame's, in the dashboard. */
export type Column = Encoded | Float64Array | number;

/** A number of the JSON contract: what JSON cannot hold is a word. */
export type Num = number | "NaN" | "Infinity" | "-Infinity";

export function num(value: Num): number {
  return Number(value);
}

export function decode(column: Column, behind?: ArrayBuffer): Float64Array {
  if (column instanceof Float64Array) return column;
  if (typeof column === "number") throw new TypeError("a column by its position is its frame's to decode");
  const { n, start = 0, by = 0 } = column;
  if (column.f64 !== undefined) return new Float64Array(bytes(column.f64, n * 8, behind));
  if (column.f32 !== undefined) return new Float64Array(new Float32Array(bytes(column.f32, n * 4, behind)));
  const out = new Float64Array(n);
  const steps = differences(column, behind);
  let value = start;
  for (let i = 0; i < n; i++) {
    out[i] = steps ? value : start + i * by;
    value += steps?.[i] ?? 0;
  }
  return out;
}

function differences(column: Encoded, behind?: ArrayBuffer): Uint8Array | Uint16Array | Uint32Array | null {
  const n = column.n - 1;
  if (column.u8 !== undefined) return new Uint8Array(bytes(column.u8, n, behind));
  if (column.u16 !== undefined) return new Uint16Array(bytes(column.u16, n * 2, behind));
  if (column.u32 !== undefined) return new Uint32Array(bytes(column.u32, n * 4, behind));
  return null;
}

function bytes(from: Bytes, length: number, behind = new ArrayBuffer(0)): ArrayBuffer {
  if (typeof from === "number") return behind.slice(from, from + length);
  const text = atob(from);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out.buffer;
}
