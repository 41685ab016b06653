import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

/** A file of people with an e-mail address and a phone number each, as customers are exported. */

export const header = 'id,first_name,last_name,email,phone,city,zip,country,born,amount'

export async function writeRows(file: string, rows: number): Promise<void> {
  const stream = createWriteStream(file, { mode: 0o644 })
  stream.write(`${header}\n`)
  for (let id = 1; id <= rows; ) {
    let lines = ''
    for (const until = Math.min(rows, id + 4_999); id <= until; id++) {
      const day = String(1 + (id % 28)).padStart(2, '0')
      lines += `${id},Given${id % 997},Family${id % 1009},Person.${id}@Example.com,+49151${String(10_000_000 + (id % 89_999_999))},City ${id % 499},${10_000 + (id % 89_999)},DE,19${50 + (id % 50)}-0${1 + (id % 9)}-${day},${(id % 100_000) / 100}\n`
    }
    if (!stream.write(lines)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}
