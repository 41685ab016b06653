import { Duplex } from 'node:stream'
import type { TcpStream } from '@penstock/connector'
import type { ClientChannel } from 'ssh2'

/**
 * A forwarded connection, with the methods of a socket that drivers and Node's HTTP agents call. A channel of the library
 * swallows the error with which it is destroyed. This stream reports it.
 */
export class BastionStream extends Duplex implements TcpStream {
  readonly #channel: ClientChannel
  readonly #onUse: (stream: BastionStream, isUsed: boolean) => void
  #ended = false
  /** Read by agents. */
  readonly timeout = 0

  /** @param onUse called when a process should stay alive for this stream, and when it need not */
  constructor(channel: ClientChannel, onUse: (stream: BastionStream, isUsed: boolean) => void) {
    super({ allowHalfOpen: false })
    this.#channel = channel
    this.#onUse = onUse
    const end = () => {
      if (!this.#ended) this.push(null)
      this.#ended = true
    }
    channel.on('data', (bytes: Buffer) => {
      if (!this.#ended && !this.push(bytes)) channel.pause()
    })
    channel.on('end', end)
    // Earlier bytes are still read.
    channel.on('close', end)
    channel.on('error', (error: Error) => this.destroy(error))
    // A stream can fail before its user listens.
    this.on('error', () => {})
    onUse(this, true)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setTimeout(): this {
    return this
  }

  ref(): this {
    if (!this.destroyed) this.#onUse(this, true)
    return this
  }

  unref(): this {
    this.#onUse(this, false)
    return this
  }

  override _read(): void {
    this.#channel.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#channel.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#channel.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#onUse(this, false)
    this.#channel.destroy()
    // TLS over this stream reports why it ended one turn after it has destroyed the stream. `close` must not come before that.
    setImmediate(() => setImmediate(done, error))
  }
}
