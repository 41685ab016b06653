import assert from 'node:assert/strict'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'

/**
 * A generated CSV file of people, some of whom are invalid, and whether each of the others arrived, once. The result of
 * a row follows from its number alone, from 1.
 */

/** Too many cells: no destination can match them to columns. */
const isRagged = (number: number) => number % 997 === 0
/** Text where the table wants a number: only the database minds. */
const isUncountable = (number: number) => number % 1_009 === 0
/** A quoted line feed: rows are not lines. */
const hasLineFeed = (number: number) => number % 61 === 0
/** A zero byte, which the file can contain but the database cannot. */
const hasZeroByte = (number: number) => number % 7_919 === 0 && !hasLineFeed(number)

export const fitsFile = (number: number) => !isRagged(number)
export const fitsTable = (number: number) => !isRagged(number) && !isUncountable(number) && !hasZeroByte(number)

/** How many of `rows` rows fit. */
export function countFit(rows: number, fits: (number: number) => boolean): number {
  let count = 0
  for (let number = 1; number <= rows; number++) if (fits(number)) count++
  return count
}

const emailOf = (number: number) => `person${number}@example.com`
const filler = 'so that a file of many rows is many batches whatever the destination takes at once '.repeat(3)

function lineOf(number: number): string {
  const amount = isUncountable(number) ? 'n/a' : number % 100
  const zero = hasZeroByte(number) ? '\0' : ''
  const note = hasLineFeed(number) ? `"two\nlines, and a ""quote"""` : `${filler}${zero}`
  return `${number},${emailOf(number)},${amount},${note}${isRagged(number) ? ',and,more' : ''}\n`
}

/** Writes the file in pieces, so that it can be larger than memory. */
export async function writePeople(path: string, rows: number): Promise<void> {
  function* pieces() {
    yield 'id,email,amount,note\n'
    for (let number = 1; number <= rows; ) {
      const piece: string[] = []
      for (let end = Math.min(rows, number + 4_999); number <= end; number++) piece.push(lineOf(number))
      yield piece.join('')
    }
  }
  await pipeline(Readable.from(pieces()), createWriteStream(path))
}

/** A table that would show a row that came twice. */
export const createPeopleTable = (target: pg.Pool, table: string, isKeyed: boolean) =>
  target.query(
    `create table ${table} (id bigint ${isKeyed ? 'primary key' : 'not null'}, email text, amount int, note text)`,
  )

/** Fails unless every row of the file that fits the table is in it, once, and no other is. */
export async function assertInTable(target: pg.Pool, table: string, rows: number): Promise<void> {
  const expected = countFit(rows, fitsTable)
  const { rows: found } = await target.query(
    `select count(*)::int as rows, count(distinct id)::int as ids, min(id)::int as first, max(id)::int <= $1 as within,
       count(*) filter (where id % 997 = 0 or id % 1009 = 0 or id % 7919 = 0 and id % 61 <> 0)::int as invalid,
       count(*) filter (where email <> 'person' || id || '@example.com' or amount <> id % 100)::int as spoiled
     from ${table}`,
    [rows],
  )
  assert.deepEqual(found, [{ rows: expected, ids: expected, first: 1, within: true, invalid: 0, spoiled: 0 }])
}

/** Fails unless every row of the file that fits a file is in the written one, once and in order, and no other is. */
export async function assertInFile(path: string, rows: number): Promise<void> {
  let number = 0
  let isHeader = true
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (isHeader) assert.equal(line, 'id,email,amount,note')
    else if (line !== 'lines, and a ""quote"""') {
      do number++
      while (!fitsFile(number))
      assert.equal(line.slice(0, line.indexOf(',', line.indexOf(',') + 1)), `${number},${emailOf(number)}`)
    }
    isHeader = false
  }
  while (number < rows && !fitsFile(number + 1)) number++
  assert.equal(number, rows)
}
