/** Bytes that are read from first to last. Nothing that they say about lengths is believed. */
export class BoundedBytes {
  protected readonly buffer: Buffer
  protected at = 0
  readonly #tooShort: () => Error

  /** @param tooShort what is thrown beyond the end */
  constructor(bytes: Buffer, tooShort: () => Error) {
    this.buffer = bytes
    this.#tooShort = tooShort
  }

  /** How many bytes are left. */
  get left(): number {
    return this.buffer.length - this.at
  }

  /** Moves on, and answers the place before. */
  protected take(count: number): number {
    if (count > this.left) throw this.#tooShort()
    const at = this.at
    this.at += count
    return at
  }

  skip(count: number): void {
    this.take(count)
  }
}
