import type { ConnectorError } from '@penstock/connector'
import { authenticationNotSupported, rowTooLarge, type ServerName, unexpectedAnswer } from './errors.ts'
import { authentications, columnsMax, messageKinds } from './message-format.ts'

/** Checks what a server sends before the driver sees it. */
export type MessageCheck = {
  /**
   * Takes the next bytes, and returns the bytes that can be passed on: whole messages that were checked, and rows of
   * COPY as they arrive. Throws a `ConnectorError` if the server breaks the protocol. After that, no bytes may be
   * passed on.
   */
  feed(bytes: Buffer): readonly Buffer[]
  /**
   * The next statement is a COPY; for all others a server must not begin one.
   * @param rows gets the rows of COPY instead of the driver
   */
  expectCopy(rows?: CopyRows): void
  /** The next statement gives any number of rows, which are handled as they arrive. */
  expectRows(): void
}

/** Takes rows of COPY as they arrive. The bytes are valid only during the call. */
export type CopyRows = {
  /** A row begins. */
  begin(): void
  /** The next bytes of the row. */
  add(bytes: Buffer, from: number, to: number): void
}

/** Limits of the messages that a server sends until it is ready for the next statement. */
const bounds = {
  /** Until sign-in is over. */
  signInMessages: 1_000,
  signInBytes: 1024 * 1024,
  /** Beside rows of COPY: what the connector's own statements return. */
  messages: 10_000,
  rows: 100_000,
  bytes: 64 * 1024 * 1024,
}

const headBytes = 5
/** A digest of the password that only Redshift asks for, of users whose passwords are stored as SHA-256. */
const redshiftDigest = 13
const code = (type: string) => type.charCodeAt(0)
const types = {
  authentication: code('R'),
  key: code('K'),
  ready: code('Z'),
  error: code('E'),
  notice: code('N'),
  parameter: code('S'),
  description: code('T'),
  row: code('D'),
  completion: code('C'),
  copyIn: code('G'),
  copyOut: code('H'),
  copyData: code('d'),
  copyDone: code('c'),
}
const followers = {
  password: ['ok'],
  md5: ['ok'],
  sasl: ['continue'],
  continue: ['final'],
  final: ['ok'],
  ok: [],
} as const
const anyTime = new Set([types.error, types.notice, types.parameter])
const whileSigningIn = new Set([...anyTime, types.authentication, types.key, types.ready])

/** @param server for messages */
export function createMessageCheck(server: ServerName): MessageCheck {
  /** Bytes of a message that is not whole. */
  let held: Buffer[] = []
  let heldBytes = 0
  /** The number of bytes of its head, or of the whole message once that is known. */
  let heldNeeded = 0
  /** How much of a row of COPY is still to come. */
  let passing = 0

  let signedIn = false
  let welcome = false
  let expected: readonly string[] = ['ok', 'password', 'md5', 'sasl']
  let columns: number | undefined
  let copyExpected = false
  let copying = false
  let copyRows: CopyRows | undefined
  let rowsExpected = false
  let messages = 0
  let rows = 0
  let bytesTotal = 0

  const broken = (what: string): ConnectorError => unexpectedAnswer(server, what)

  /** The length of the content that a head announces. */
  function lengthAt(bytes: Buffer, at: number): number {
    const type = bytes[at] ?? 0
    const kind = messageKinds.get(type)
    if (!kind) throw broken('a message of an unknown type')
    const length = bytes.readUInt32BE(at + 1) - 4
    if (length < 0) throw broken(`a ${kind.name} with a wrong length`)
    if (!signedIn && !whileSigningIn.has(type)) throw broken(`a ${kind.name} before the sign-in was complete`)
    if (type === types.copyData && !copying) throw broken('rows of COPY that were not announced')
    if (length > kind.bytesMax) {
      const limit = sizeOf(kind.bytesMax)
      if (type === types.copyData || type === types.row) throw rowTooLarge(server, limit)
      throw broken(`a ${kind.name} of more than ${limit}`)
    }
    if (type !== types.copyData) count(type, length)
    return length
  }

  function count(type: number, length: number): void {
    if (type === types.row && rowsExpected) return
    bytesTotal += length + headBytes
    if (type === types.row) rows += 1
    else messages += 1
    if (!signedIn && (messages > bounds.signInMessages || bytesTotal > bounds.signInBytes)) {
      throw broken('too much before the sign-in was complete')
    }
    if (messages > bounds.messages || rows > bounds.rows || bytesTotal > bounds.bytes) {
      throw broken('more than the answer to a statement can be')
    }
  }

  /** Checks a whole message, and follows what it changes. */
  function check(bytes: Buffer, at: number, from: number, to: number): void {
    const type = bytes[at] ?? 0
    const kind = messageKinds.get(type)
    if (type === types.authentication) checkAuthentication(bytes, from, to)
    if (kind?.fits?.(bytes, from, to) === false) {
      if (type === types.description && to - from >= 2 && bytes.readInt16BE(from) > columnsMax) {
        throw broken(`more than ${columnsMax} columns`)
      }
      throw broken(`a ${kind.name} of a wrong form`)
    }
    switch (type) {
      case types.ready:
        if (!welcome) throw broken('readiness before the sign-in was complete')
        signedIn = true
        copying = false
        copyExpected = false
        copyRows = undefined
        rowsExpected = false
        columns = undefined
        messages = 0
        rows = 0
        bytesTotal = 0
        break
      case types.description:
        columns = bytes.readInt16BE(from)
        break
      case types.row:
        if (columns === undefined || bytes.readInt16BE(from) !== columns) {
          throw broken('a row that does not have the columns that were described')
        }
        break
      case types.copyIn:
      case types.copyOut:
        if (!copyExpected) throw broken('a COPY in answer to another statement')
        copying = type === types.copyOut
        break
      case types.copyDone:
        if (!copying) throw broken('the end of a COPY that was not begun')
        copying = false
        break
      case types.completion:
        if (copying) throw broken('the completion of a COPY before its end')
        columns = undefined
        break
      case types.error:
        copying = false
        break
    }
  }

  function checkAuthentication(bytes: Buffer, from: number, to: number): void {
    const asked = to - from < 4 ? -1 : bytes.readInt32BE(from)
    const known = authentications[asked]
    if (known === undefined) {
      throw (asked > 1 && asked < 10) || asked === redshiftDigest
        ? authenticationNotSupported(server)
        : broken('an unknown authentication request')
    }
    if (!expected.includes(known)) throw broken('an authentication request out of place')
    // A server that knows the password proves it at the end of SCRAM: it must not leave that out.
    expected = followers[known]
    if (known === 'ok') welcome = true
  }

  /** Takes the message on that begins with these bytes, which are all that came of it. */
  function hold(bytes: Buffer, needed: number): void {
    held = [bytes]
    heldBytes = bytes.length
    heldNeeded = needed
  }

  /** Completes the message that is held, as far as the bytes go. Gives what can be passed on. */
  function complete(bytes: Buffer, at: number): { readonly at: number; readonly passed: Buffer | undefined } {
    const part = bytes.subarray(at, at + heldNeeded - heldBytes)
    const next = at + part.length
    held.push(part)
    heldBytes += part.length
    if (heldBytes < heldNeeded) return { at: next, passed: undefined }
    const whole = Buffer.concat(held)
    if (heldNeeded === headBytes) {
      const length = lengthAt(whole, 0)
      if (whole[0] === types.copyData) {
        passing = length
        hold(empty, 0)
        if (!copyRows) return { at: next, passed: whole }
        copyRows.begin()
        return { at: next, passed: undefined }
      }
      if (length > 0) {
        hold(whole, headBytes + length)
        return { at: next, passed: undefined }
      }
    }
    check(whole, 0, headBytes, whole.length)
    hold(empty, 0)
    return { at: next, passed: whole }
  }

  /** Hands rows to the one who takes them, up to the next other message. @returns its offset */
  function takeRows(bytes: Buffer, from: number, rows: CopyRows): number {
    let at = from
    for (;;) {
      const end = Math.min(at + passing, bytes.length)
      if (end > at) rows.add(bytes, at, end)
      passing -= end - at
      at = end
      if (at + headBytes > bytes.length || bytes[at] !== types.copyData) return at
      passing = lengthAt(bytes, at)
      at += headBytes
      rows.begin()
    }
  }

  return {
    expectCopy(rows) {
      copyExpected = true
      copyRows = rows
    },
    expectRows() {
      rowsExpected = true
    },
    feed(bytes) {
      const passed: Buffer[] = []
      let at = 0
      while (heldBytes > 0 && at < bytes.length) {
        const completed = complete(bytes, at)
        at = completed.at
        if (completed.passed) passed.push(completed.passed)
      }
      let from = at
      while (at < bytes.length) {
        if (copyRows && copying) {
          if (at > from) passed.push(bytes.subarray(from, at))
          at = takeRows(bytes, at, copyRows)
          from = at
          if (at === bytes.length) break
        }
        if (passing > 0) {
          const part = Math.min(passing, bytes.length - at)
          passing -= part
          at += part
          continue
        }
        const length = bytes.length - at < headBytes ? undefined : lengthAt(bytes, at)
        if (length !== undefined && bytes[at] === types.copyData) {
          passing = length
          at += headBytes
          continue
        }
        const end = at + headBytes + (length ?? 0)
        if (end > bytes.length) {
          hold(bytes.subarray(at), end - at)
          break
        }
        check(bytes, at, at + headBytes, end)
        at = end
      }
      if (at > from) passed.push(bytes.subarray(from, at))
      return passed
    },
  }
}

const empty = Buffer.alloc(0)
const sizeOf = (bytes: number): string =>
  bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} bytes`
