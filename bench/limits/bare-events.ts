/** A bare Fastify that stores batches of events: the least that a receiver must do. Reads BARE_PORT and DATABASE_URL. */
import { zstdCompressSync } from 'node:zlib'
import fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 })
await pool.query('create table if not exists bare_batches (number bigserial primary key, count int, lines bytea)')
const app = fastify()
app.get('/ready', async () => ({ ok: true }))
app.post('/events', async (request) => {
  const events = request.body as readonly unknown[]
  const lines = zstdCompressSync(Buffer.from(events.map((event) => JSON.stringify(event)).join('\n')))
  await pool.query('insert into bare_batches (count, lines) values ($1, $2)', [events.length, lines])
  return { ok: true }
})
await app.listen({ port: Number(process.env.BARE_PORT), host: '127.0.0.1' })
