// Colours of chosen runs: a run keeps its colour as long as it is chosen, whoever comes and goes beside it.

export class Palette {
  private readonly slots: (string | null)[] = [];

  get chosen(): string[] {
    return this.slots.filter((id) => id !== null);
  }

  /** Position of a run's colour; -1 where it is not chosen. */
  of(id: string): number {
    return this.slots.indexOf(id);
  }

  choose(id: string): void {
    if (this.of(id) >= 0) return;
    const free = this.slots.indexOf(null);
    if (free < 0) this.slots.push(id);
    else this.slots[free] = id;
  }

  drop(id: string): void {
    const at = this.of(id);
    if (at >= 0) this.slots[at] = null;
  }

  clear(): void {
    this.slots.length = 0;
  }
}
