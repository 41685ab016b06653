import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

/** People who do not exist, in a file as such files are: most rows are good, some are not. */

const givenNames = [
  'Ada',
  'Bo',
  'Chloé',
  'Dinh',
  'Emeka',
  'Fatima',
  'Gustavo',
  'Hana',
  'İpek',
  'Jürgen',
  'Kaja',
  'Liam',
]
const familyNames = [
  'Åberg',
  'Baker',
  'Costa',
  'Dubois',
  'Eriksen',
  'Ferrari',
  'García',
  'Hoang',
  'Ito',
  'Jansen',
  'Kowalska',
]
const cities = ['Berlin', 'Lagos', '"Köln, Deutz"', 'São Paulo', 'Osaka', 'New York', '"Frankfurt ""am Main"""']
const countries = ['DE', 'NG', 'DE', 'BR', 'JP', 'US', 'DE']

/** One row in this number of rows is dirty, each in a different way. */
const dirtyEvery = 400
const dirty: readonly ((id: number, line: string) => string)[] = [
  (_, line) => `${line},one cell too many`,
  (id, line) => line.replace(String(id), 'unknown'),
  (_, line) => line.replace(/\d{4}-\d\d-\d\d/, '1987-02-31'),
  (_, line) => line.replace(/[^,]+@[^,]+/, ''),
]

/**
 * Writes a number of rows under a header. They are always the same. @param moved number of people, from the first on, who have
 * moved since
 */
export async function writePeople(file: string, rows: number, moved = 0): Promise<void> {
  const stream = createWriteStream(file)
  stream.write('id,name,email,born,city,country\r\n')
  for (let id = 1; id <= rows; ) {
    let lines = ''
    for (const until = Math.min(rows, id + 999); id <= until; id++) lines += `${lineOf(id, id <= moved)}\r\n`
    if (!stream.write(lines)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}

function lineOf(id: number, hasMoved: boolean): string {
  const given = givenNames[id % givenNames.length] as string
  const family = familyNames[(id * 7) % familyNames.length] as string
  const at = id % cities.length
  const place = hasMoved ? 'Hamburg,DE' : `${cities[at]},${countries[at]}`
  const born = new Date(Date.UTC(1950, 0, 1 + ((id * 37) % 20_000))).toISOString().slice(0, 10)
  const line = `${id},${given} ${family},person-${id}@example.com,${born},${place}`
  if (id % dirtyEvery !== 0) return line
  return dirty[(id / dirtyEvery) % dirty.length]?.(id, line) ?? line
}
