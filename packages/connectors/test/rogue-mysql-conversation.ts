import type { Socket } from 'node:net'

/** The message that an honest server would send at this point. */
export type Stage =
  | 'greeting'
  | 'sign-in'
  | 'confirmation'
  | 'count'
  | 'column'
  | 'columns-end'
  | 'row'
  | 'rows-end'
  | 'file'

type Line = {
  /** Takes bytes that came from the client. */
  readonly received: (bytes: Buffer) => void
  /** Sends a packet, or something else instead. */
  readonly send: (stage: Stage, payload: Buffer, sequence: number, sql: string) => void
}

/** A packet of a payload under 16 MiB. */
export function frame(payload: Buffer, sequence: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeUIntLE(payload.length, 0, 3)
  header[3] = sequence
  return Buffer.concat([header, payload])
}

/** A row of short texts. */
export const text = (...values: (string | null)[]): Buffer =>
  Buffer.concat(
    values.map((value) => {
      if (value === null) return Buffer.from([0xfb])
      const bytes = Buffer.from(value)
      return Buffer.concat([Buffer.from([bytes.length]), bytes])
    }),
  )

export const confirmation = (rows: number): Buffer => Buffer.from([0, rows, 0, 2, 0, 0, 0])
export const fail = (number: number, state: string, message: string): Buffer =>
  Buffer.concat([Buffer.from([0xff, number & 0xff, number >> 8]), Buffer.from(`#${state}${message}`)])

const end = Buffer.from([0xfe, 0, 0, 2, 0])

const greeting = Buffer.concat([
  Buffer.from([10]),
  Buffer.from('10.11.0-MariaDB-rogue\0'),
  Buffer.from([1, 0, 0, 0]),
  Buffer.alloc(8, 0x41),
  Buffer.from([0]),
  // Protocol 4.1, transactions, LOCAL INFILE, sign-in by plugins.
  Buffer.from([0x8f, 0xa2, 45, 2, 0, 0x08, 0x00, 21]),
  Buffer.alloc(10),
  Buffer.alloc(12, 0x42),
  Buffer.from([0]),
  Buffer.from('mysql_native_password\0'),
])

function column(name: string, type: number): Buffer {
  const rest = Buffer.alloc(13)
  rest[0] = 12
  rest.writeUInt16LE(type === 253 ? 45 : 63, 1)
  rest.writeUInt32LE(80, 3)
  rest[7] = type
  return Buffer.concat([text('def', '', '', '', name, ''), rest])
}

type Result = { readonly columns: readonly (readonly [name: string, type: number])[]; readonly rows: readonly Buffer[] }

const texts = (names: string, ...rows: (string | null)[][]): Result => ({
  columns: names.split(' ').map((name) => [name, 253]),
  rows: rows.map((row) => text(...row)),
})
const things = [
  ['id', 8],
  ['name', 253],
] as const

/** The result of a statement; `undefined` if the server only confirms it. */
function resultOf(sql: string): Result | undefined {
  if (sql.startsWith('select version')) return texts('version', ['10.11.0-MariaDB-rogue'])
  if (sql === 'show grants') return texts('Grants', ['GRANT ALL PRIVILEGES ON *.* TO `ada`@`%`'])
  if (sql === 'show warnings') return texts('Level Code Message')
  if (sql.includes("table_name = 'penstock_batches'")) return texts('1', ['1'])
  if (sql.includes('@@local_infile')) {
    return texts('local_files packet mode', ['1', '16777216', 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'])
  }
  if (sql.includes('table_rows')) return texts('rows', ['2'])
  if (sql.includes("index_name = 'PRIMARY'")) return texts('name', ['id'])
  if (sql.includes('information_schema.engines')) return texts('name transactions', ['InnoDB', 'YES'])
  if (sql.includes('information_schema.columns')) {
    return texts(
      'name type full_type scale precision octets nullable generation',
      ['id', 'bigint', 'bigint(20)', '0', null, null, 'NO', null],
      ['name', 'varchar', 'varchar(80)', null, null, '320', 'YES', null],
    )
  }
  if (sql.endsWith('limit 0')) return { columns: things, rows: [] }
  if (sql.startsWith('select `penstock_source`')) return { columns: things, rows: [text('1', 'a'), text('2', 'b')] }
  if (sql.includes('lock in share mode')) return texts('bytes rejected', ['0', null])
  return sql.startsWith('select') ? texts('value', ['1']) : undefined
}

/** Talks with a client as MariaDB does, as far as this connector goes. */
export function conversation(socket: Socket, line: Line): void {
  let held = Buffer.alloc(0)
  let state: 'greeted' | 'ready' | 'file' = 'greeted'
  let sql = ''
  line.send('greeting', greeting, 0, '')
  socket.on('data', (bytes: Buffer) => {
    line.received(bytes)
    held = Buffer.concat([held, bytes])
    while (held.length >= 4) {
      const length = held.readUIntLE(0, 3)
      if (held.length < 4 + length) return
      const payload = held.subarray(4, 4 + length)
      const sequence = ((held[3] ?? 0) + 1) % 256
      held = held.subarray(4 + length)
      take(payload, sequence)
    }
  })

  function take(payload: Buffer, sequence: number): void {
    if (state === 'greeted') {
      state = 'ready'
      line.send('sign-in', confirmation(0), sequence, '')
    } else if (state === 'file') {
      if (payload.length > 0) return
      state = 'ready'
      line.send('confirmation', confirmation(2), sequence, sql)
    } else if (payload[0] === 3) {
      sql = payload.subarray(1).toString().trim()
      answer(sequence)
    } else if (payload[0] === 1) {
      socket.end()
    }
  }

  function answer(first: number): void {
    let sequence = first
    const send = (stage: Stage, payload: Buffer) => {
      line.send(stage, payload, sequence, sql)
      sequence = (sequence + 1) % 256
    }
    const result = resultOf(sql)
    if (result) {
      send('count', Buffer.from([result.columns.length]))
      for (const [name, type] of result.columns) send('column', column(name, type))
      send('columns-end', end)
      for (const row of result.rows) send('row', row)
      send('rows-end', end)
    } else if (sql.startsWith('load data')) {
      state = 'file'
      send('file', Buffer.concat([Buffer.from([0xfb]), Buffer.from('penstock')]))
    } else {
      send('confirmation', confirmation(sql.startsWith('insert into `things`') ? 2 : 1))
    }
  }
}
