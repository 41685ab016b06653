import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { asConnectorError, type TcpStream } from '@penstock/connector'
import { type ServerName, tlsNotSupported, unexpectedAnswer } from './errors.ts'
import type { MessageCheck } from './message-check.ts'

type Options = {
  /** For messages. */
  readonly server: ServerName
  /** Connected to the server. */
  readonly stream: TcpStream
  /** How the connection is encrypted; absent if it is not. */
  readonly tls: tls.ConnectionOptions | undefined
  readonly check: MessageCheck
}

/** The message with which a client requests TLS. It has no type, only this length and code. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/**
 * The connection of a driver to its server, which passes on only what the check lets through. It takes the place of the
 * driver's own socket, and asks for TLS on its own, because the driver reads a socket of its own making unchecked. Every
 * violation becomes an `error` of this stream that is a `ConnectorError`; so does what the driver throws when it handles data.
 */
export class CheckedSocket extends Duplex {
  readonly #options: Options
  readonly #socket: TcpStream
  /** The stream of the data: the socket, or TLS over it. */
  #line: TcpStream
  #isHeld = false

  constructor(options: Options) {
    super({ allowHalfOpen: false })
    this.#options = options
    this.#socket = options.stream
    this.#line = options.stream
  }

  /** Called by the driver. Emits `connect` when the server is ready for messages, over TLS if that is required. */
  connect(_port: number, host: string): this {
    const socket = this.#socket
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
    // The driver listens after this call.
    process.nextTick(() => {
      if (this.destroyed) return
      if (this.#options.tls === undefined) this.#begin(socket)
      else this.#askForTls(this.#options.tls, host)
    })
    return this
  }

  setNoDelay(noDelay?: boolean): this {
    this.#socket.setNoDelay(noDelay)
    return this
  }

  setKeepAlive(enable?: boolean, initialDelayMs?: number): this {
    this.#socket.setKeepAlive(enable, initialDelayMs)
    return this
  }

  ref(): this {
    this.#socket.ref()
    return this
  }

  unref(): this {
    this.#socket.unref()
    return this
  }

  #askForTls(options: tls.ConnectionOptions, host: string): void {
    const { server } = this.#options
    const socket = this.#socket
    socket.write(tlsRequest)
    socket.once('data', (answer) => {
      // More than one byte was sent before there was TLS: by someone on the way, or by no PostgreSQL.
      if (answer.length !== 1 || !['S', 'N'].includes(answer.toString('latin1'))) {
        return void this.destroy(unexpectedAnswer(server, 'an answer to the request for TLS that is none'))
      }
      if (answer[0] === 0x4e) return void this.destroy(tlsNotSupported(server))
      try {
        const line = tls.connect({ ...options, socket, host })
        line.on('error', (error) => this.destroy(error))
        line.once('secureConnect', () => this.#begin(line))
      } catch (error) {
        this.destroy(error as Error)
      }
    })
  }

  #begin(line: TcpStream): void {
    this.#line = line
    line.on('data', (bytes) => this.#take(bytes))
    line.on('end', () => this.push(null))
    line.on('close', () => this.destroy())
    this.emit('connect')
  }

  #take(bytes: Buffer): void {
    if (this.destroyed) return
    try {
      for (const part of this.#options.check.feed(bytes)) {
        if (!this.push(part)) this.#line.pause()
      }
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  /** The driver parses what comes in a listener, and throws there on what it does not expect. */
  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event !== 'data') return super.emit(event, ...given)
    try {
      return super.emit('data', ...given)
    } catch (error) {
      const connectorError = asConnectorError(error) ?? unexpectedAnswer(this.#options.server, 'a message out of place')
      this.destroy(connectorError)
      return true
    }
  }

  override _read(): void {
    if (!this.#isHeld) this.#line.resume()
  }

  /** Stops to read from the server, or continues. For rows that do not pass the driver. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld) this.#line.pause()
    else this.#line.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#line.write(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#line.cork()
    for (const [index, { chunk }] of chunks.entries()) {
      if (index < chunks.length - 1) this.#line.write(chunk)
      else this.#line.write(chunk, done)
    }
    this.#line.uncork()
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#line.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#line.destroy()
    this.#socket.destroy()
    done(error)
  }
}
