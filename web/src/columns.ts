// Columns of numbers as holter.reports.html.columns writes them: a progression, increasing whole numbers, or floats.

export interface Column {
  n: number;
  start?: number;
  by?: number;
  u8?: string;
  u16?: string;
  u32?: string;
  f32?: string;
  f64?: string;
}

/** A number of the JSON contract: what JSON cannot hold is a word. */
export type Num = number | "NaN" | "Infinity" | "-Infinity";

export function num(value: Num): number {
  return Number(value);
}

export function decode(column: Column): Float64Array {
  const { n, start = 0, by = 0 } = column;
  if (column.f64 !== undefined) return new Float64Array(bytes(column.f64));
  if (column.f32 !== undefined) return Float64Array.from(new Float32Array(bytes(column.f32)));
  const out = new Float64Array(n);
  const steps = differences(column);
  let value = start;
  for (let i = 0; i < n; i++) {
    out[i] = steps ? value : start + i * by;
    value += steps?.[i] ?? 0;
  }
  return out;
}

function differences(column: Column): Uint8Array | Uint16Array | Uint32Array | null {
  if (column.u8 !== undefined) return new Uint8Array(bytes(column.u8));
  if (column.u16 !== undefined) return new Uint16Array(bytes(column.u16));
  if (column.u32 !== undefined) return new Uint32Array(bytes(column.u32));
  return null;
}

function bytes(base64: string): ArrayBuffer {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out.buffer;
}
