import { ConnectorError } from '@penstock/connector'

/** A row as Snowflake sends it: every value as text. */
export type SnowflakeRow = readonly (string | null)[]

/** The fields of a response without its rows. */
export type Rest = Readonly<Record<string, unknown>>

/** Rows are taken apart in pieces of about this size, so that a partition of a hundred megabytes does not stay in memory. */
const pieceBytes = 256 * 1024
/** Everything except the rows is small: descriptions of columns and partitions. */
const restBytesMax = 8 << 20
/** A Snowflake value has at most 128 MB, so anything longer is not a row. */
const rowBytesMax = 160 << 20

/** `"`, `\\`, `[`, `]`, `{` and `}` as bytes. */
const quote = 0x22
const backslash = 0x5c
const opening = 0x5b
const closing = 0x5d
const brace = 0x7b
const endBrace = 0x7d

/**
 * Splits an answer of the SQL API while it arrives: yields the rows of its `data` in groups, and returns the rest. Throws
 * `retry` if the response ends too early or is not JSON.
 */
export async function* rowsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<SnowflakeRow[], Rest> {
  /** Bytes outside of `data`. */
  const rest: Buffer[] = []
  let restBytes = 0
  /** Bytes of rows that are not yet given. */
  let held: Buffer[] = []
  let heldBytes = 0
  const state: State = { depth: 0, inString: false, escaped: false, inData: false, whole: -1 }
  /** The end of the previous piece, because a key and its bracket can arrive in two pieces. */
  let tail = ''

  for await (const bytes of body) {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let from = 0
    state.whole = -1
    for (let at = scan(state, piece, 0); at < piece.length; at = scan(state, piece, at + 1)) {
      if (state.inData) {
        held.push(piece.subarray(from, at))
        yield parseRows(held)
        ;[held, heldBytes, from] = [[], 0, at]
        state.inData = false
        state.whole = -1
      } else if (isData(tail, piece, at)) {
        rest.push(piece.subarray(from, at + 1))
        restBytes += at + 1 - from
        from = at + 1
        state.inData = true
      }
    }
    if (!state.inData) {
      rest.push(piece.subarray(from))
      restBytes += piece.length - from
      if (restBytes > restBytesMax) throw broken('is larger than it should be')
    } else if (state.whole >= 0 && heldBytes + state.whole - from >= pieceBytes) {
      held.push(piece.subarray(from, state.whole))
      yield parseRows(held)
      held = [piece.subarray(state.whole)]
      heldBytes = piece.length - state.whole
    } else {
      held.push(piece.subarray(from))
      heldBytes += piece.length - from
      if (heldBytes > rowBytesMax) throw broken('holds a row that is larger than any should be')
    }
    tail = (tail + piece.subarray(-16).toString('latin1')).slice(-16)
  }
  if (state.inData || state.depth !== 0) throw broken('ended too early')
  const text = Buffer.concat(rest).toString()
  const parsed = text.trim() === '' ? {} : parse(text)
  return typeof parsed === 'object' && parsed !== null ? (parsed as Rest) : {}
}

type State = {
  depth: number
  inString: boolean
  escaped: boolean
  /** Between the brackets of `data`. */
  inData: boolean
  /** The end of the last complete row in the piece that was scanned last. -1 if no row ends in it. */
  whole: number
}

/**
 * Follows the brackets of a piece, in a plain loop because a generator's loop is several times as slow. Returns where a list of
 * the outermost object opens, or where `data` closes. Returns the length of the piece if it contains neither.
 */
function scan(state: State, piece: Buffer, from: number): number {
  let { depth, inString, escaped, whole } = state
  const { inData } = state
  let at = from
  for (; at < piece.length; at++) {
    const byte = piece[at]
    if (inString) {
      if (escaped) escaped = false
      else if (byte === backslash) escaped = true
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === opening || byte === brace) {
      depth++
      if (depth === 2 && byte === opening && !inData) break
    } else if (byte === closing || byte === endBrace) {
      depth--
      if (inData && depth === 2) whole = at + 1
      if (inData && depth === 1) break
    }
  }
  Object.assign(state, { depth, inString, escaped, whole })
  return at
}

/** Whether a bracket follows `"data":`, which can be in the previous piece. */
function isData(tail: string, piece: Buffer, at: number): boolean {
  const before = (tail + piece.subarray(Math.max(0, at - 16), at).toString('latin1')).slice(-16)
  return /"data"\s*:\s*$/.test(before)
}

/** Rows from the bytes between brackets, with a comma before or behind them. */
function parseRows(held: readonly Buffer[]): SnowflakeRow[] {
  const text = Buffer.concat(held).toString().trim().replace(/^,/, '')
  if (text === '') return []
  const rows = parse(`[${text}]`)
  if (!Array.isArray(rows) || !rows.every(isRow)) throw broken('holds a row that is none')
  return rows
}

const isRow = (row: unknown): row is SnowflakeRow =>
  Array.isArray(row) && row.every((value) => typeof value === 'string' || value === null)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw broken('is not JSON')
  }
}

/** @param what completes the sentence that begins with the answer */
export const broken = (what: string): ConnectorError =>
  new ConnectorError('malformed_response', `An answer of Snowflake ${what}. The request is repeated.`)
