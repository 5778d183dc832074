// What changes on the server: a version by server-sent events. A lost connection is said and sought again.

type Listener = (version: string) => void;

/** Milliseconds before a stream that the browser gave up is opened anew. */
const AGAIN = 3000;
/** Milliseconds of silence, of a server that speaks every fifteen seconds, after which a connection is dead though nothing says so. */
const SILENT = 40_000;

export class Live {
  connected = true;
  private source: EventSource | null = null;
  private timer = 0;
  private silence = 0;
  private readonly listeners = new Set<Listener>();

  constructor(private readonly changed: (connected: boolean) => void) {
    addEventListener("online", () => this.open());
    this.open();
  }

  onVersion(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private open(): void {
    this.source?.close();
    const source = new EventSource("/api/events");
    this.source = source;
    this.wait();
    source.addEventListener("version", (event) => {
      this.wait();
      this.tell(true);
      for (const listener of this.listeners) listener((event as MessageEvent<string>).data);
    });
    source.onopen = () => this.tell(true);
    source.onerror = () => {
      this.tell(false);
      if (source.readyState === EventSource.CLOSED) this.again();
    };
  }

  private again(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), AGAIN);
  }

  /** From here on the server has to say something within a while. */
  private wait(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.tell(false);
      this.open();
    }, SILENT);
  }

  private tell(connected: boolean): void {
    if (connected === this.connected) return;
    this.connected = connected;
    this.changed(connected);
  }
}

/** Runs a task, never twice at once; asked again under way, it runs once more afterwards. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const run = async (): Promise<void> => {
    do {
      again = false;
      await task();
    } while (again);
  };
  return () => {
    if (running) again = true;
    else running = run().finally(() => (running = null));
    return running ?? Promise.resolve();
  };
}
