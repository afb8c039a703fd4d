/** A map of so many entries at most: the one that was set longest ago gives way. */
export class BoundedMap<V> extends Map<string, V> {
  constructor(private readonly maxEntries: number) {
    super();
  }

  override set(key: string, value: V): this {
    this.delete(key);
    if (this.size >= this.maxEntries) this.deleteFirst();
    return super.set(key, value);
  }

  private deleteFirst(): void {
    for (const key of this.keys()) {
      this.delete(key);
      return;
    }
  }
}
