import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import type { PlatformServer, Received } from '../../packages/connectors/test/platform-server.ts'
import { isChosen } from '../harness/chosen-connectors.ts'
import { seed } from '../harness/seed.ts'
import { cellsOf, csvOf, makePeople, type Person } from './people.ts'
import { phones } from './rules.ts'
import { transferFile } from './transfer.ts'

/** Expected data of a person at a platform: the content of each sent item, or the column that causes the refusal. */
export type Wanted = readonly string[] | 'refused'

/** A running platform. Its secrets and settings override the values in `Platform`. */
export type Started = Pick<PlatformServer, 'url' | 'received' | 'close'> & {
  readonly secrets?: Values
  readonly settings?: Values
  /** Files that it received. */
  readonly files?: () => Promise<readonly string[]>
}

export type Platform = {
  readonly slug: string
  readonly secrets: Values
  readonly settings?: Values
  /** Mapping that does not follow from the columns of the file, or from their names. */
  readonly mapping: Readonly<Record<string, string | null | Readonly<Record<string, string>>>>
  readonly start: () => Promise<Started>
  readonly origins: readonly string[]
  readonly wants: (person: Person) => Wanted
  /** Items about people in a request. Empty if it contains no data about people. */
  readonly reads: (received: Received) => readonly string[]
  /** Set where a platform wants contact data in the clear. */
  readonly takesContacts?: boolean
  /** Whether a request has one person: fewer are sent. */
  readonly oneByOne?: boolean
}

/** Content of an item about a person, independent of the order of its parts. */
export const saying = (parts: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    Object.entries(parts)
      .filter(([, part]) => part !== undefined && part !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

/** One item with all data of a person. Refused if there are no data. */
export const whole = (parts: Readonly<Record<string, string | undefined>>): Wanted =>
  Object.values(parts).some((part) => part !== undefined) ? [saying(parts)] : 'refused'

/** A thing for each part. */
export function apart(parts: Readonly<Record<string, string | undefined>>): Wanted {
  const things = Object.entries(parts).flatMap(([key, part]) => (part === undefined ? [] : [saying({ [key]: part })]))
  return things.length > 0 ? things : 'refused'
}

const rows = 10_000
const rowsOneByOne = 1_000
const now = Math.floor(Date.now() / 1000)

/** Registers a test for each platform: all people of the file are delivered correctly, or refused with a reason. */
export function comparePeople(platforms: readonly Platform[]): void {
  const people = makePeople(rows, seed, now)
  const folder = mkdtemp(join(tmpdir(), 'penstock-people-'))
  const files = new Map([
    ['people.csv', people],
    ['few.csv', people.slice(0, rowsOneByOne)],
  ])
  const written = folder.then((path) =>
    Promise.all([...files].map(([name, some]) => writeFile(join(path, name), csvOf(some)))),
  )
  after(async () => rm(await folder, { recursive: true }))
  for (const platform of platforms.filter(isChosen)) {
    const file = platform.oneByOne ? 'few.csv' : 'people.csv'
    const some = files.get(file) ?? people
    test(`${some.length} people reach ${platform.slug}`, async () => {
      await written
      const server = await platform.start()
      try {
        await comparePlatform(platform, server, some, await folder, file)
      } finally {
        await server.close()
      }
    })
  }
}

async function comparePlatform(
  platform: Platform,
  server: Started,
  people: readonly Person[],
  folder: string,
  file: string,
): Promise<void> {
  const { slug, secrets, settings = {}, mapping, origins, wants, reads } = platform
  const routes = Object.fromEntries(origins.map((origin) => [origin, server.url]))
  const transferred = await transferFile(folder, file, {
    slug,
    secrets: { ...secrets, ...server.secrets },
    routes,
    settings: { ...settings, ...server.settings, mapping: JSON.stringify(mapping) },
  })
  const wanted = new Map(people.map((person) => [person.number, wants(person)]))
  const isRefused = (number: number) => wanted.get(number) === 'refused'
  assertRefusals(
    slug,
    transferred.rejects,
    people.filter(({ number }) => isRefused(number)),
  )
  const { read, sent, rejected } = transferred
  const refusedCount = people.filter(({ number }) => isRefused(number)).length
  assert.deepEqual({ read, rejected }, { read: people.length, rejected: refusedCount })
  // Rows that the platform or its connector refused were sent.
  assert.ok(sent >= read - rejected && sent <= read, `${sent} rows are sent`)
  const got = new Set([...server.received.flatMap(reads), ...((await server.files?.()) ?? [])])
  assertSame(got, people, wanted)
  if (!platform.takesContacts) assertNoContact(server.received, people)
}

type Reject = { readonly row: number | null; readonly field: string | null; readonly reason: string }

/** Every row that is refused is one that must be, and its reason names a column. */
function assertRefusals(slug: string, rejects: readonly Reject[], refused: readonly Person[]): void {
  const found = new Map(rejects.map((reject) => [reject.row, reject]))
  const expected = new Set<number | null>(refused.map(({ number }) => number))
  const wrongly = rejects.filter(({ row }) => !expected.has(row))
  assert.deepEqual(
    wrongly.slice(0, 5).map(({ row, field, reason }) => ({ row, field, reason })),
    [],
    `${wrongly.length} rows are refused without a cause`,
  )
  const taken = refused.filter(({ number }) => !found.has(number))
  assert.deepEqual(
    taken.slice(0, 3).map((person) => Object.values(cellsOf(person)).join(' | ')),
    [],
    `${taken.length} rows are taken that cannot be`,
  )
  const columns = Object.keys(connectors.find((one) => one.slug === slug)?.destination?.records ?? {})
  for (const { field, reason } of rejects) {
    // A destination without own fields is a table, whose platform does not report the column of an error.
    const isNamed = field !== null && columns.includes(field)
    assert.ok(isNamed || columns.length === 0, `no column is named by: ${reason}`)
    assert.match(reason, /\S/)
  }
}

function assertSame(got: ReadonlySet<string>, people: readonly Person[], wanted: ReadonlyMap<number, Wanted>): void {
  const expected = new Map<string, Person>()
  for (const person of people) {
    const things = wanted.get(person.number)
    if (things !== 'refused') for (const thing of things ?? []) expected.set(thing, person)
  }
  const lacking = [...expected].filter(([thing]) => !got.has(thing))
  const surplus = [...got].filter((thing) => !expected.has(thing))
  const examples = lacking.slice(0, 3).map(([thing, person]) => exampleOf(thing, surplus, person))
  assert.deepEqual(
    { examples, surplus: surplus.slice(0, 3) },
    { examples: [], surplus: [] },
    `${lacking.length} are not there, ${surplus.length} should not be, of ${expected.size}`,
  )
}

/** Difference to the most similar item, and the cells of the row. */
function exampleOf(thing: string, surplus: readonly string[], person: Person): string {
  const partsOf = (text: string) => (JSON.parse(text) as unknown[]).map((part) => JSON.stringify(part))
  const parts = partsOf(thing)
  const common = (other: string) => parts.filter((part) => other.includes(part)).length
  const [nearest = '[]'] = [...surplus].sort((a, b) => common(b) - common(a))
  const missing = parts.filter((part) => !nearest.includes(part))
  const instead = partsOf(nearest).filter((part) => !thing.includes(part))
  return `row ${person.number}: ${missing} and not ${instead}; ${Object.values(cellsOf(person)).join(' | ')}`
}

/** No e-mail address and no phone number is in a request in the clear. */
function assertNoContact(received: readonly Received[], people: readonly Person[]): void {
  const numbers = new Set(people.flatMap(({ phone }) => (phone.kind === 'value' ? [phones.digits(phone.truth)] : [])))
  for (const { path, query, text } of received) {
    const said = `${path}?${query}\n${text}`
    assert.doesNotMatch(said, /@|%40/)
    for (const [digits] of said.replaceAll(/[0-9a-f]{32,}/g, '').matchAll(/\d{10,15}/g)) {
      assert.ok(!numbers.has(digits), 'a phone number is sent in the clear')
    }
  }
}
