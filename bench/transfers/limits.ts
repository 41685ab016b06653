import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** References for transfers: programs that only do the same work. Each returns its duration in seconds. */

/** One thread of DuckDB reads, normalises two identifiers, hashes them and writes. */
export async function hashWithDuckDb(file: string, out: string): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  try {
    const begun = performance.now()
    await connection.run(`
      copy (
        select id, first_name, last_name, city, zip, country, born, amount,
          sha256(lower(trim(email))) as email, sha256('+' || regexp_replace(phone, '[^0-9]', '', 'g')) as phone
        from read_csv('${file}', header = true, all_varchar = true)
      ) to '${out}' (format csv, header)`)
    return (performance.now() - begun) / 1000
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** COPY of the file itself. */
export async function copyWithPostgres(url: string, file: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const begun = performance.now()
    const copy = client.query(copyFrom('copy people from stdin with (format csv, header)'))
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), copy)
    return (performance.now() - begun) / 1000
  } finally {
    await client.end()
  }
}

/** An endpoint that answers as soon as it has heard. */
export async function startSink(): Promise<{ url: string; first(): Promise<number>; close(): Promise<void> }> {
  let onFirst: ((atMs: number) => void) | undefined
  const server = createServer((request, response) => {
    onFirst?.(performance.now())
    onFirst = undefined
    request.resume()
    request.on('end', () => response.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows`,
    /** When the next message comes, in milliseconds of this process's clock. */
    first: () =>
      new Promise((resolve) => {
        onFirst = resolve
      }),
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
