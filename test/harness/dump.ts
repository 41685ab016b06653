import type pg from 'pg'

/** Every row of every table, including migrations, as text. Bytes are hexadecimal. */
export async function dumpDatabase(db: Pick<pg.Pool, 'query'>): Promise<string> {
  const { rows: tables } = await db.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`)
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t`)
      return [name, ...rows.map(({ row }) => row)].join('\n')
    }),
  )
  return texts.join('\n')
}

/**
 * The places of a text that holds a value, plainly or as hexadecimal digits or base64 whatever comes before it: each is
 * what stands around it.
 */
export function placesOf(value: string, text: string): string[] {
  const lower = text.toLowerCase()
  return formsOf(value).flatMap((form) => {
    const at = (form === form.toLowerCase() ? lower : text).indexOf(form)
    return at < 0 ? [] : [text.slice(Math.max(0, at - 60), at + form.length)]
  })
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  // The base64 form of a value depends on the number of bytes before it. The digits that the value shares with other bytes are
  // omitted.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(before === 0 ? 0 : before + 1, -2),
  )
  return [value, bytes.toString('hex'), ...base64]
}
