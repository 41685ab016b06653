import { ConnectorError } from '@penstock/connector'
import { bounds, mebibytes } from './bounds.ts'
import {
  columnCount,
  problemOfColumn,
  problemOfConfirmation,
  problemOfEnd,
  problemOfError,
  problemOfGreeting,
  rowFits,
} from './packet-checks.ts'

/**
 * A filter between the bytes of a server and the driver, which parses them without looking where a packet ends: it lets
 * packets pass that are whole, within bounds, in order, and of a kind that can come now.
 */
export type PacketGuard = {
  /** Takes bytes as they came. Never throws. */
  receive(bytes: Buffer): void
  /** A statement is about to be sent. */
  expect(answer: ExpectedAnswer): void
}

export type ExpectedAnswer = {
  /** The server may ask for the rows of LOAD DATA LOCAL. */
  readonly infile: boolean
  /** All rows of the result are kept until it has ended, so they are counted. */
  readonly lookup: boolean
  /** The answer is a log: takes its packets, of which the driver gets none. */
  readonly log?: LogSink
}

/** Where the packets of a log go. After `end` or `error` nothing more comes. */
export type LogSink = {
  /** An event, whole; the bytes are those of the network, so that they are kept as long as the event. */
  readonly event: (bytes: Buffer) => void
  readonly end: () => void
  /** @param payload the packet of an error */
  readonly error: (payload: Buffer) => void
}

type Options = {
  readonly host: string
  /** Gives whole packets to the driver. */
  readonly pass: (packets: Buffer) => void
  /** The number that the driver expects the next packet to have. */
  readonly sequence: () => number
  /** The server broke the protocol or a bound: nothing more is passed on. */
  readonly refuse: (connectorError: ConnectorError) => void
}

type Phase = 'greeting' | 'sign-in' | 'idle' | 'answer' | 'columns' | 'rows' | 'file' | 'log' | 'over'

const frameBytesMax = 0xff_ffff
const headerBytes = 4

export function guardPackets({ host, pass: passAny, sequence, refuse }: Options): PacketGuard {
  let phase: Phase = 'greeting'
  let answer: ExpectedAnswer = { infile: false, lookup: true }
  let signInPackets = 0
  let columns = 0
  let columnsLeft = 0
  let lookedUp = { rows: 0, bytes: 0 }
  /** The number of the last packet; `undefined` if the driver knows better which packet comes next. */
  let last: number | undefined
  /** A packet that has not come to its end. */
  let held: { bytes: Buffer; length: number; frame: number } | undefined

  const stop = (connectorError: ConnectorError): void => {
    phase = 'over'
    held = undefined
    refuse(connectorError)
  }
  const broken = (what: string): void =>
    stop(phase === 'greeting' || phase === 'sign-in' ? noMysql(host, what) : invalidAnswer(host, what))

  /** The packets of a log are not for the driver. */
  const pass = (packets: Buffer): void => {
    if (!answer.log) passAny(packets)
  }

  /** Whether a packet of so many bytes may come now. */
  function sizeFits(length: number): boolean {
    if (phase === 'log' && length <= bounds.eventBytes) return true
    if (phase === 'rows' ? length <= bounds.rowBytes : phase !== 'log' && length <= bounds.controlPacketBytes)
      return true
    if (phase === 'log') stop(eventTooLarge(host))
    else if (phase === 'rows') stop(rowTooLarge(host))
    else broken(`a packet that is not a row has more than ${bounds.controlPacketBytes} bytes`)
    return false
  }

  /** Errors may come from before the question; while rows are sent, the server may stop reading at any of them. */
  function numberFits(number: number, first?: number): boolean {
    const expected = last === undefined ? sequence() : (last + 1) % 256
    last = number
    if (number === expected || phase === 'file' || phase === 'idle') return true
    if (first === 0xff && (phase === 'greeting' || (phase === 'answer' && number === 0))) return true
    broken('its packets are out of order')
    return false
  }

  /** A whole packet of one frame. Answers whether the driver may have it. */
  function admits(bytes: Buffer, start: number, length: number): boolean {
    const number = bytes[start + 3] ?? 0
    if (!sizeFits(length) || !numberFits(number, bytes[start + headerBytes])) return false
    if (phase === 'rows' && bytes[start + headerBytes] !== 0xff && !isEnd(bytes[start + headerBytes], length)) {
      return admitsRow((at) => bytes[start + headerBytes + at] ?? 0, length)
    }
    const payload = bytes.subarray(start + headerBytes, start + headerBytes + length)
    return phase === 'log' ? admitsLog(payload) : admitsControl(payload, number)
  }

  function admitsLog(payload: Buffer): boolean {
    const [first] = payload
    if (first === 0 && payload.length > 1) {
      answer.log?.event(payload.subarray(1))
      return true
    }
    phase = 'idle'
    if (isEnd(first, payload.length)) answer.log?.end()
    else if (first !== 0xff) return refusing('an event of its log is none')
    else if (problemOfError(payload) !== undefined) return refusing('an error is cut off')
    else answer.log?.error(payload)
    return true
  }

  /** A row or an event of several frames. */
  function admitsLarge(bytes: Buffer, end: number): boolean {
    if (phase === 'log') {
      const pieces: Buffer[] = []
      for (let at = 0; at < end; at += frameBytesMax + headerBytes) {
        pieces.push(bytes.subarray(at + headerBytes, Math.min(end, at + headerBytes + frameBytesMax)))
      }
      return admitsLog(Buffer.concat(pieces))
    }
    const frames = Math.ceil(end / (frameBytesMax + headerBytes))
    const byteAt = (at: number) => bytes[at + headerBytes * (1 + Math.floor(at / frameBytesMax))] ?? 0
    return admitsRow(byteAt, end - frames * headerBytes)
  }

  function admitsRow(byteAt: (at: number) => number, length: number): boolean {
    if (!rowFits(byteAt, length, columns)) return refusing('a row is cut off, or has more values than columns')
    if (!answer.lookup) return true
    lookedUp.rows += 1
    lookedUp.bytes += length
    if (lookedUp.rows <= bounds.lookupRows && lookedUp.bytes <= bounds.lookupBytes) return true
    stop(lookupTooLarge(host))
    return false
  }

  const refusing = (what: string): false => {
    broken(what)
    return false
  }
  const unlessProblem = (what: string | undefined, next: Phase): boolean => {
    if (what !== undefined) return refusing(what)
    phase = next
    return true
  }

  function admitsControl(payload: Buffer, number: number): boolean {
    const [first] = payload
    if (first === undefined) return refusing('a packet is empty')
    if (first === 0xff) {
      const problem = problemOfError(payload)
      const unasked = phase === 'idle' || (phase === 'answer' && number === 0)
      if (problem !== undefined || !unasked) return unlessProblem(problem, 'idle')
      // The server says why it ends the connection.
      stop(endedBy(host, payload.readUInt16LE(1)))
      return false
    }
    switch (phase) {
      case 'greeting':
        return unlessProblem(problemOfGreeting(payload), 'sign-in')
      case 'sign-in':
        return admitsSignIn(payload, first)
      case 'answer':
        return admitsAnswer(payload, first)
      case 'file':
        return first === 0
          ? unlessProblem(problemOfConfirmation(payload), 'idle')
          : refusing('it does not confirm the rows')
      case 'columns':
        if (columnsLeft === 0) {
          return isEnd(first, payload.length)
            ? unlessProblem(problemOfEnd(payload), 'rows')
            : refusing('it defines more columns than it announced')
        }
        columnsLeft -= 1
        return unlessProblem(problemOfColumn(payload), 'columns')
      case 'rows':
        return unlessProblem(problemOfEnd(payload), 'idle')
      default:
        return refusing('it answers although nothing was asked')
    }
  }

  function admitsSignIn(payload: Buffer, first: number): boolean {
    signInPackets += 1
    if (signInPackets > bounds.signInPackets) return refusing('its sign-in does not come to an end')
    if (first === 0) return unlessProblem(problemOfConfirmation(payload), 'idle')
    return first === 1 || first === 0xfe || refusing('it asks for something that no sign-in has')
  }

  function admitsAnswer(payload: Buffer, first: number): boolean {
    if (first === 0) return unlessProblem(problemOfConfirmation(payload), 'idle')
    if (first === 0xfb) {
      if (!answer.infile) return refusing('it asks for a file of this machine, and gets none')
      phase = 'file'
      return true
    }
    const count = columnCount(payload)
    if (count === undefined) return refusing('the number of columns is none')
    if (count > bounds.columns) {
      stop(tooManyColumns(host, count))
      return false
    }
    columns = count
    columnsLeft = count
    phase = 'columns'
    return true
  }

  /** Takes what belongs to the packet that is held; answers where the bytes behind it begin. */
  function hold(bytes: Buffer, from: number): number {
    let at = from
    while (held && at < bytes.length) {
      const known = held.length - held.frame >= headerBytes
      const size = known ? held.bytes.readUIntLE(held.frame, 3) : 0
      const wanted = held.frame + headerBytes + size
      const count = Math.min(wanted - held.length, bytes.length - at)
      append(bytes.subarray(at, at + count))
      at += count
      if (held.length < wanted) return at
      if (!known) {
        const length = held.bytes.readUIntLE(held.frame, 3)
        const frames = held.frame / (frameBytesMax + headerBytes)
        if (!sizeFits(frames * frameBytesMax + length)) return bytes.length
        if (length > 0) continue
      }
      const length = held.bytes.readUIntLE(held.frame, 3)
      if (length === frameBytesMax) {
        if (!numberFits(held.bytes[held.frame + 3] ?? 0)) return bytes.length
        held.frame = held.length
        continue
      }
      const { bytes: whole, length: end, frame } = held
      held = undefined
      const good = frame === 0 ? admits(whole, 0, length) : numberFits(whole[frame + 3] ?? 0) && admitsLarge(whole, end)
      if (!good) return bytes.length
      if (leaksBehindGreeting(bytes, at)) return bytes.length
      pass(whole.subarray(0, end))
    }
    return at
  }

  function append(piece: Buffer): void {
    if (!held) return
    if (held.length + piece.length > held.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(held.bytes.length * 2, held.length + piece.length))
      held.bytes.copy(larger, 0, 0, held.length)
      held.bytes = larger
    }
    piece.copy(held.bytes, held.length)
    held.length += piece.length
  }

  /** Bytes right behind a greeting could pass for those of the encrypted connection that is not there yet. */
  function leaksBehindGreeting(bytes: Buffer, at: number): boolean {
    if (phase !== 'sign-in' || signInPackets > 0 || at >= bytes.length) return false
    broken('it sends more before its greeting is answered')
    return true
  }

  return {
    receive(bytes) {
      if (phase === 'over') return
      if (phase === 'sign-in') last = undefined
      let at = hold(bytes, 0)
      const from = at
      while (bytes.length - at >= headerBytes) {
        const length = bytes.readUIntLE(at, 3)
        if (length === frameBytesMax || bytes.length - at < headerBytes + length) break
        const end = at + headerBytes + length
        if (!admits(bytes, at, length) || leaksBehindGreeting(bytes, end)) return
        at = end
      }
      if (at > from) pass(bytes.subarray(from, at))
      if (at >= bytes.length || isOver()) return
      held = { bytes: Buffer.allocUnsafe(1024), length: 0, frame: 0 }
      hold(bytes, at)
    },
    expect(expected) {
      if (phase === 'over') return
      answer = expected
      lookedUp = { rows: 0, bytes: 0 }
      last = 0
      phase = expected.log ? 'log' : 'answer'
    },
  }

  // `pass` may have ended everything.
  function isOver(): boolean {
    return phase === 'over'
  }
}

const isEnd = (first: number | undefined, length: number): boolean => first === 0xfe && length < 9

const noMysql = (host: string, what: string): ConnectorError =>
  new ConnectorError(
    'wrong_protocol',
    `${host} does not speak the MySQL protocol correctly: ${what}. Check the address and the port.`,
  )

/** The server answered something that is no answer. `what` is a clause about the server, without anything it sent. */
export const invalidAnswer = (host: string, what: string, cause?: unknown): ConnectorError =>
  new ConnectorError(
    'unexpected_response',
    `${host} violated the MySQL protocol: ${what}. Check that the address is that of a MySQL or MariaDB server, and look at the log of that server and of proxies in front of it.`,
    { cause },
  )

const rowTooLarge = (host: string): ConnectorError =>
  new ConnectorError(
    'row_too_large',
    `A row from ${host} is larger than ${mebibytes(bounds.rowBytes)}; leave large columns out by a query.`,
  )

const eventTooLarge = (host: string): ConnectorError =>
  new ConnectorError(
    'row_too_large',
    `A change from ${host} is larger than ${mebibytes(bounds.eventBytes)}, with its row before and after it. Read all rows of the table instead, by a query without large columns.`,
  )

const tooManyColumns = (host: string, count: number): ConnectorError =>
  new ConnectorError(
    'too_many_columns',
    `A result from ${host} has ${count} columns, and at most ${bounds.columns} are read; choose columns by a query.`,
  )

const lookupTooLarge = (host: string): ConnectorError =>
  new ConnectorError(
    'response_too_large',
    `${host} returned, for a question about its tables, more than ${bounds.lookupRows} rows or ${mebibytes(bounds.lookupBytes)}; check what the user sees there.`,
  )

const endedBy = (host: string, number: number): ConnectorError =>
  new ConnectorError('connection_lost', `${host} ended the connection (error ${number}).`)
