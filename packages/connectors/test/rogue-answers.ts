import fc from '../../../test/harness/property.ts'

/** Answers of a JSON API that are not what they should be: no JSON, JSON of another form, and good ones with one change. */

const strange: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  '',
  'x',
  [],
  {},
  [[]],
  [null],
  [{}],
  ['x'],
  { x: 'x' },
  '9'.repeat(400),
  '\u0000',
  '-1',
]

const noJson: readonly string[] = [
  '',
  ' ',
  '{',
  '[',
  '"',
  'null',
  'true',
  '0',
  '"x"',
  '[]',
  '{}',
  '{}{}',
  '<html></html>',
  '{"a":}',
  '\u0000',
  'NaN',
  '{"data":',
  '{"data":[[',
  '{"data":{}}',
  '{"data":[1,"x",null,{}]}',
  '{"data":[[]]}',
  '{"rows":[{"f":null}]}',
  '['.repeat(100_000),
  '{"a":'.repeat(100_000),
  `{"data":[${'[],'.repeat(1000)}[]]}`,
]

/** Bodies to answer with: some that are fixed, and changes of good ones that follow from a seed. */
export function rogueBodies(good: readonly object[], seed: number, count: number): readonly string[] {
  const changed = fc
    .tuple(fc.constantFrom(...good), fc.nat(), fc.constantFrom(...strange))
    .map(([body, pick, value]) => JSON.stringify(changedAt(body, pick, value)))
  return [...noJson, ...fc.sample(changed, { seed, numRuns: count })]
}

/** A copy with another value at one of its places. */
function changedAt(body: object, pick: number, value: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>
  const places: [holder: Record<string, unknown>, key: string][] = []
  const visit = (holder: Record<string, unknown>) => {
    for (const [key, inner] of Object.entries(holder)) {
      places.push([holder, key])
      if (typeof inner === 'object' && inner !== null) visit(inner as Record<string, unknown>)
    }
  }
  visit(copy)
  const place = places[pick % places.length]
  if (place) place[0][place[1]] = value
  return copy
}
