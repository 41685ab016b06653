import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Inserted rows so far, and the sum of their ids, by which a row that is lost and one that comes twice show. */
export type Counted = { rows: number; sumOfIds: bigint; inserts: number }

/**
 * A server that speaks the protocol of ClickHouse as far as its connector needs it. It counts the rows of each insert and adds up
 * their first column. It stores nothing, so it takes hardly any processor time. Like a table that detects duplicates, it ignores an
 * insert with a token that it has seen.
 * @param columns of the only table; the first one is a number
 */
export async function startCountingClickHouse(columns: readonly string[]) {
  const counted: Counted = { rows: 0, sumOfIds: 0n, inserts: 0 }
  const tokens = new Set<string>()
  const server = createServer(async (request, response) => {
    const search = new URL(request.url ?? '/', 'http://localhost').searchParams
    const body = await bodyOf(request)
    const token = search.get('insert_deduplication_token')
    if (token === null) response.end(JSON.stringify({ data: answerOf(body.toString(), columns) }))
    else {
      if (!tokens.has(token)) count(body, counted)
      tokens.add(token)
      response.end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counted,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

function answerOf(statement: string, columns: readonly string[]): unknown[][] {
  if (!statement.includes('from system.columns')) throw new Error(`The counting server has no answer to ${statement}`)
  return columns.map((name, at) => [name, at === 0 ? 'Int64' : 'Nullable(String)', ''])
}

const [newline, firstDigit] = [0x0a, 0x30]
const before = '{"id":"'.length

/** Counts lines such as `{"id":"12",…}`. */
function count(lines: Buffer, counted: Counted): void {
  let sum = 0
  for (let from = 0; from < lines.length; ) {
    let id = 0
    for (let at = from + before; ; at++) {
      const digit = (lines[at] ?? 0) - firstDigit
      if (digit < 0 || digit > 9) break
      id = id * 10 + digit
    }
    sum += id
    counted.rows++
    from = lines.indexOf(newline, from) + 1
    if (from === 0) throw new Error('An insert ends within a line')
  }
  counted.sumOfIds += BigInt(sum)
  counted.inserts++
}
