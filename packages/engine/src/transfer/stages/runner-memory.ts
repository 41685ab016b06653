/** The memory of stages between the sessions of one transfer in one runner. */
export class RunnerMemory {
  readonly #kept = new Map<object, unknown>()

  /** Returns the memory of an owner, and creates it the first time. */
  of<Kept>(owner: object, make: () => Kept): Kept {
    if (!this.#kept.has(owner)) this.#kept.set(owner, make())
    return this.#kept.get(owner) as Kept
  }
}
