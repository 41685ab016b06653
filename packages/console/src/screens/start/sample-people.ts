/** Invented people, the same ones each time, as a CSV file. Their addresses are in a domain that no one can have. */

export const samplePeople = 2_000
/** Which rows a table with types rejects. */
export const faultyEvery = 133
export const sampleFaulty: number = Math.floor(samplePeople / faultyEvery)

const given = [
  'Lia',
  'Omar',
  'Inês',
  'Jonas',
  'Aylin',
  'Chloé',
  'Mateo',
  'Zoë',
  'Björn',
  'Priya',
  'Luca',
  'Nora',
  'Kenji',
]
const family = [
  'Huber',
  'Martin',
  'Silva',
  'Weber',
  'Demir',
  'Dubois',
  'García',
  "O'Neill",
  'Lindqvist',
  'Rao',
  'Rossi',
]
const cities = [
  ['Graz', 'AT'],
  ['Lyon', 'FR'],
  ['Porto', 'PT'],
  ['Köln', 'DE'],
  ['İzmir', 'TR'],
  ['Gent', 'BE'],
  ['Sevilla', 'ES'],
] as const
const wrongDates = ['n/a', '31.02.1989', '1990-13-01']

const at = <T>(all: readonly T[], n: number): T => all[n % all.length] as T
const two = (n: number) => String(n).padStart(2, '0')

/** The column names, and the values of each person from 1 on. */
export const sampleColumns = ['id', 'email', 'given_name', 'family_name', 'city', 'country', 'born'] as const

/** The values of one person. @param n from 1 to {@link samplePeople} */
export function samplePerson(n: number): string[] {
  const [city, country] = at(cities, n * 3)
  const isFaulty = n % faultyEvery === 0
  const born = `${1950 + ((n * 7) % 55)}-${two(1 + ((n * 5) % 12))}-${two(1 + ((n * 11) % 28))}`
  const names = [at(given, n * 5), at(family, n * 7)] as const
  return [
    String(n),
    `person-${n}@example.com`,
    ...names,
    city,
    country,
    isFaulty ? at(wrongDates, n / faultyEvery) : born,
  ]
}

/** The whole file. */
export function sampleFile(): Blob {
  const lines = Array.from({ length: samplePeople }, (_, n) => samplePerson(n + 1).join(','))
  return new Blob([`${sampleColumns.join(',')}\n${lines.join('\n')}\n`])
}
