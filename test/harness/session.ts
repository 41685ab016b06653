import pg from 'pg'

/** Runs work on a separate database connection, under a name that Penstock does not treat as one of its processes. */
export async function withSession<T>(url: string, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({ connectionString: url, application_name: 'test' })
  session.on('error', () => {})
  await session.connect()
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}
