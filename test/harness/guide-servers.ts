import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { createEmptyDatabase } from './database.ts'

/** Servers that replace the servers in guides: another company's API, and the reader's database. */

type Hooks = { after(work: () => unknown): void }

/** The API of GitHub, as far as the guide of HTTP APIs reads it: two pages of releases. @returns its origin */
export async function startReleases(t: Hooks): Promise<string> {
  const releases = Array.from({ length: 150 }, (_, index) => ({
    id: 1_000 + index,
    tag_name: `v${index}.0.0`,
    author: { login: 'someone' },
    published_at: '2026-01-31T12:00:00Z',
    prerelease: false,
    body: 'Changes',
  }))
  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const size = Number(searchParams.get('per_page'))
    const page = Number(searchParams.get('page') ?? 1)
    if (pathname !== '/repos/nodejs/node/releases' || size !== 100) return void response.writeHead(404).end('{}')
    const next = page * size < releases.length ? `<${pathname}?per_page=${size}&page=${page + 1}>; rel="next"` : ''
    response.writeHead(200, { 'content-type': 'application/json', ...(next && { link: next }) })
    response.end(JSON.stringify(releases.slice((page - 1) * size, page * size)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The variables of the database of an example, as the guide shows them. */
export const databaseOfExample =
  'PGHOST=db.example.com PGPORT=5432 PGDATABASE=warehouse PGUSER=penstock PGPASSWORD=secret'

/** A database for them. `rowsOf` reads how many rows a table has once the guide was followed. */
export async function startWarehouse(t: Hooks): Promise<{ variables: string; rowsOf(table: string): Promise<number> }> {
  const { url, drop } = await createEmptyDatabase()
  t.after(drop)
  const { hostname, port, pathname, username, password } = new URL(url)
  const values = {
    HOST: hostname,
    PORT: port || '5432',
    DATABASE: pathname.slice(1),
    USER: username,
    PASSWORD: password,
  }
  return {
    variables: Object.entries(values)
      .map(([name, value]) => `PG${name}='${decodeURIComponent(value)}'`)
      .join(' '),
    rowsOf: async (table) => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`)
        assert.ok(rows[0])
        return rows[0].count
      } finally {
        await client.end()
      }
    },
  }
}
