// What the dashboard's server sends in pieces: JSON with bytes behind it, as holter.dashboard.frames writes it.

import { Refusal } from "./api";
import type { Encoded } from "./columns";
import { decode } from "./columns";
import { t } from "./text";

export interface Frame<T> {
  said: T;
  columns: (Encoded & { keep?: number } | null)[];
  behind: ArrayBuffer;
}

const HEAD = 8;

/** The frames of an answer, each as soon as it is there. */
export async function* frames<T>(answer: Response): AsyncGenerator<Frame<T>> {
  const inflow = new Inflow(answer);
  for (let head = await inflow.take(HEAD); head; head = await inflow.take(HEAD)) {
    const lengths = new DataView(head);
    const told = await inflow.take(lengths.getUint32(0, true));
    const behind = await inflow.take(lengths.getUint32(4, true));
    if (!told || !behind) throw new Refusal(0, t("The answer ended in the middle."));
    const { columns, ...said } = JSON.parse(new TextDecoder().decode(told)) as T & Pick<Frame<T>, "columns">;
    yield { said: said as T, columns, behind };
  }
}

/** The numbers of a frame; `held` are those of the version that it changes. */
export function numbers({ columns, behind }: Frame<unknown>, held: Float64Array[] = []): Float64Array[] {
  return columns.map((column, i) => {
    const old = held[i] ?? new Float64Array(0);
    if (column === null) return old;
    const tail = decode(column, behind);
    if (!column.keep) return tail;
    const whole = new Float64Array(column.keep + tail.length);
    whole.set(old.subarray(0, column.keep));
    whole.set(tail, column.keep);
    return whole;
  });
}

/** The bytes of an answer, by the number that is asked for. */
class Inflow {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private chunks: Uint8Array[] = [];
  private size = 0;

  constructor(answer: Response) {
    this.reader = answer.body?.getReader();
  }

  /** The next bytes; null where the answer ended before. */
  async take(wanted: number): Promise<ArrayBuffer | null> {
    while (this.size < wanted) {
      const read = await this.reader?.read().catch((error: unknown) => {
        throw new Refusal(0, String(error));
      });
      if (!read || read.done) return null;
      this.chunks.push(read.value);
      this.size += read.value.length;
    }
    const out = new Uint8Array(wanted);
    for (let filled = 0; filled < wanted; ) {
      const [chunk] = this.chunks;
      if (!chunk) break;
      const part = chunk.subarray(0, wanted - filled);
      out.set(part, filled);
      filled += part.length;
      if (part.length < chunk.length) this.chunks[0] = chunk.subarray(part.length);
      else this.chunks.shift();
    }
    this.size -= wanted;
    return out.buffer;
  }
}
